// Means over rows of data, of losses that look at a row by products a'x (problems/logistic,
// problems/finite_sum). First each row's slopes are made, then each coordinate sums over the rows, in their
// order.
//
// Before this text stand LOSS: 0 logistic, 1 square, 2 Cauchy's, 3 softmax, 4 Welsch's, 5 a network of two layers;
// FEATURES, the columns of the data; OUTPUTS, how many products there are, one but for classes and hidden units,
// and so many coordinates has column 0, then column 1, …; CLASSES, 0 where there are none; SLOPES, numbers that
// are made of a row; PENALTY: 0 ridge, 1 not convex; whether ALL rows are taken; and whether they are drawn in
// PASSES, without replacement.

#define PREPARES 1

struct Problem {
    u64 rows;      // of each agent
    u64 batch;     // rows in a gradient
    const u32 *offsets;
    const u32 *columns;
    const double *values; // null where all are one
    const double *targets;
    double penalty;  // alpha, or 2*alpha where it is not convex
    double scale_sq; // Cauchy's and Welsch's
    u32 *drawn;      // the rows of each agent's batch
    double *slopes;  // and their slopes
    const u32 *by_column; // where all rows are taken: for each column of each agent, where its entries are
    const u32 *entry_rows;
    const double *entry_values;
    u64 longest; // entries of the longest row; 0 where a row has more than 255, or a column twice
};

__device__ inline u64 preparations(const Problem &problem, const Run &run) {
    return run.agents * problem.batch;
}

__device__ inline double value_of(const double *values, u32 entry) { return values ? values[entry] : 1.0; }

// dl/dz for z = a'x.
__device__ inline double slope_at(const Problem &problem, double product, double y) {
#if LOSS == 0
    const double z = y * product, e = exp_neg(absolute(z));
    return -y * ((z >= 0.0 ? e : 1.0) / (1.0 + e));
#elif LOSS == 1
    return product - y;
#elif LOSS == 4
    const double r = product - y, below = -expm1_below(-(r * r / problem.scale_sq));
    return r * (1.0 - below);
#else
    const double r = product - y;
    return r * (1.0 / (1.0 + r * r / problem.scale_sq));
#endif
}

#if !ALL
// The `at`-th row that an agent draws for a gradient.
__device__ inline u64 drawn_row(const Problem &problem, const Run &run, const Turn &turn, u64 agent, u64 at) {
    const Stream stream = samples_of(run, turn, agent);
#if PASSES
    const u64 before = stream.round * problem.batch + at; // a batch in every round
    const u64 pass = before / problem.rows, place = before % problem.rows;
    const u64 row = at_place(stream, (u32)turn.call, (u32)pass, problem.rows, place);
#else
    const u64 row = below(random_bits(stream, (u32)(turn.call * problem.batch + at)), problem.rows);
#endif
    return agent * problem.rows + row;
}
#endif

// The t-th row of all batches: which it is, and its slope at the agent's point.
__device__ inline void prepare_one(const Problem &problem, const Run &run, const Turn &turn, u64 t) {
    const u64 agent = t / problem.batch, at = t % problem.batch;
#if ALL
    const u64 r = agent * problem.rows + at;
#else
    const u64 r = drawn_row(problem, run, turn, agent, at);
    problem.drawn[t] = (u32)r;
#endif
    const real *x = run.asked[turn.from] + agent * (u64)DIM;
    double *const slopes = problem.slopes + t * SLOPES;
    const auto product = [&](u32 o) {
        double sum = 0.0;
        for (u32 entry = problem.offsets[r]; entry < problem.offsets[r + 1]; ++entry)
            sum = sum + value_of(problem.values, entry) * (double)x[problem.columns[entry] * OUTPUTS + o];
        return sum;
    };
#if LOSS == 3
    for (u32 o = 0; o < OUTPUTS; ++o)
        slopes[o] = product(o);
    soften<1>(slopes, (u32)problem.targets[r]);
#elif LOSS == 5
    look_at_row<1>(product, [&](u32 i) { return (double)x[i]; }, (u32)problem.targets[r], slopes);
#else
    slopes[0] = slope_at(problem, product(0), problem.targets[r]);
#endif
}

#define BY_TEAM (!ALL && CLASSES == 0)

#if BY_TEAM
// The same for a batch of one row, by a team of lanes that goes over an agent's coordinates together: an
// entry of the row is one lane's. `slots[c]` becomes the number, from 1, of the entry in column c.
__device__ inline void prepare_by_team(const Problem &problem, const Run &run, const Turn &turn, u64 agent,
                                       u32 lane, u8 *slots) {
    const u64 r = drawn_row(problem, run, turn, agent, 0);
    const u32 begin = problem.offsets[r], end = problem.offsets[r + 1];
    const real *x = run.asked[0] + agent * (u64)DIM;
    double product = 0.0;
    for (u32 first = begin; first < end; first += LANES) {
        double term = 0.0;
        if (first + lane < end) {
            const u32 column = problem.columns[first + lane];
            slots[column] = (u8)(first + lane - begin + 1);
            term = value_of(problem.values, first + lane) * (double)x[column];
        }
        for (u32 k = 0; k < LANES && first + k < end; ++k)
            product = product + of_lane(term, k); // in the order of the columns
    }
    if (lane == 0) {
        problem.drawn[agent] = (u32)r;
        problem.slopes[agent] = slope_at(problem, product, problem.targets[r]);
    }
}

// Takes the row's entries out of the slots again.
__device__ inline void clear_by_team(const Problem &problem, u64 agent, u32 lane, u8 *slots) {
    const u32 r = problem.drawn[agent];
    for (u32 entry = problem.offsets[r] + lane; entry < problem.offsets[r + 1]; entry += LANES)
        slots[problem.columns[entry]] = 0;
}
#endif

__device__ inline double penalty_at(const Problem &problem, double x) {
#if PENALTY == 0
    return problem.penalty * x;
#else
    const double q = 1.0 + x * x;
    return problem.penalty * x / (q * q);
#endif
}

// The same without a branch, but for the sign of a zero. It is right where `is_quick` says so: there the
// numerator is 0 or between 2^-600 and 2^149, and the denominator between 1 and 2^197.
__device__ inline double quick_penalty(const Problem &problem, double x) {
#if PENALTY == 0
    return problem.penalty * x;
#else
    const double q = 1.0 + x * x;
    return quick_quotient(problem.penalty * x, q * q);
#endif
}

__device__ inline bool is_quick(const Problem &problem) {
    return PENALTY == 0 || (problem.penalty > 0x1p-200 && problem.penalty < 0x1p100);
}
__device__ inline bool is_quick_at(double x) { return PENALTY == 0 || is_ordinary(x); }

// Adds what row r gives to a column's coordinate.
__device__ inline double add_row(const Problem &problem, u64 r, double slope, u32 column, double g) {
    for (u32 entry = problem.offsets[r]; entry < problem.offsets[r + 1]; ++entry)
        if (problem.columns[entry] == column)
            g = g + slope * value_of(problem.values, entry);
    return g;
}

__device__ inline double gradient_at(const Problem &problem, const Run &run, const Turn &turn, u64 agent,
                                     u64 c, double x) {
    const double *const rows = problem.slopes + agent * problem.batch * SLOPES;
    double g = 0.0;
    if (!ALL && problem.batch == 1) // the penalty comes first
        g = g + penalty_at(problem, x);
    if (c >= FEATURES * (u64)OUTPUTS) {
#if LOSS == 5
        for (u64 at = 0; at < problem.batch; ++at)
            g = add_behind<1>(rows + at * SLOPES, (u32)(c - SECOND), g);
#endif
    } else {
        const u32 column = (u32)(c / OUTPUTS), o = (u32)(c % OUTPUTS);
#if ALL
        const u64 place = agent * (u64)FEATURES + column;
        for (u32 entry = problem.by_column[place]; entry < problem.by_column[place + 1]; ++entry)
            g = g + rows[problem.entry_rows[entry] * (u64)SLOPES + o] * value_of(problem.entry_values, entry);
#else
        const u32 *const drawn = problem.drawn + agent * problem.batch;
        for (u64 at = 0; at < problem.batch; ++at)
            g = add_row(problem, drawn[at], rows[at * SLOPES + o], column, g);
#endif
    }
    return !ALL && problem.batch == 1 ? g : g * (1.0 / (double)problem.batch) + penalty_at(problem, x);
}

#if BY_TEAM
// The same for a batch of one row, whose entry in this column is number `slot`, from 1; 0 where it has none.
__device__ inline double gradient_by_slot(const Problem &problem, u64 agent, u32 slot, double x) {
    double g = 0.0 + penalty_at(problem, x);
    if (slot > 0) {
        const u32 entry = problem.offsets[problem.drawn[agent]] + slot - 1;
        g = g + problem.slopes[agent] * value_of(problem.values, entry);
    }
    return g;
}
#endif
