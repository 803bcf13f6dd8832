// The logarithms that losses take, as the `libm` crate has them (FreeBSD's e_log.c and s_log1p.c), operation
// by operation.

// What is left of a logarithm when the power of two is taken out: of 1 + f, sqrt(1/2) < 1 + f < sqrt(2).
struct Series {
    double half_square, s, sum;
};

__device__ inline Series series_of(double f) {
    const double half_square = 0.5 * f * f, s = f / (2.0 + f), z = s * s, w = z * z;
    const double t1 = w * (number(0x3fd999999997fa04ull)
                          + w * (number(0x3fcc71c51d8e78afull) + w * number(0x3fc39a09d078c69full)));
    const double t2 = z * (number(0x3fe5555555555593ull)
                          + w * (number(0x3fd2492494229359ull)
                                 + w * (number(0x3fc7466496cb03deull) + w * number(0x3fc2f112df3e5244ull))));
    return Series{half_square, s, t2 + t1};
}

#define LEAST_HIGH 0x3fe6a09eu // of sqrt(1/2)

// ln x for x >= 0 that is no subnormal number (sums and products of losses: at least 1); others as they are.
__device__ inline double log_of(double x) {
    const u64 bits = bits_of(x);
    u32 high = (u32)(bits >> 32);
    if (high >= 0x7ff00000u)
        return x; // infinite, or no number
    if (high == 0x3ff00000u && (u32)bits == 0)
        return 0.0;
    high += 0x3ff00000u - LEAST_HIGH;
    const int k = (int)(high >> 20) - 0x3ff;
    high = (high & 0xfffffu) + LEAST_HIGH;
    const double f = number((u64)high << 32 | (bits & 0xffffffffull)) - 1.0;
    const Series of = series_of(f);
    const double dk = (double)k;
    return of.s * (of.half_square + of.sum) + dk * LN2_LOW - of.half_square + f + dk * LN2_HIGH;
}

// ln(1 + x) for x >= 0.
__device__ inline double log1p_of(double x) {
    const u64 bits = bits_of(x);
    const u32 high = (u32)(bits >> 32);
    int k = 1;
    double f = 0.0, c = 0.0;
    if (high < 0x3fda827au) {
        if (high << 1 < 0x3ca00000u << 1)
            return x;
        k = 0;
        f = x;
    } else if (high >= 0x7ff00000u) {
        return x;
    }
    if (k > 0) {
        const double u = 1.0 + x;
        u32 above = (u32)(bits_of(u) >> 32) + (0x3ff00000u - LEAST_HIGH);
        k = (int)(above >> 20) - 0x3ff;
        if (k < 54) {
            c = k >= 2 ? 1.0 - (u - x) : x - (u - 1.0);
            c = c / u;
        }
        above = (above & 0xfffffu) + LEAST_HIGH;
        f = number((u64)above << 32 | (bits_of(u) & 0xffffffffull)) - 1.0;
    }
    const Series of = series_of(f);
    const double dk = (double)k;
    return of.s * (of.half_square + of.sum) + (dk * LN2_LOW + c) - of.half_square + f + dk * LN2_HIGH;
}
