// Whole rounds in one kernel: what is sent is made where it is heard, from the senders' states, and no message is
// ever stored. For rules with one exchange a round.
//
// Before this text stand ASKS, how many samples are asked for after the exchange (0 for none), and BOTH, whether
// the gradient is asked for at two points with one sample.

// Whether the gradients of a round can be made as soon as a row is prepared once.
#define FUSES (EXCHANGES == 1 && CARRIES != 2 && (PREPARES == 0 || (ASKS <= 1 && !BOTH)))

#if FUSES

// What an agent hears of coordinate c.
__device__ inline void hear_direct(const Run &run, const Step &step, u64 agent, u64 c, real *heard) {
    const auto load = [&](u32 sender, real *sent) {
        real state[KEPT];
        load_state(run, sender, c, state);
        rule_send(run, 0, at_of(run, step, sender, (real)1), state, sent);
    };
    const Range range = range_of(run.pull, run, step, agent);
    if (run.pull.senders == run.push.senders) { // R and C have the same links: one pass serves both
        real sent[HEARD + 1];
#pragma unroll
        for (int v = 0; v < HEARD; ++v)
            heard[v] = (real)0;
        if (range.begin == range.end)
            return;
        load(run.pull.senders[range.begin], sent);
        real pull = run.pull.weight(range.begin), push = run.push.weight(range.begin);
#pragma unroll
        for (int v = 0; v < HEARD; ++v)
            heard[v] = (v < PULLS ? pull : push) * sent[v];
        for (u32 entry = range.begin + 1; entry < range.end; ++entry) {
            load(run.pull.senders[entry], sent);
            pull = run.pull.weight(entry);
            push = run.push.weight(entry);
#pragma unroll
            for (int v = 0; v < HEARD; ++v)
                heard[v] = heard[v] + (v < PULLS ? pull : push) * sent[v];
        }
        return;
    }
    mix<PULLS>(
        run.pull, range,
        [&](u32 sender, real *terms) {
            real sent[HEARD + 1];
            load(sender, sent);
#pragma unroll
            for (int v = 0; v < PULLS; ++v)
                terms[v] = sent[v];
        },
        heard);
    mix<PUSHES>(
        run.push, range_of(run.push, run, step, agent),
        [&](u32 sender, real *terms) {
            real sent[HEARD + 1];
            load(sender, sent);
#pragma unroll
            for (int v = 0; v < PUSHES; ++v)
                terms[v] = sent[PULLS + v];
        },
        heard + PULLS);
}

// All gradients that are asked for, where rows are prepared.
__device__ inline void gradients_at(const Problem &problem, const Run &run, Turn turn, u64 agent, u64 c,
                                    const real *points, real *g) {
    g[0] = g[1] = (real)0;
#if BOTH
    g[1] = (real)gradient_at(problem, run, turn, agent, c, (double)points[1]);
#endif
    for (turn.call = 0; turn.call + 1 < ASKS; ++turn.call) // the sum of those before the last
        g[1] = g[1] + (real)gradient_at(problem, run, turn, agent, c, (double)points[0]);
    if (ASKS > 0 || BOTH)
        g[0] = (real)gradient_at(problem, run, turn, agent, c, (double)points[0]);
}

// From what was heard to the next state, which goes to `rows`.
__device__ inline void finish_one(const Problem &problem, const Run &run, const Turn &turn, u64 agent, u64 c, real w,
                                  const real *heard, real *rows) {
    const At at = at_of(run, run.steps[turn.step], agent, w);
    real state[KEPT], points[2], g[2], next[KEPT];
    load_state(run, agent, c, state);
    rule_points(run, 0, at, state, heard, points);
    gradients_at(problem, run, turn, agent, c, points, g);
    rule_update(run, 0, at, state, heard, g, next);
    real *row = rows + agent * run.stride + c;
#pragma unroll
    for (int v = 0; v < KEPT; ++v)
        row[v * (u64)DIM] = next[v];
    if (CARRIES == 1 && c == 0)
        row[KEPT * (u64)DIM] = w;
}

// The part of a round before gradients, kept until they are there: what was heard, and where gradients are taken.
__device__ inline void hear_and_keep(const Run &run, const Turn &turn, u64 agent, u64 c) {
    const u64 all = run.agents * (u64)DIM, t = agent * (u64)DIM + c;
    const Step step = run.steps[turn.step];
    real heard[HEARD + 1];
    hear_direct(run, step, agent, c, heard);
#pragma unroll
    for (int v = 0; v < HEARD; ++v)
        run.heard[v * all + t] = heard[v];
    const real w = CARRIES == 1 ? mix_carried(run, step, agent, 0) : (real)1;
    if (CARRIES == 1 && c == 0)
        run.carried[agent] = w;
    if (run.asked[0] != run.heard) {
        real state[KEPT], points[2];
        load_state(run, agent, c, state);
        rule_points(run, 0, at_of(run, step, agent, w), state, heard, points);
        run.points[t] = points[0];
    }
}

__device__ inline void finish_kept(const Problem &problem, const Run &run, const Turn &turn, u64 agent, u64 c,
                                   real *rows) {
    const u64 all = run.agents * (u64)DIM, t = agent * (u64)DIM + c;
    real heard[HEARD + 1];
#pragma unroll
    for (int v = 0; v < HEARD; ++v)
        heard[v] = run.heard[v * all + t];
    finish_one(problem, run, turn, agent, c, CARRIES == 1 ? run.carried[agent] : (real)1, heard, rows);
}

// One round of one network.
KERNEL(round) {
#if PREPARES
    // a block takes an agent: its row must be whole before the agent's samples are looked at
    for (u64 agent = blockIdx.x; agent < run.agents; agent += gridDim.x) {
        for (u64 c = threadIdx.x; c < DIM; c += blockDim.x)
            hear_and_keep(run, turn, agent, c);
        __syncthreads();
        const u64 rows = preparations(problem, run) / run.agents;
        for (u64 r = threadIdx.x; ASKS > 0 && r < rows; r += blockDim.x)
            prepare_one(problem, run, turn, agent * rows + r);
        __syncthreads();
        for (u64 c = threadIdx.x; c < DIM; c += blockDim.x)
            finish_kept(problem, run, turn, agent, c, run.next_states);
    }
#else
    EACH(coordinate, t, run.agents * (u64)DIM) {
        const u64 agent = t / (coordinate)DIM, c = t % (coordinate)DIM;
        const Step step = run.steps[turn.step];
        real heard[HEARD + 1];
        hear_direct(run, step, agent, c, heard);
        const real w = CARRIES == 1 ? mix_carried(run, step, agent, 0) : (real)1;
        finish_one(problem, run, turn, agent, c, w, heard, run.next_states);
    }
#endif
}

#endif
