// Many small runs side by side, part by part: state 0 of all, and rounds that are not one kernel. A block takes
// a run, and its threads meet after every part of an exchange. States stay in the device's memory.

#define SHARE(type, t, count) for (type t = threadIdx.x, end_##t = (type)(count); t < end_##t; t += blockDim.x)

// What is asked for after an exchange: 16 bits, the number of samples (or 0) and from the ninth bit on whether
// the gradient is asked for at both points with one sample.
struct Asked {
    u32 samples;
    bool both;
};

__device__ inline Asked asked_after(u64 asks, u32 phase) {
    const u32 bits = (u32)(asks >> (16 * phase)) & 0xffffu;
    return Asked{bits & 0xffu, bits >> 8 != 0};
}

// One gradient, as the kernels `prepare` and `gradient` make it.
__device__ inline void gradient_of_block(const Problem &problem, const Run &run, const Turn &turn) {
    __syncthreads(); // points are whole
    SHARE(u64, r, preparations(problem, run))
    prepare_one(problem, run, turn, r);
    __syncthreads();
    SHARE(coordinate, t, run.agents * (u64)DIM) {
        const u64 agent = t / (coordinate)DIM, c = t % (coordinate)DIM;
        const real g = (real)gradient_at(problem, run, turn, agent, c, (double)run.asked[turn.from][t]);
        real *place = run.gradients[turn.to] + t;
        *place = turn.adds == 0 ? g : (turn.adds == 1 ? *place : (real)0) + g;
    }
}

// All gradients that are asked for; returns how many of the two places they fill.
__device__ inline u64 gradients_of_block(const Problem &problem, const Run &run, const Turn &at,
                                         const Asked &asked) {
    const u32 count = asked.both ? 2 : asked.samples;
#pragma unroll 1
    for (u32 i = 0; i < count; ++i) { // the last is the gradient; those before it are summed in the other place
        const bool last = i + 1 == count;
        Turn turn = at;
        turn.to = last ? 0 : 1;
        if (asked.both) {
            turn.from = turn.to;
        } else {
            turn.call = at.call + i;
            turn.adds = last ? 0 : i == 0 ? 2 : 1;
        }
        gradient_of_block(problem, run, turn);
    }
    return count > 1 ? 2 : count;
}

// `cells.from` and `cells.to` are the addresses of a run and of a problem for each block, `cells.adds` what is
// asked for at the start.
extern "C" __global__ void oneway_start_cells(const Run, const Problem, const Turn cells) {
    const Problem problem = ((const Problem *)cells.to)[blockIdx.x];
    Run run = ((const Run *)cells.from)[blockIdx.x];
    run.asked[0] = run.points;
    const Turn turn = {0, 0, 0, 0, 0, 0};
    SHARE(coordinate, t, run.agents * (u64)DIM)
    run.points[t] = (real)run.start[t % (coordinate)DIM];
    const u64 gradients = gradients_of_block(problem, run, turn, asked_after(cells.adds, 0));
    __syncthreads();
    SHARE(coordinate, t, run.agents * (u64)DIM)
    start_one(run, turn, t, gradients);
    SHARE(u64, s, run.agents * (u64)scalars_of(run)) {
        const u64 agent = s / scalars_of(run), at = s % scalars_of(run);
        carried_of(run, agent, at) = (real)(CARRIES == 1 || at == agent ? 1 : 0);
    }
}

#if !FUSES
// From what was heard, at the points that are kept, to the next states.
__device__ inline void finish_exchange(const Problem &problem, const Run &run, const Turn &at, const Asked &asked) {
    const u64 gradients = gradients_of_block(problem, run, at, asked);
    const u64 scalars = run.agents * (u64)scalars_of(run);
    __syncthreads();
    SHARE(coordinate, t, run.agents * (u64)DIM)
    update_one(run, at, t, gradients);
    SHARE(u64, s, scalars)
    keep_carried(run, at, s / scalars_of(run), s % scalars_of(run));
    __syncthreads();
}

// One exchange; `turn.from` and `turn.to` as the kernels `send` and `update` have them.
__device__ inline void exchange_of_block(const Problem &problem, const Run &run, Turn turn, const Asked &asked) {
    const u64 scalars = run.agents * (u64)scalars_of(run);
    SHARE(coordinate, t, run.agents * (u64)DIM)
    send_one(run, turn, t);
    SHARE(u64, s, scalars)
    run.carried[s] = mix_carried(run, run.steps[turn.step], s / scalars_of(run), (u32)(s % scalars_of(run)),
            turn.from > 0);
    __syncthreads();
    turn.from = 0;
    turn.call = asked.samples > 0 || asked.both ? 1 : 0;
    SHARE(coordinate, t, run.agents * (u64)DIM)
    hear_one(run, turn, t);
    turn.call = 0;
    finish_exchange(problem, run, turn, asked);
}

#if HELD
// One round of each agent with itself; `drawn` counts the samples of the last exchange.
__device__ inline void round_alone(const Problem &problem, const Run &run, Turn turn, u64 asks, u64 &drawn) {
    for (u32 phase = 0; phase < EXCHANGES; ++phase) {
        const Asked asked = asked_after(asks, phase);
        turn.phase = turn.phase >> 32 << 32 | phase;
        turn.call = asked.samples > 0 || asked.both ? 1 : 0;
        SHARE(coordinate, t, run.agents * (u64)DIM)
        hear_oneself(run, turn, t);
        SHARE(u64, s, run.agents * (u64)scalars_of(run))
        carry_alone(run, s / scalars_of(run), s % scalars_of(run));
        turn.call = drawn;
        finish_exchange(problem, run, turn, asked);
        drawn += asked.both ? 1 : asked.samples;
    }
}
#endif

// The same of each exchange in `cells.adds`; `cells.call` is the number of rounds.
extern "C" __global__ void oneway_apart_cells(const Run, const Problem, const Turn cells) {
    const Problem problem = ((const Problem *)cells.to)[blockIdx.x];
    const Run run = ((const Run *)cells.from)[blockIdx.x];
    for (u64 step = 0; step < cells.call; ++step) {
        u64 exchange = 0; // of the network
        for (u32 phase = 0; phase < EXCHANGES; ++phase) {
            const Asked asked = asked_after(cells.adds, phase);
#if HELD
            for (u64 relay = 0; relay < run.relays; ++relay, ++exchange)
                exchange_of_block(problem, run, Turn{step, exchange << 32 | phase, 0, relay > 0, 1, 0}, Asked{0, false});
#endif
            exchange_of_block(problem, run, Turn{step, exchange << 32 | phase, 0, HELD && run.relays > 0, 0, 0}, asked);
            ++exchange;
        }
#if HELD
        const Asked last = asked_after(cells.adds, EXCHANGES - 1);
        u64 drawn = last.both ? 1 : last.samples;
        for (u64 alone = 0; alone < run.alone; ++alone)
            round_alone(problem, run, Turn{step, (exchange - 1) << 32, 0, 0, 0, 0}, cells.adds, drawn);
#endif
    }
}
#endif
