// Quadratics as they are measured (problems/quadratic.rs, `exact`).

#define ROOM 0

struct Data {
    const double *curvature;
    const double *centres;
};

__device__ inline double penalty_value(const Data &, const double *) { return 0.0; }

// f_i and its gradient at the points of a group.
template <bool NEAR> __device__ inline void evaluate(const Run &run, const Turn &turn, u64 group, u32 agent) {
    if (threadIdx.x >= LANES)
        return; // a sum over coordinates is one thread's
    const Data &data = ((const Data *)run.data)[group];
    const u64 row = group * run.agents + agent;
    EACH_POINT(p) {
        double twice_loss = 0.0;
        for (u32 c = 0; c < DIM; ++c) {
            const double far = point_of(run, turn, group, agent, c, p) - data.centres[agent * (u64)DIM + c];
            const double g = data.curvature[c] * far;
            run.gradients[(row * DIM + c) * POINTS + p] = g;
            twice_loss = twice_loss + g * far;
        }
        run.losses[row * POINTS + p] = 0.5 * twice_loss;
    }
}

__device__ inline void count_right(const Run &, u64, u32) {}
