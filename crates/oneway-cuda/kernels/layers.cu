// Softmax, and networks of two layers (problems/models/layer.rs, two_layer.rs). The numbers of a row are APART
// from one to the next.
//
// Before this text stand LOSS, OUTPUTS, CLASSES and FEATURES, as for `kernels/rows.cu`.

#if LOSS == 3 || LOSS == 5
// What a row's loss is made of: the sum of all exponentials, and how far the right score is below the largest.
struct Softened {
    double sum, missing;
};

// dl/dz = p - e_y in place of the scores z.
template <int APART> __device__ inline Softened soften(double *z, u32 y) {
    double largest = number(0xfff0000000000000ull), sum = 0.0; // from minus infinity
    for (u32 k = 0; k < CLASSES; ++k)
        largest = z[k * APART] > largest ? z[k * APART] : largest;
    const double missing = largest - z[y * APART];
    for (u32 k = 0; k < CLASSES; ++k) {
        z[k * APART] = exp_neg(largest - z[k * APART]);
        sum = sum + z[k * APART];
    }
    for (u32 k = 0; k < CLASSES; ++k)
        z[k * APART] = z[k * APART] / sum;
    z[y * APART] = z[y * APART] - 1.0;
    return Softened{sum, missing};
}
#endif

#if LOSS == 5
// Behind the first layer's weights: those of each unit for all classes, and the scores' biases.
#define SECOND (FEATURES * OUTPUTS)
#define BIASES (SECOND + OUTPUTS * CLASSES)
// Numbers of a row: dl/du of the units, their values t = tanh u, and the scores z, later dl/dz.
#define UNITS_AT OUTPUTS
#define SCORES_AT (2 * OUTPUTS)

__device__ inline double tanh_of(double u) {
    const double e = exp_neg(2.0 * absolute(u)), size = absolute((1.0 - e) / (1.0 + e));
    return number(bits_of(size) | (bits_of(u) & 0x8000000000000000ull));
}

// Scores z, one unit after another. `product(o)` is the o-th unit's u, `x(i)` number i of the point; `see(o, t)` is
// told the units' values.
template <int APART, class Product, class Point, class See>
__device__ inline void score(Product product, Point x, See see, double *z) {
    for (u32 k = 0; k < CLASSES; ++k)
        z[k * APART] = x(BIASES + k);
    for (u32 o = 0; o < OUTPUTS; ++o) {
        const double t = tanh_of(product(o));
        see(o, t);
        for (u32 k = 0; k < CLASSES; ++k)
            z[k * APART] = z[k * APART] + t * x(SECOND + o * CLASSES + k);
    }
}

// All numbers of a row of class y.
template <int APART, class Product, class Point>
__device__ inline Softened look_at_row(Product product, Point x, u32 y, double *of) {
    double *const units = of + UNITS_AT * APART, *const scores = of + SCORES_AT * APART;
    score<APART>(product, x, [&](u32 o, double t) { units[o * APART] = t; }, scores);
    const Softened softened = soften<APART>(scores, y);
    for (u32 o = 0; o < OUTPUTS; ++o) {
        const double t = units[o * APART];
        double sum = 0.0;
        for (u32 k = 0; k < CLASSES; ++k)
            sum = sum + x(SECOND + o * CLASSES + k) * scores[k * APART];
        of[o * APART] = (1.0 - t * t) * sum;
    }
    return softened;
}

// Adds what a row gives to number c behind the first layer.
template <int APART> __device__ inline double add_behind(const double *of, u32 c, double g) {
    const double slope = of[(SCORES_AT + c % CLASSES) * APART];
    return c < OUTPUTS * CLASSES ? g + of[(UNITS_AT + c / CLASSES) * APART] * slope : g + slope;
}
#endif
