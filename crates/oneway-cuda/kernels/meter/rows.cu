// Means over rows of data as they are measured (problems/logistic, problems/finite_sum: `exact_many`).
//
// A block takes an agent's rows for the points of a group, CHUNK rows at a time: teams first make the rows'
// slopes, each row one team's; then each column's sum is one team's, over the rows in their order.
//
// Before this text stand LOSS, OUTPUTS and PENALTY, as for `kernels/rows.cu`, and whether rows are TESTED.

#define CHUNK 64

// Rows that one product is made of, for the logistic loss.
#define FACTORS 512

struct Data {
    u64 rows; // of each agent
    const u32 *offsets;
    const u32 *columns;
    const double *values; // null where all are one
    const double *targets;
    double penalty; // alpha
    double scale_sq;
    // the entries of each agent's chunks by column: where each column's begin (FEATURES + 1 numbers a chunk),
    // the row of each within its chunk, ascending, and its value
    const u32 *by_column;
    const u8 *entry_rows;
    const double *entry_values;
    const u32 *order; // of each agent, columns by falling number of entries
    u64 tests;
    const u32 *test_offsets;
    const u32 *test_columns;
    const double *test_values;
    const double *test_targets;
};

// In this many numbers: x, the gradient, slopes, two numbers a row of which losses are made, sums and
// products of losses.
#define ROOM ((2 * DIM + CHUNK * (SLOPES + 2) + 2) * POINTS)

// phi(x), at `x[c * POINTS]`.
__device__ inline double penalty_value(const Data &data, const double *x) {
    double sum = 0.0;
    for (u32 c = 0; c < DIM; ++c) {
        const double square_of = square(x[c * POINTS]);
#if PENALTY == 0
        sum = sum + 0.5 * data.penalty * square_of;
#else
        sum = sum + data.penalty * square_of / (1.0 + square_of);
#endif
    }
    return sum;
}

__device__ inline double penalty_slope(const Data &data, double x) {
#if PENALTY == 0
    return data.penalty * x;
#else
    const double q = 1.0 + x * x;
    return 2.0 * data.penalty * x / (q * q);
#endif
}

// a'x for the o-th product, in the order of the row's columns.
__device__ inline double product_of(const u32 *columns, const double *values, u32 begin, u32 end,
                                    const double *x, u32 o) {
    double product = 0.0;
    if (values) {
        for (u32 entry = begin; entry < end; ++entry)
            product = product + values[entry] * x[(columns[entry] * OUTPUTS + o) * POINTS];
    } else {
#pragma unroll 4
        for (u32 entry = begin; entry < end; ++entry)
            product = product + x[(columns[entry] * OUTPUTS + o) * POINTS];
    }
    return product;
}

// From a row's products to its slopes, in their place, and to the two numbers of which its loss is made: what
// is added, and (logistic) a factor of what a logarithm is taken of.
__device__ inline void judge(const Data &data, double y, double *slopes, double *loss, double *factor) {
#if LOSS == 0
    const double z = y * slopes[0], e = exp_neg(absolute(z));
    *factor = 1.0 + e;
    *loss = z < 0.0 ? -z : 0.0;
    slopes[0] = -y * ((z >= 0.0 ? e : 1.0) / *factor);
#elif LOSS == 1
    const double r = slopes[0] - y;
    *loss = 0.5 * r * r;
    slopes[0] = r;
#elif LOSS == 2
    const double r = slopes[0] - y, q = r * r / data.scale_sq;
    *loss = 0.5 * data.scale_sq * log1p_of(q);
    slopes[0] = r * (1.0 / (1.0 + q));
#elif LOSS == 4
    const double r = slopes[0] - y, below = -expm1_below(-(r * r / data.scale_sq));
    *loss = 0.5 * data.scale_sq * below;
    slopes[0] = r * (1.0 - below);
#elif LOSS == 3
    const Softened softened = soften<POINTS>(slopes, (u32)y);
    *loss = log_of(softened.sum) + softened.missing;
#endif
}

// f_i without its penalty, and its gradient, at the points of a group.
template <bool NEAR> __device__ inline void evaluate(const Run &run, const Turn &turn, u64 group, u32 agent) {
    const Data &data = ((const Data *)run.data)[group];
    const u32 team = threadIdx.x / LANES, teams = blockDim.x / LANES, rows = (u32)data.rows;
    double *const x = NEAR ? oneway_room : run.room + blockIdx.x * (u64)ROOM;
    double *const g = x + DIM * POINTS, *const slopes = g + DIM * POINTS;
    double *const losses = slopes + CHUNK * SLOPES * POINTS, *const factors = losses + CHUNK * POINTS;
    double *const sums = factors + CHUNK * POINTS, *const products = sums + POINTS;
    for (u32 c = team; c < DIM; c += teams)
        EACH_POINT(p) {
            x[c * POINTS + p] = point_of(run, turn, group, agent, c, p);
            g[c * POINTS + p] = 0.0;
        }
    if (team == 0)
        EACH_POINT(p) {
            sums[p] = 0.0;
            products[p] = 1.0;
        }
    __syncthreads();
    const u32 chunks = (rows + CHUNK - 1) / CHUNK;
    for (u32 chunk = 0; chunk < chunks; ++chunk) {
        const u32 begin = chunk * CHUNK, count = rows - begin < CHUNK ? rows - begin : CHUNK;
        for (u32 k = team; k < count; k += teams) {
            const u64 r = agent * data.rows + begin + k;
            const u32 from = data.offsets[r], to = data.offsets[r + 1];
            const double y = data.targets[r];
            EACH_POINT(p) {
                double *const slope = slopes + k * SLOPES * POINTS + p;
                const auto product = [&](u32 o) {
                    return product_of(data.columns, data.values, from, to, x + p, o);
                };
#if LOSS == 5
                const auto number_at = [&](u32 i) { return x[i * POINTS + p]; };
                const Softened softened = look_at_row<POINTS>(product, number_at, (u32)y, slope);
                losses[k * POINTS + p] = log_of(softened.sum) + softened.missing;
#else
                for (u32 o = 0; o < OUTPUTS; ++o)
                    slope[o * POINTS] = product(o);
                judge(data, y, slope, losses + k * POINTS + p, factors + k * POINTS + p);
#endif
            }
        }
        __syncthreads();
        if (team + 1 == teams && turn.at == 0)
            EACH_POINT(p) {
#if LOSS == 0
                double sum = sums[p], product = products[p];
                for (u32 k = 0; k < count; ++k) {
                    sum = sum + losses[k * POINTS + p];
                    product = product * factors[k * POINTS + p];
                }
                if (chunk + 1 == chunks || (begin + CHUNK) % FACTORS == 0) {
                    sum = sum + log_of(product);
                    product = 1.0;
                }
                sums[p] = sum;
                products[p] = product;
#else
                double part = 0.0;
                for (u32 k = 0; k < count; ++k)
                    part = part + losses[k * POINTS + p];
                sums[p] = sums[p] + part;
#endif
            }
        const u32 *const by_column = data.by_column + (agent * (u64)chunks + chunk) * (FEATURES + 1);
        const u32 *const order = data.order + agent * (u64)FEATURES;
        for (u32 turns = 0; turns * teams < FEATURES; ++turns) { // there and back, so that all have about as much
            const u32 rank = turns * teams + (turns & 1 ? teams - 1 - team : team);
            if (rank >= FEATURES)
                continue;
            const u32 column = order[rank], from = by_column[column], to = by_column[column + 1];
            EACH_POINT(p) {
                for (u32 o = 0; o < OUTPUTS; ++o) {
                    double *const of = g + (column * OUTPUTS + o) * POINTS + p;
                    double sum = *of;
                    if (data.entry_values) {
                        for (u32 entry = from; entry < to; ++entry)
                            sum = sum
                                    + slopes[(data.entry_rows[entry] * SLOPES + o) * POINTS + p]
                                            * data.entry_values[entry];
                    } else {
#pragma unroll 4
                        for (u32 entry = from; entry < to; ++entry)
                            sum = sum + slopes[(data.entry_rows[entry] * SLOPES + o) * POINTS + p];
                    }
                    *of = sum;
                }
            }
        }
#if LOSS == 5
        for (u32 c = team; c < DIM - SECOND; c += teams)
            EACH_POINT(p) {
                double sum = g[(SECOND + c) * POINTS + p];
                for (u32 k = 0; k < count; ++k)
                    sum = add_behind<POINTS>(slopes + k * SLOPES * POINTS + p, c, sum);
                g[(SECOND + c) * POINTS + p] = sum;
            }
#endif
        __syncthreads();
    }
    const u64 row = group * run.agents + agent;
    const double per_row = 1.0 / (double)rows;
    for (u32 c = team; c < DIM; c += teams)
        EACH_POINT(p) {
            const double slope = penalty_slope(data, x[c * POINTS + p]);
            run.gradients[(row * DIM + c) * POINTS + p] = g[c * POINTS + p] * per_row + slope;
        }
    if (team == 0)
        EACH_POINT(p) run.losses[row * POINTS + p] = sums[p] / (double)rows;
    __syncthreads(); // the room is used again
}

// Whether x, at `x[c * POINTS]`, classifies a test row rightly.
__device__ inline bool is_right(const Data &data, u64 r, const double *x) {
    const u32 from = data.test_offsets[r], to = data.test_offsets[r + 1];
#if LOSS == 3
    const u32 right = (u32)data.test_targets[r];
    const double best = product_of(data.test_columns, data.test_values, from, to, x, right);
    bool largest = true; // who is undecided is wrong
    for (u32 o = 0; o < OUTPUTS; ++o)
        if (o != right)
            largest = largest && product_of(data.test_columns, data.test_values, from, to, x, o) < best;
    return largest;
#elif LOSS == 5
    double z[CLASSES];
    score<1>([&](u32 o) { return product_of(data.test_columns, data.test_values, from, to, x, o); },
            [&](u32 i) { return x[i * POINTS]; }, [](u32, double) {}, z);
    const u32 right = (u32)data.test_targets[r];
    bool largest = true;
    for (u32 k = 0; k < CLASSES; ++k)
        largest = largest && (k == right || z[k] < z[right]);
    return largest;
#else
    return data.test_targets[r] * product_of(data.test_columns, data.test_values, from, to, x, 0) > 0.0;
#endif
}

// Counts the test rows of a tile that the points of a group classify rightly.
__device__ inline void count_right(const Run &run, u64 group, u32 tile) {
    const Data &data = ((const Data *)run.data)[group];
    const u32 team = threadIdx.x / LANES, teams = blockDim.x / LANES;
    EACH_POINT(p) {
        double count = 0.0; // a whole number
        for (u64 r = tile * (u64)teams + team; r < data.tests; r += TILES * (u64)teams)
            count += is_right(data, r, run.means + group * DIM * POINTS + p) ? 1.0 : 0.0;
        oneway_room[team * POINTS + p] = count;
    }
    __syncthreads();
    if (team == 0)
        EACH_POINT(p) {
            double count = 0.0;
            for (u32 other = 0; other < teams; ++other)
                count += oneway_room[other * POINTS + p];
            run.rights[(group * TILES + tile) * POINTS + p] = count;
        }
    __syncthreads();
}
