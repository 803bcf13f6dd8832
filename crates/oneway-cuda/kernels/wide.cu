// The kernels of one network: each part of an exchange over all coordinates of all agents.

#define EACH(type, t, count)                                                                        \
    for (type t = (type)blockIdx.x * blockDim.x + threadIdx.x, end_##t = (type)(count); t < end_##t; \
         t += (type)gridDim.x * blockDim.x)

#define KERNEL(name)                                                                                 \
    extern "C" __global__ void oneway_##name(const Run run, const Problem problem, const Turn turn)

// x0 is everyone's point at first.
KERNEL(begin) {
    EACH(coordinate, t, run.agents * (u64)DIM)
    run.points[t] = (real)run.start[t % (coordinate)DIM];
}

KERNEL(start) {
    EACH(coordinate, t, run.agents * (u64)DIM)
    start_one(run, turn, t, turn.call);
    EACH(u64, s, run.agents * (u64)scalars_of(run)) {
        const u64 agent = s / scalars_of(run), at = s % scalars_of(run);
        carried_of(run, agent, at) = (real)(CARRIES == 1 || at == agent ? 1 : 0);
    }
}

KERNEL(send) {
    EACH(coordinate, t, run.agents * (u64)DIM)
    send_one(run, turn, t);
    EACH(u64, s, run.agents * (u64)scalars_of(run))
    run.carried[s] = mix_carried(run, run.steps[turn.step], s / scalars_of(run), (u32)(s % scalars_of(run)),
            turn.from > 0);
}

KERNEL(hear) {
    EACH(coordinate, t, run.agents * (u64)DIM)
    hear_one(run, turn, t);
}

#if HELD
// In place of both, in a round with oneself.
KERNEL(alone) {
    EACH(coordinate, t, run.agents * (u64)DIM)
    hear_oneself(run, turn, t);
    EACH(u64, s, run.agents * (u64)scalars_of(run))
    carry_alone(run, s / scalars_of(run), s % scalars_of(run));
}
#endif

KERNEL(prepare) {
    EACH(u64, t, preparations(problem, run))
    prepare_one(problem, run, turn, t);
}

// A gradient at one of the two points, to one of the two places.
KERNEL(gradient) {
    EACH(coordinate, t, run.agents * (u64)DIM) {
        const u64 agent = t / (coordinate)DIM, c = t % (coordinate)DIM;
        const real x = run.asked[turn.from][t];
        const real g = (real)gradient_at(problem, run, turn, agent, c, (double)x);
        real *place = run.gradients[turn.to] + t;
        *place = turn.adds == 0 ? g : (turn.adds == 1 ? *place : (real)0) + g;
    }
}

KERNEL(update) {
    EACH(coordinate, t, run.agents * (u64)DIM)
    update_one(run, turn, t, turn.call);
    EACH(u64, s, run.agents * (u64)scalars_of(run))
    keep_carried(run, turn, s / scalars_of(run), s % scalars_of(run));
}

// Writes to the address `turn.from` if a number of the states is beyond all bounds, or none.
KERNEL(look) {
    const u64 width = width_of(run);
    EACH(u64, t, run.agents * width) {
        const double x = (double)state_of(run, t / width)[t % width];
        if (!(absolute(x) <= 1e150))
            *(u64 *)turn.from = 1;
    }
}
