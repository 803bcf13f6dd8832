// Whole rounds in one kernel: what is sent is made where it is heard, from the senders' states, and no
// message is ever stored. For rules with one exchange a round.
//
// Before this text stand ASKS, how many samples are asked for after the exchange (0 for none), and BOTH,
// whether the gradient is asked for at two points with one sample.

// Whether the gradients of a round can be made as soon as a row is prepared once.
#define FUSES (HELD == 0 && EXCHANGES == 1 && CARRIES != 2 && (PREPARES == 0 || (ASKS <= 1 && !BOTH)))

#if FUSES

// What the threads of a block share, in kernels for many small runs.
#ifdef ON_HOST
static real oneway_shared[(1 << 18) / sizeof(real)];
#else
extern __shared__ real oneway_shared[];
#endif

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

#if PREPARES

// One round of one network: a block takes an agent, whose row must be whole before its samples are looked at.
KERNEL(round) {
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
}

#else

// PACK neighbouring coordinates are a thread's, if that divides a row and 16 bytes.
constexpr u32 PACKS = DIM / PACK; // of a row

struct alignas(PACK * sizeof(real)) Pack {
    real x[PACK];
};

__device__ inline Pack load_pack(const real *from) { return *(const Pack *)from; }
__device__ inline void store_pack(real *to, const Pack &pack) { *(Pack *)to = pack; }

// Senders whose numbers are asked for before the first is added.
#define AT_ONCE 3

// The bit contract's sums of COUNT vectors of messages, from the `first`-th on, for the pack at c.
template <int COUNT>
__device__ inline void hear_packs(const Run &run, const Links &links, const Range range, u32 first, u64 c,
                                  Pack *sums) {
    const u64 all = run.agents * (u64)DIM;
    const real *const sent = run.sent + first * all + c;
#pragma unroll
    for (int v = 0; v < COUNT; ++v)
        sums[v] = Pack{}; // a push row may hear no one, not even itself
    for (u32 begin = range.begin; begin < range.end && COUNT > 0; begin += AT_ONCE) {
        Pack terms[AT_ONCE][COUNT > 0 ? COUNT : 1];
        real weights[AT_ONCE];
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; ++k) {
            if (begin + k >= range.end)
                continue;
            const u64 row = links.senders[begin + k] * (u64)DIM;
            weights[k] = links.weight(begin + k);
#pragma unroll
            for (int v = 0; v < COUNT; ++v)
                terms[k][v] = load_pack(sent + v * all + row);
        }
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; ++k) {
            if (begin + k >= range.end)
                continue;
            const bool assigned = k == 0 && begin == range.begin;
#pragma unroll
            for (int v = 0; v < COUNT; ++v)
#pragma unroll
                for (u32 i = 0; i < PACK; ++i) {
                    const real term = weights[k] * terms[k][v].x[i];
                    sums[v].x[i] = assigned ? term : sums[v].x[i] + term;
                }
        }
    }
}

// Of a state that was read or made: what is sent.
__device__ inline void send_packs(const Run &run, const At &at, u64 agent, u64 c, const Pack *state,
                                  real *sent) {
    const u64 all = run.agents * (u64)DIM;
    Pack messages[HEARD + 1];
#pragma unroll
    for (u32 i = 0; i < PACK; ++i) {
        real one[KEPT], made[HEARD + 1];
#pragma unroll
        for (int v = 0; v < KEPT; ++v)
            one[v] = state[v].x[i];
        rule_send(run, 0, at, one, made);
#pragma unroll
        for (int v = 0; v < HEARD; ++v)
            messages[v].x[i] = made[v];
    }
#pragma unroll
    for (int v = 0; v < HEARD; ++v)
        store_pack(sent + v * all + agent * DIM + c, messages[v]);
}

// The messages of the first round.
KERNEL(tell) {
    EACH(coordinate, t, run.agents * (u64)PACKS) {
        const u64 agent = t / (coordinate)PACKS, c = t % (coordinate)PACKS * PACK;
        Pack state[KEPT];
#pragma unroll
        for (int v = 0; v < KEPT; ++v)
            state[v] = load_pack(state_of(run, agent) + v * (u64)DIM + c);
        send_packs(run, at_of(run, run.steps[turn.step], agent, (real)1), agent, c, state, run.sent);
        if (CARRIES == 1 && c == 0)
            run.sent[HEARD * run.agents * DIM + agent] = state_of(run, agent)[KEPT * (u64)DIM];
    }
}

// One round of one network, from the messages of this round to those of the next, which is that of the next
// step in the table. Of the state only what the rule reads is stored, unless `turn.to` asks for all of it.
__device__ inline void make_round(const Run &run, const Problem &problem, const Turn &turn) {
    EACH(coordinate, t, run.agents * (u64)PACKS) {
        const u64 agent = t / (coordinate)PACKS, c = t % (coordinate)PACKS * PACK, all = run.agents * (u64)DIM;
        const Step step = run.steps[turn.step];
        real *const row = state_of(run, agent) + c;
        const Range pulled = range_of(run.pull, run, step, agent);
        const Range pushed = range_of(run.push, run, step, agent);
        Pack state[KEPT], next[KEPT], heard[HEARD + 1];
#pragma unroll
        for (int v = 0; v < KEPT; ++v) // those that are not looked at are not loaded
            state[v] = load_pack(row + v * (u64)DIM);
        hear_packs<PULLS>(run, run.pull, pulled, 0, c, heard);
        hear_packs<PUSHES>(run, run.push, pushed, PULLS, c, heard + PULLS);
        real w[1] = {(real)1};
        if (CARRIES == 1)
            mix<1>(
                run.push, pushed,
                [&](u32 sender, real *terms) { terms[0] = run.sent[HEARD * all + sender]; }, w);
        // asked for before anything is stored, which a load would wait behind
        const At at = at_of(run, step, agent, w[0]);
        const At then = at_of(run, run.steps[turn.step + 1], agent, (real)1);
#pragma unroll
        for (u32 i = 0; i < PACK; ++i) {
            real one[KEPT], all_heard[HEARD + 1], points[2], g[2], made[KEPT];
#pragma unroll
            for (int v = 0; v < KEPT; ++v)
                one[v] = state[v].x[i];
#pragma unroll
            for (int v = 0; v < HEARD; ++v)
                all_heard[v] = heard[v].x[i];
            rule_points(run, 0, at, one, all_heard, points);
            gradients_at(problem, run, turn, agent, c + i, points, g);
            rule_update(run, 0, at, one, all_heard, g, made);
#pragma unroll
            for (int v = 0; v < KEPT; ++v)
                next[v].x[i] = made[v];
        }
#pragma unroll
        for (int v = 0; v < KEPT; ++v)
            if (READ >> v & 1 || turn.to > 0)
                store_pack(row + v * (u64)DIM, next[v]);
        send_packs(run, then, agent, c, next, run.next_sent);
        if (CARRIES == 1 && c == 0) {
            run.next_sent[HEARD * all + agent] = w[0];
            if (turn.to > 0)
                state_of(run, agent)[KEPT * (u64)DIM] = w[0];
        }
    }
}

KERNEL(round) { make_round(run, problem, turn); }

KERNEL(quiet_round) { make_round(run, quiet(problem), turn); }

#endif

#endif
