// The kernels that measure.

// x̄, and what the states say by themselves: how far agents and trackers are apart, and how far what should be
// conserved has drifted. A block takes a seat.
KERNEL(means) {
    const u32 n = (u32)run.agents;
    const double weight = 1.0 / (double)n;
    for (u64 at = blockIdx.x; at < run.groups * POINTS; at += gridDim.x) {
        const Seat seat = run.seats[at];
        double *const mean = run.means + at / POINTS * DIM * POINTS + at % POINTS;
        double *const total = run.totals + at * 2 * DIM, *const drift = total + DIM;
        double *const apart = run.apart + at * 2 * n;
        for (u32 c = threadIdx.x; c < DIM; c += blockDim.x) {
            mean[c * POINTS] = run.average == 2 ? number_of(seat, 0, 0, c)
                                                : over_agents(n, [&](u32 i, double &part) {
                const u64 vector = run.average == 1 ? run.conserved : 0;
                part = part + (run.average == 1 ? weight : seat.pull[i]) * number_of(seat, i, vector, c);
            });
            if (run.tracker)
                total[c] = over_agents(n, [&](u32 i, double &part) {
                    const double v = number_of(seat, i, run.tracker - 1, c);
                    part = part + (run.pulled ? seat.pull[i] * v : v);
                });
            if (run.tracker && run.tracked)
                drift[c] = over_agents(n, [&](u32 i, double &part) {
                    const double of = run.pulled ? (double)n * seat.pull[i] : 1.0;
                    part = part + of * number_of(seat, i, run.tracker - 1, c);
                    part = part + -of * number_of(seat, i, run.tracked - 1, c);
                });
        }
        __syncthreads();
        for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
            double far = 0.0, off = 0.0;
            for (u32 c = 0; c < DIM; ++c)
                far = far + square(number_of(seat, i, 0, c) - mean[c * POINTS]);
            if (run.tracker)
                for (u32 c = 0; c < DIM; ++c) {
                    const double share = run.pulled ? 1.0 : seat.push[i];
                    off = off + square(number_of(seat, i, run.tracker - 1, c) - share * total[c]);
                }
            apart[i] = far;
            apart[n + i] = off;
        }
        __syncthreads();
        double *const answers = run.answers + at * ANSWERS;
        for (u32 q = threadIdx.x; q < 4; q += blockDim.x) { // a sum is one thread's
            if (q == 0)
                answers[CONSENSUS] = over_agents(n, [&](u32 i, double &part) { part = part + apart[i]; });
            if (q == 1 && run.tracker)
                answers[TRACKING] = over_agents(n, [&](u32 i, double &part) { part = part + apart[n + i]; });
            if (q == 2 && run.tracker && run.tracked) {
                double sum = 0.0;
                for (u32 c = 0; c < DIM; ++c)
                    sum = sum + square(drift[c] / (double)n);
                answers[DRIFT] = sum;
            }
            if (q == 3 && run.weight)
                answers[WEIGHT] = over_agents(n, [&](u32 i, double &part) {
                    part = part + (double)seat.states[i * seat.stride + run.weight - 1];
                });
        }
        __syncthreads();
    }
}

// f_i and its gradient at the points of each group, for all agents.
template <bool NEAR> __device__ inline void evaluate_all(const Run &run, const Turn &turn) {
    for (u64 at = blockIdx.x; at < run.groups * run.agents; at += gridDim.x)
        evaluate<NEAR>(run, turn, at / run.agents, (u32)(at % run.agents));
}

KERNEL(evaluate) { evaluate_all<true>(run, turn); }
KERNEL(evaluate_far) { evaluate_all<false>(run, turn); }

KERNEL(right) {
    for (u64 at = blockIdx.x; at < run.groups * TILES; at += gridDim.x)
        count_right(run, at / TILES, (u32)(at % TILES));
}

// F and the square of its gradient at x̄, and how many test rows are right. A block takes a group.
KERNEL(finish) {
    const u32 n = (u32)run.agents, team = threadIdx.x / LANES, teams = blockDim.x / LANES;
    for (u64 group = blockIdx.x; group < run.groups; group += gridDim.x) {
        const Data &data = ((const Data *)run.data)[group];
        double *const sums = run.sums + group * DIM * POINTS;
        const double *const gradients = run.gradients + group * n * DIM * POINTS;
        for (u32 c = team; c < DIM; c += teams)
            EACH_POINT(p) sums[c * POINTS + p] = over_agents(n, [&](u32 i, double &part) {
                part = part + gradients[(i * DIM + c) * POINTS + p];
            });
        __syncthreads();
        if (team == 0)
            EACH_POINT(p) {
                double *const answers = run.answers + (group * POINTS + p) * ANSWERS;
                double sum = 0.0, right = 0.0;
                for (u32 c = 0; c < DIM; ++c)
                    sum = sum + square(sums[c * POINTS + p] / (double)n);
                answers[GRADIENT] = sum;
                for (u32 tile = 0; tile < TILES; ++tile)
                    right += run.rights[(group * TILES + tile) * POINTS + p];
                answers[RIGHT] = right;
            }
        if (team + 1 == teams)
            EACH_POINT(p) {
                const double penalty = penalty_value(data, run.means + group * DIM * POINTS + p);
                run.answers[(group * POINTS + p) * ANSWERS + LOSS_SUM] =
                        over_agents(n, [&](u32 i, double &part) {
                            part = part + (run.losses[(group * n + i) * POINTS + p] + penalty);
                        });
            }
        __syncthreads();
    }
}

// How far momenta are from the gradients that they estimate, which were taken at the agents' own estimates.
KERNEL(far) {
    const u32 n = (u32)run.agents, team = threadIdx.x / LANES, teams = blockDim.x / LANES;
    for (u64 group = blockIdx.x; group < run.groups; group += gridDim.x) {
        const double *const gradients = run.gradients + group * n * DIM * POINTS;
        double *const apart = run.apart + group * n * POINTS;
        for (u32 i = team; i < n; i += teams)
            EACH_POINT(p) {
                const Seat seat = run.seats[group * POINTS + p];
                double far = 0.0;
                for (u32 c = 0; c < DIM; ++c)
                    far = far
                            + square(number_of(seat, i, run.momentum - 1, c)
                                    - gradients[(i * DIM + c) * POINTS + p]);
                apart[i * POINTS + p] = far;
            }
        __syncthreads();
        if (team == 0)
            EACH_POINT(p) run.answers[(group * POINTS + p) * ANSWERS + MOMENTUM] =
                    over_agents(n, [&](u32 i, double &part) { part = part + apart[i * POINTS + p]; });
        __syncthreads();
    }
}

// Adds the square of F's gradient at one agent's estimate: a few agents' coordinates make a sum, few make a
// block's, and these the whole.
KERNEL(at_agent) {
    const u32 n = (u32)run.agents, team = threadIdx.x / LANES, teams = blockDim.x / LANES;
    for (u64 group = blockIdx.x; group < run.groups; group += gridDim.x) {
        double *const sums = run.sums + group * DIM * POINTS;
        const double *const gradients = run.gradients + group * n * DIM * POINTS;
        for (u32 c = team; c < DIM; c += teams)
            EACH_POINT(p) {
                double sum = 0.0; // in the order of the agents
                for (u32 i = 0; i < n; ++i)
                    sum = sum + gradients[(i * DIM + c) * POINTS + p];
                sums[c * POINTS + p] = sum;
            }
        __syncthreads();
        if (team == 0)
            EACH_POINT(p) {
                double *const running = run.running + (group * POINTS + p) * 3;
                double few = turn.begins_few ? 0.0 : running[0], block = running[1], all = running[2];
                if (turn.agent == 0)
                    block = all = 0.0;
                for (u32 c = 0; c < DIM; ++c)
                    few = few + square(sums[c * POINTS + p] / (double)n);
                if (turn.ends_few)
                    block = block + few;
                if (turn.ends_block) {
                    all = all + block;
                    block = 0.0;
                }
                running[0] = few;
                running[1] = block;
                running[2] = all;
                run.answers[(group * POINTS + p) * ANSWERS + AT_AGENTS] = all;
            }
        __syncthreads();
    }
}

// Says of each seat whether a number of its states is beyond all bounds, or none.
KERNEL(sound) {
    for (u64 at = blockIdx.x; at < run.groups * POINTS; at += gridDim.x) {
        const Seat seat = run.seats[at];
        if (threadIdx.x == 0)
            run.flags[at] = 0;
        __syncthreads();
        for (u64 t = threadIdx.x; t < run.agents * run.width; t += blockDim.x) {
            const double x = (double)seat.states[t / run.width * seat.stride + t % run.width];
            if (!(absolute(x) <= 1e150))
                run.flags[at] = 1;
        }
        __syncthreads();
    }
}
