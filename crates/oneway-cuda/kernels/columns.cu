// Many small runs of one small network: a block takes a run and makes all its rounds, and a thread has a
// coordinate of all agents, in registers. What is heard is then a sum of a thread's own numbers: the network
// is part of the text. Threads meet only where a gradient needs a whole row.
//
// Before this text stand AGENTS; SINGLE, whether a gradient is that of one row of data, which is drawn;
// BINARY, whether all entries of rows are 1; PULLED_POINTS, whether gradients are taken at what was pulled;
// and `hear_pulled` and `hear_pushed`, which are printed from the network. That there is one matrix for all
// rounds has been seen to.

#ifdef ON_HOST
#define PER_THREAD DIM // coordinates that a thread can have: any number of threads does the work
#define PER_LANE AGENTS
#define GROUP 1
#define COLUMN_TEAMS 1
#define WIDTH DIM
#define HAS_COLUMN(c) ((c) < DIM)
#else
#define PER_THREAD 1
#define PER_LANE ((AGENTS + LANES * COLUMN_TEAMS - 1) / (LANES * COLUMN_TEAMS)) // products that a lane adds up
#define GROUP 16                                                                // lanes for an agent's row
#define COLUMN_TEAMS ((DIM + LANES - 1) / LANES)
#define WIDTH COLUMN_THREADS // what is beyond the last coordinate is computed too, and nobody looks at it
#define HAS_COLUMN(c) true
#endif
#define COLUMN_THREADS (COLUMN_TEAMS * LANES)
#define PASSES ((AGENTS * GROUP + COLUMN_THREADS - 1) / COLUMN_THREADS) // a team's groups over its agents
#define AHEAD 16 // rounds whose samples are drawn at once
#define SIDE_BY_SIDE 4 // agents whose penalties are made at once

// A row that was drawn.
struct Drawn {
    double target;
    u32 begin, length;
};

// What the threads of a block share.
struct Shared {
#if SINGLE
    double slopes[AGENTS];
    Drawn drawn[AHEAD][AGENTS];
    double terms[AGENTS][GROUP + 1]; // one more: other agents' terms are in other banks
    real points[AGENTS][WIDTH];
    u32 slots[AGENTS][WIDTH]; // the round, from 1, that has an entry in a column, and which, in the last 8 bits
#endif
    Step steps[AHEAD];
    real carried[2][AGENTS];
};
static_assert(sizeof(Shared) <= COLUMN_SHARED, "the host gives less memory than this text takes");

// What is carried besides coordinates after the next exchange.
__device__ inline void carry(const Run &run, const real *carried, real *next) {
    for (u32 agent = threadIdx.x; CARRIES == 1 && agent < AGENTS; agent += blockDim.x) {
        real sum[1];
        mix<1>(
            run.push, run.push.ranges[agent], [&](u32 sender, real *terms) { terms[0] = carried[sender]; },
            sum);
        next[agent] = sum[0];
    }
}

#if SINGLE
__device__ inline void draw_ahead(const Run &run, const Problem &problem, u64 step, u64 until, Shared &shared) {
    for (u32 t = threadIdx.x; t < AHEAD * AGENTS && step + t / AGENTS < until; t += blockDim.x) {
        const u32 agent = t % AGENTS;
        const Turn turn = {step + t / AGENTS, 0, 0, 0, 0, 0};
        const u64 r = drawn_row(problem, run, turn, agent, 0);
        const u32 begin = problem.offsets[r];
        shared.drawn[t / AGENTS][agent] = Drawn{problem.targets[r], begin, problem.offsets[r + 1] - begin};
    }
}

// The agent of the block that a group of lanes is at in one of its passes.
__device__ inline u32 agent_of(u32 pass) {
    const u32 lane = threadIdx.x % LANES, team = threadIdx.x / LANES;
    return team + (pass * (LANES / GROUP) + lane / GROUP) * (blockDim.x / LANES);
}

// The slopes of a team's agents: an entry of a row is a lane's, and a row's products are added by one lane.
__device__ inline void make_slopes(const Problem &problem, const Drawn *drawn, const u32 *columns, u32 mark,
                                   Shared &shared) {
    const u32 lane = threadIdx.x % LANES, team = threadIdx.x / LANES, teams = blockDim.x / LANES;
    double products[PER_LANE] = {};
    for (u32 first = 0; first < problem.longest; first += GROUP) {
#pragma unroll
        for (u32 pass = 0; pass < PASSES; ++pass) {
            const u32 agent = agent_of(pass), entry = first + lane % GROUP;
            if (agent < AGENTS && entry < drawn[agent].length) {
                const u32 at = drawn[agent].begin + entry;
                const u32 column = first == 0 ? columns[pass] : problem.columns[at];
                shared.slots[agent][column] = mark | entry;
                shared.terms[agent][lane % GROUP] = (BINARY ? 1.0 : value_of(problem.values, at))
                        * (double)shared.points[agent][column];
            }
        }
        team_meets();
#pragma unroll
        for (u32 o = 0; o < PER_LANE; ++o) {
            const u32 agent = team + (lane + o * LANES) * teams;
            if (agent >= AGENTS)
                continue;
            const u32 length = drawn[agent].length, left = length > first ? length - first : 0;
            for (u32 k = 0; k < GROUP && k < left; ++k)
                products[o] = products[o] + shared.terms[agent][k]; // in the order of the columns
        }
        team_meets();
    }
#pragma unroll
    for (u32 o = 0; o < PER_LANE; ++o) {
        const u32 agent = team + (lane + o * LANES) * teams;
        if (agent < AGENTS)
            shared.slopes[agent] = slope_at(problem, products[o], drawn[agent].target);
    }
}

// One for all agents: seldom called.
__device__ __noinline__ double slow_penalty(const Problem &problem, double x) { return penalty_at(problem, x); }

// Of the row that was drawn, where the penalty's part is known.
__device__ inline double gradient_of_drawn(const Problem &problem, const Shared &shared, const Drawn &drawn,
                                           u32 agent, u32 c, u32 mark, double penalty) {
    const u32 slot = shared.slots[agent][c];
    const double g = 0.0 + penalty;
#if BINARY
    const double with = g + shared.slopes[agent];
    return slot >= mark ? with : g;
#else
    if (slot < mark)
        return g;
    return g + shared.slopes[agent] * value_of(problem.values, drawn.begin + (slot & 255));
#endif
}
#else
// Kept apart from its callers, of which there is one for each agent.
struct Gradients {
    real g[2];
};
__device__ __noinline__ Gradients gradients_there(const Problem &problem, const Run &run, u64 step, u32 agent,
                                                  u32 c, real point, real last) {
    const real points[2] = {point, last};
    Gradients made;
    gradients_at(problem, run, Turn{step, 0, 0, 0, 0, 0}, agent, c, points, made.g);
    return made;
}
#endif

extern "C" __global__ void __launch_bounds__(COLUMN_THREADS, COLUMN_BLOCKS)
    oneway_columns(const Run, const Problem, const Turn cells) {
    const Problem problem = ((const Problem *)cells.to)[blockIdx.x];
    const Run run = ((const Run *)cells.from)[blockIdx.x];
    Shared &shared = *(Shared *)oneway_shared;
    real state[PER_THREAD][KEPT][AGENTS];
#pragma unroll
    for (u32 k = 0; k < PER_THREAD; ++k) {
        const u32 c = threadIdx.x + k * blockDim.x;
#pragma unroll
        for (u32 agent = 0; agent < AGENTS; ++agent)
#pragma unroll
            for (u32 v = 0; v < KEPT; ++v)
                state[k][v][agent] = c < DIM ? run.states[agent * run.stride + v * DIM + c] : (real)0;
    }
    real *carried = shared.carried[0], *next = shared.carried[1];
    if (CARRIES == 1) {
        for (u32 agent = threadIdx.x; agent < AGENTS; agent += blockDim.x)
            next[agent] = run.states[agent * run.stride + KEPT * (u64)DIM];
        __syncthreads();
        carry(run, next, carried); // after the first exchange
    }
#if SINGLE
    for (u32 t = threadIdx.x; t < AGENTS * WIDTH; t += blockDim.x)
        shared.slots[t / WIDTH][t % WIDTH] = 0;
    const bool quick_penalties = is_quick(problem);
#endif
    for (u64 step = 0; step < cells.call; ++step) {
        const u32 ahead = (u32)step % AHEAD, mark = ((u32)step + 1) << 8;
        if (ahead == 0) {
            __syncthreads(); // nobody looks at what was drawn before
            for (u32 t = threadIdx.x; t < AHEAD && step + t < cells.call; t += blockDim.x)
                shared.steps[t] = run.steps[step + t];
#if SINGLE
            draw_ahead(run, problem, step, cells.call, shared);
#endif
            __syncthreads();
        }
        const Step &now = shared.steps[ahead];
#if SINGLE
        // asked for now, looked at when all has been heard
        const Drawn *const drawn = shared.drawn[ahead];
        u32 columns[PASSES];
#pragma unroll
        for (u32 pass = 0; pass < PASSES; ++pass) {
            const u32 agent = agent_of(pass), entry = threadIdx.x % GROUP;
            columns[pass] =
                agent < AGENTS && entry < drawn[agent].length ? problem.columns[drawn[agent].begin + entry] : 0;
        }
#endif
        real heard[PER_THREAD][HEARD + 1][AGENTS];
#pragma unroll
        for (u32 k = 0; k < PER_THREAD; ++k) {
            const u32 c = threadIdx.x + k * blockDim.x;
            real sent[HEARD + 1][AGENTS];
            send_all(run, now, state[k], sent);
            hear_pulled(sent, heard[k]);
            hear_pushed(sent, heard[k]);
#if SINGLE
#pragma unroll
            for (u32 agent = 0; agent < AGENTS; ++agent) {
                if (!HAS_COLUMN(c))
                    continue;
                real one[KEPT], all[HEARD + 1], points[2];
                take<KEPT>(state[k], agent, one);
                take<HEARD>(heard[k], agent, all);
                const real w = CARRIES == 1 ? carried[agent] : (real)1;
                rule_points(run, 0, at_of(run, now, agent, w), one, all, points);
                shared.points[agent][c] = points[0];
            }
#endif
        }
        if (SINGLE || CARRIES == 1)
            __syncthreads(); // all rows are whole; nobody looks at the weights of the last round
#if SINGLE
        make_slopes(problem, drawn, columns, mark, shared);
#endif
        carry(run, carried, next);
        if (SINGLE || CARRIES == 1)
            __syncthreads();
#pragma unroll
        for (u32 k = 0; k < PER_THREAD; ++k) {
            const u32 place = threadIdx.x + k * blockDim.x, c = SINGLE || place < DIM ? place : DIM - 1;
            if (!HAS_COLUMN(place))
                continue;
#if SINGLE
            double penalties[AGENTS];
#endif
#pragma unroll
            for (u32 agent = 0; agent < AGENTS; ++agent) {
#if SINGLE
                if (agent % SIDE_BY_SIDE == 0) { // without a branch, several run side by side
                    bool quick = quick_penalties;
#pragma unroll
                    for (u32 a = agent; a < AGENTS && a < agent + SIDE_BY_SIDE; ++a) {
                        const double x = (double)shared.points[a][c];
                        penalties[a] = quick_penalty(problem, x);
                        quick &= is_quick_at(x);
                    }
                    if (!quick)
#pragma unroll
                        for (u32 a = agent; a < AGENTS && a < agent + SIDE_BY_SIDE; ++a)
                            penalties[a] = slow_penalty(problem, (double)shared.points[a][c]);
                }
#endif
                real one[KEPT], all[HEARD + 1], points[2], g[2], made[KEPT];
                take<KEPT>(state[k], agent, one);
                take<HEARD>(heard[k], agent, all);
                const real w = CARRIES == 1 ? carried[agent] : (real)1;
                const At at = at_of(run, now, agent, w);
#if SINGLE
                points[0] = shared.points[agent][c];
                if (PULLED_POINTS)
                    all[0] = points[0]; // so that it needs no register meanwhile
                g[0] = (real)gradient_of_drawn(problem, shared, drawn[agent], agent, c, mark, penalties[agent]);
                g[1] = (real)0;
#else
                rule_points(run, 0, at, one, all, points);
                const Gradients there = gradients_there(problem, run, step, agent, c, points[0], points[1]);
                g[0] = there.g[0];
                g[1] = there.g[1];
#endif
                rule_update(run, 0, at, one, all, g, made);
                put<KEPT>(state[k], agent, made);
            }
        }
        if (CARRIES == 1) {
            real *const last = carried;
            carried = next;
            next = last;
        }
    }
#pragma unroll
    for (u32 k = 0; k < PER_THREAD; ++k) {
        const u32 c = threadIdx.x + k * blockDim.x;
#pragma unroll
        for (u32 agent = 0; agent < AGENTS; ++agent)
#pragma unroll
            for (u32 v = 0; v < KEPT; ++v)
                if (c < DIM)
                    run.states[agent * run.stride + v * DIM + c] = state[k][v][agent];
    }
    // of what was made for the next exchange nobody asks
    for (u32 agent = threadIdx.x; CARRIES == 1 && agent < AGENTS && cells.call > 0; agent += blockDim.x)
        run.states[agent * run.stride + KEPT * (u64)DIM] = next[agent];
}
