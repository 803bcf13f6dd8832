// Means over rows of data, of losses that look at a row by one product a'x (problems/logistic,
// problems/finite_sum). First each row's slope is made, then each coordinate sums over the rows, in their order.
//
// Before this text stands LOSS: 0 logistic, 1 square, 2 Cauchy's; PENALTY: 0 ridge, 1 not convex; and whether
// ALL rows are taken.

#define PREPARES 1

struct Problem {
    u64 rows;      // of each agent
    u64 batch;     // rows in a gradient
    const u32 *offsets;
    const u32 *columns;
    const double *values; // null where all are one
    const double *targets;
    double penalty;  // alpha, or 2*alpha where it is not convex
    double scale_sq; // Cauchy's
    u32 *drawn;      // the rows of each agent's batch
    double *slopes;  // and their slopes
    const u32 *by_column; // where all rows are taken: for each coordinate of each agent, where its entries are
    const u32 *entry_rows;
    const double *entry_values;
};

__device__ inline u64 preparations(const Problem &problem, const Run &run) { return run.agents * problem.batch; }

__device__ inline double value_of(const double *values, u32 entry) { return values ? values[entry] : 1.0; }

// dl/dz for z = a'x.
__device__ inline double slope_at(const Problem &problem, double product, double y) {
#if LOSS == 0
    const double z = y * product, e = exp_neg(absolute(z));
    return -y * ((z >= 0.0 ? e : 1.0) / (1.0 + e));
#elif LOSS == 1
    return product - y;
#else
    const double r = product - y;
    return r * (1.0 / (1.0 + r * r / problem.scale_sq));
#endif
}

// The t-th row of all batches: which it is, and its slope at the agent's point.
__device__ inline void prepare_one(const Problem &problem, const Run &run, const Turn &turn, u64 t) {
    const u64 agent = t / problem.batch, at = t % problem.batch;
#if ALL
    const u64 r = agent * problem.rows + at;
#else
    const u64 draw = random_bits(samples_of(run, turn, agent), (u32)(turn.call * problem.batch + at));
    const u64 r = agent * problem.rows + below(draw, problem.rows);
    problem.drawn[t] = (u32)r;
#endif
    const real *x = run.asked[turn.from] + agent * (u64)DIM;
    double product = 0.0;
    for (u32 entry = problem.offsets[r]; entry < problem.offsets[r + 1]; ++entry)
        product = product + value_of(problem.values, entry) * (double)x[problem.columns[entry]];
    problem.slopes[t] = slope_at(problem, product, problem.targets[r]);
}

__device__ inline double penalty_at(const Problem &problem, double x) {
#if PENALTY == 0
    return problem.penalty * x;
#else
    const double q = 1.0 + x * x;
    return problem.penalty * x / (q * q);
#endif
}

// Adds what row r gives to coordinate c.
__device__ inline double add_row(const Problem &problem, u64 r, double slope, u64 c, double g) {
    for (u32 entry = problem.offsets[r]; entry < problem.offsets[r + 1]; ++entry)
        if (problem.columns[entry] == c)
            g = g + slope * value_of(problem.values, entry);
    return g;
}

__device__ inline double gradient_at(const Problem &problem, const Run &run, const Turn &turn, u64 agent, u64 c,
                                     double x) {
    const double *slopes = problem.slopes + agent * problem.batch;
#if ALL
    double g = 0.0;
    const u64 place = agent * (u64)DIM + c;
    for (u32 entry = problem.by_column[place]; entry < problem.by_column[place + 1]; ++entry)
        g = g + slopes[problem.entry_rows[entry]] * value_of(problem.entry_values, entry);
#else
    const u32 *drawn = problem.drawn + agent * problem.batch;
    if (problem.batch == 1)
        return add_row(problem, drawn[0], slopes[0], c, 0.0 + penalty_at(problem, x));
    double g = 0.0;
    for (u64 at = 0; at < problem.batch; ++at)
        g = add_row(problem, drawn[at], slopes[at], c, g);
#endif
    return g * (1.0 / (double)problem.batch) + penalty_at(problem, x);
}
