// Means over rows of data, of losses that look at a row by products a'x (problems/logistic,
// problems/finite_sum). First each row's slopes are made, then each coordinate sums over the rows, in their
// order.
//
// Before this text stands LOSS: 0 logistic, 1 square, 2 Cauchy's, 3 softmax; OUTPUTS: how many products there
// are, one but for softmax, whose coordinates are those of column 0, then those of column 1, …; PENALTY: 0
// ridge, 1 not convex; whether ALL rows are taken; and whether they are drawn in PASSES, without replacement.

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
#else
    const double r = product - y;
    return r * (1.0 / (1.0 + r * r / problem.scale_sq));
#endif
}

#if LOSS == 3
// dl/dz = p - e_y in place of z (problems/models/layer.rs).
__device__ inline void softmax_slopes(double *z, u32 y) {
    double largest = number(0xfff0000000000000ull), sum = 0.0; // from minus infinity
    for (u32 o = 0; o < OUTPUTS; ++o)
        largest = z[o] > largest ? z[o] : largest;
    for (u32 o = 0; o < OUTPUTS; ++o) {
        z[o] = exp_neg(largest - z[o]);
        sum = sum + z[o];
    }
    for (u32 o = 0; o < OUTPUTS; ++o)
        z[o] = z[o] / sum;
    z[y] = z[y] - 1.0;
}
#endif

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
    double *const slopes = problem.slopes + t * OUTPUTS;
    for (u32 o = 0; o < OUTPUTS; ++o) {
        double product = 0.0;
        for (u32 entry = problem.offsets[r]; entry < problem.offsets[r + 1]; ++entry)
            product = product
                    + value_of(problem.values, entry) * (double)x[problem.columns[entry] * OUTPUTS + o];
        slopes[o] = product;
    }
#if LOSS == 3
    softmax_slopes(slopes, (u32)problem.targets[r]);
#else
    slopes[0] = slope_at(problem, slopes[0], problem.targets[r]);
#endif
}

#define BY_TEAM (!ALL && LOSS != 3)

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
    const u32 column = (u32)(c / OUTPUTS), o = (u32)(c % OUTPUTS);
    const double *slopes = problem.slopes + agent * problem.batch * OUTPUTS + o;
#if ALL
    double g = 0.0;
    const u64 place = agent * (u64)(DIM / OUTPUTS) + column;
    for (u32 entry = problem.by_column[place]; entry < problem.by_column[place + 1]; ++entry)
        g = g + slopes[problem.entry_rows[entry] * (u64)OUTPUTS] * value_of(problem.entry_values, entry);
#else
    const u32 *drawn = problem.drawn + agent * problem.batch;
    if (problem.batch == 1)
        return add_row(problem, drawn[0], slopes[0], column, 0.0 + penalty_at(problem, x));
    double g = 0.0;
    for (u64 at = 0; at < problem.batch; ++at)
        g = add_row(problem, drawn[at], slopes[at * OUTPUTS], column, g);
#endif
    return g * (1.0 / (double)problem.batch) + penalty_at(problem, x);
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
