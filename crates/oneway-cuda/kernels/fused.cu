// Whole rounds in one kernel: what is sent is made where it is heard, from the senders' states, and no
// message is ever stored. For rules with one exchange a round.
//
// Before this text stand ASKS, how many samples are asked for after the exchange (0 for none), and BOTH,
// whether the gradient is asked for at two points with one sample.

// Whether the gradients of a round can be made as soon as a row is prepared once.
#define FUSES (EXCHANGES == 1 && CARRIES != 2 && (PREPARES == 0 || (ASKS <= 1 && !BOTH)))

#if FUSES

// What an agent hears of TILE coordinates, from `first` on and `apart` from one to the next; of those beyond
// the last it hears the last again. Whom it hears, and by which weights, is looked up once for all of them.
template <int TILE>
__device__ inline void hear_direct(const Run &run, const Step &step, u64 agent, u32 first, u32 apart,
                                   real heard[TILE][HEARD + 1]) {
    u32 place[TILE];
#pragma unroll
    for (int k = 0; k < TILE; ++k)
        place[k] = first + k * apart < DIM ? first + k * apart : DIM - 1;
    // adds a sender's terms, or assigns them if they are the first
    const auto hear = [&](u32 sender, real pull, real push, bool begins, bool pulls, bool pushes) {
        const At at = at_of(run, step, sender, (real)1);
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            real state[KEPT], sent[HEARD + 1];
            load_state(run, sender, place[k], state);
            rule_send(run, 0, at, state, sent);
#pragma unroll
            for (int v = 0; v < HEARD; ++v) {
                const real term = (v < PULLS ? pull : push) * sent[v];
                if (v < PULLS ? pulls : pushes)
                    heard[k][v] = begins ? term : heard[k][v] + term;
            }
        }
    };
#pragma unroll
    for (int k = 0; k < TILE; ++k)
#pragma unroll
        for (int v = 0; v < HEARD; ++v)
            heard[k][v] = (real)0; // a push row may hear no one, not even itself
    const Range pulled = range_of(run.pull, run, step, agent);
    if (run.pull.senders == run.push.senders) { // R and C have the same links: one pass serves both
        for (u32 entry = pulled.begin; entry < pulled.end; ++entry)
            hear(run.pull.senders[entry], run.pull.weight(entry), run.push.weight(entry),
                    entry == pulled.begin, true,
                 true);
        return;
    }
    if (PULLS > 0)
        for (u32 entry = pulled.begin; entry < pulled.end; ++entry)
            hear(run.pull.senders[entry], run.pull.weight(entry), (real)0, entry == pulled.begin, true,
                    false);
    const Range pushed = range_of(run.push, run, step, agent);
    if (PUSHES > 0)
        for (u32 entry = pushed.begin; entry < pushed.end; ++entry)
            hear(run.push.senders[entry], (real)0, run.push.weight(entry), entry == pushed.begin, false,
                    true);
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

// From what was heard to the next state, which goes to `rows`. `gradients(points, g)` makes the gradients.
template <class Gradients>
__device__ inline void finish_one(const Run &run, const Turn &turn, u64 agent, u64 c, real w,
                                  const real *heard, real *rows, Gradients gradients) {
    const At at = at_of(run, run.steps[turn.step], agent, w);
    real state[KEPT], points[2], g[2], next[KEPT];
    load_state(run, agent, c, state);
    rule_points(run, 0, at, state, heard, points);
    gradients(points, g);
    rule_update(run, 0, at, state, heard, g, next);
    real *row = rows + agent * run.stride + c;
#pragma unroll
    for (int v = 0; v < KEPT; ++v)
        row[v * (u64)DIM] = next[v];
    if (CARRIES == 1 && c == 0)
        row[KEPT * (u64)DIM] = w;
}

// The part of a round before gradients, kept until they are there: what was heard, and where gradients are
// taken.
template <int TILE>
__device__ inline void hear_and_keep(const Run &run, const Turn &turn, u64 agent, u32 first, u32 apart) {
    const u64 all = run.agents * (u64)DIM;
    const Step step = run.steps[turn.step];
    real heard[TILE][HEARD + 1];
    hear_direct<TILE>(run, step, agent, first, apart, heard);
    const real w = CARRIES == 1 ? mix_carried(run, step, agent, 0) : (real)1;
    if (CARRIES == 1 && first == 0)
        run.carried[agent] = w;
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        const u32 c = first + k * apart;
        if (c >= DIM)
            continue;
        const u64 t = agent * (u64)DIM + c;
#pragma unroll
        for (int v = 0; v < HEARD; ++v)
            run.heard[v * all + t] = heard[k][v];
        if (run.asked[0] != run.heard) {
            real state[KEPT], points[2];
            load_state(run, agent, c, state);
            rule_points(run, 0, at_of(run, step, agent, w), state, heard[k], points);
            run.points[t] = points[0];
        }
    }
}

template <class Gradients>
__device__ inline void finish_kept(const Run &run, const Turn &turn, u64 agent, u64 c, real *rows,
                                   Gradients gradients) {
    const u64 all = run.agents * (u64)DIM, t = agent * (u64)DIM + c;
    real heard[HEARD + 1];
#pragma unroll
    for (int v = 0; v < HEARD; ++v)
        heard[v] = run.heard[v * all + t];
    finish_one(run, turn, agent, c, CARRIES == 1 ? run.carried[agent] : (real)1, heard, rows, gradients);
}

// One round of one network.
KERNEL(round) {
#if PREPARES
    // a block takes an agent: its row must be whole before the agent's samples are looked at
    for (u64 agent = blockIdx.x; agent < run.agents; agent += gridDim.x) {
        for (u32 c = threadIdx.x; c < DIM; c += blockDim.x)
            hear_and_keep<1>(run, turn, agent, c, 1);
        __syncthreads();
        const u64 rows = preparations(problem, run) / run.agents;
        for (u64 r = threadIdx.x; ASKS > 0 && r < rows; r += blockDim.x)
            prepare_one(problem, run, turn, agent * rows + r);
        __syncthreads();
        for (u64 c = threadIdx.x; c < DIM; c += blockDim.x)
            finish_kept(run, turn, agent, c, run.next_states, [&](const real *points, real *g) {
                gradients_at(problem, run, turn, agent, c, points, g);
            });
    }
#else
    EACH(coordinate, t, run.agents * (u64)DIM) {
        const u64 agent = t / (coordinate)DIM, c = t % (coordinate)DIM;
        const Step step = run.steps[turn.step];
        real heard[1][HEARD + 1];
        hear_direct<1>(run, step, agent, (u32)c, 1, heard);
        const real w = CARRIES == 1 ? mix_carried(run, step, agent, 0) : (real)1;
        finish_one(run, turn, agent, c, w, heard[0], run.next_states, [&](const real *points, real *g) {
            gradients_at(problem, run, turn, agent, c, points, g);
        });
    }
#endif
}

#endif
