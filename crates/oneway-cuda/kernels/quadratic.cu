// Quadratics: h*(x - c_i) plus noise, coordinate by coordinate (problems/quadratic.rs).

#define BY_TEAM 0
#define PREPARES 0 // a gradient needs nothing but its own coordinate

struct Problem {
    const double *curvature;
    const double *centres;
    double noise;
};

__device__ inline u64 preparations(const Problem &, const Run &) { return 0; }
__device__ inline void prepare_one(const Problem &, const Run &, const Turn &, u64) {}

// The same without noise, for a compiler to know.
__device__ inline Problem quiet(Problem problem) {
    problem.noise = 0.0;
    return problem;
}

// Coordinate c of agent i's gradient at a point whose coordinate is x; the call-th of the exchange.
__device__ inline double gradient_at(const Problem &problem, const Run &run, const Turn &turn, u64 agent,
                                     u64 c, double x) {
    double g = problem.curvature[c] * (x - problem.centres[agent * (u64)DIM + c]);
    if (problem.noise > 0.0)
        g = g + problem.noise * normal(samples_of(run, turn, agent), (u32)(turn.call * DIM + c));
    return g;
}
