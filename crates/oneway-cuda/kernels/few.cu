// One network of few agents with many coordinates: a thread has a coordinate of all agents, reads each number
// once and hears from itself. The network is part of the text, as in `columns.cu`.

#if FUSES && PREPARES == 0 && CARRIES == 0

__device__ inline void make_few(const Run &run, const Problem &problem, const Turn &turn) {
    EACH(u64, c, DIM) {
        const Step &step = run.steps[turn.step];
        real state[KEPT][AGENTS], sent[HEARD + 1][AGENTS], heard[HEARD + 1][AGENTS];
#pragma unroll
        for (u32 agent = 0; agent < AGENTS; ++agent) {
            real one[KEPT];
            load_state(run, agent, c, one);
            put<KEPT>(state, agent, one);
        }
        send_all(run, step, state, sent);
        hear_pulled(sent, heard);
        hear_pushed(sent, heard);
#pragma unroll
        for (u32 agent = 0; agent < AGENTS; ++agent) {
            const At at = at_of(run, step, agent, (real)1);
            real one[KEPT], all[HEARD + 1], points[2], g[2], next[KEPT];
            take<KEPT>(state, agent, one);
            take<HEARD>(heard, agent, all);
            rule_points(run, 0, at, one, all, points);
            gradients_at(problem, run, turn, agent, c, points, g);
            rule_update(run, 0, at, one, all, g, next);
            put<KEPT>(state, agent, next);
        }
        // all at the end: a load does not wait behind a store
#pragma unroll
        for (u32 agent = 0; agent < AGENTS; ++agent)
#pragma unroll
            for (u32 v = 0; v < KEPT; ++v)
                state_of(run, agent)[c + v * (u64)DIM] = state[v][agent];
    }
}

KERNEL(few) { make_few(run, problem, turn); }
KERNEL(quiet_few) { make_few(run, quiet(problem), turn); }

#endif

