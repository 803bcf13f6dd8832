// Numbers, draws and functions: the arithmetic of crates/oneway/src/numeric, operation by operation.
//
// Nothing here calls a library for anything but a square root. Sources are compiled without contraction
// (--fmad=false), so that a multiplication and an addition are two roundings, as on the CPU.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

// Threads that go over an agent's coordinates together where a block has several agents, and what one of them
// has.
#ifdef ON_HOST
#define LANES 1
__device__ inline double of_lane(double x, u32) { return x; }
__device__ inline void team_meets() {}
#else
#define LANES 32
__device__ inline double of_lane(double x, u32 lane) { return __shfl_sync(0xffffffffu, x, lane); }
__device__ inline void team_meets() { __syncwarp(); }
#endif

// A number by its bits.
__device__ inline double number(u64 bits) { return __longlong_as_double((long long)bits); }
__device__ inline u64 bits_of(double x) { return (u64)__double_as_longlong(x); }
__device__ inline double root(double x) { return sqrt(x); }
__device__ inline float root(float x) { return sqrtf(x); }
__device__ inline double absolute(double x) { return number(bits_of(x) & 0x7fffffffffffffffull); }

// a / b without a branch: the very steps of the compiler's own division, which round correctly where nothing
// overflows or vanishes on the way. A zero gives a zero, of any sign.
__device__ inline double quick_quotient(double a, double b) {
#ifdef ON_HOST
    return a / b;
#else
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
    r = number(bits_of(r) | 1); // its low half is zero
    double e = __fma_rn(-b, r, 1.0);
    e = __fma_rn(e, e, e);
    r = __fma_rn(r, e, r);
    e = __fma_rn(-b, r, 1.0);
    r = __fma_rn(r, e, r);
    const double q = a * r;
    return __fma_rn(r, __fma_rn(-b, q, a), q);
#endif
}

// Whether x is zero, or 2^-400 <= |x| < 2^49.
__device__ inline bool is_ordinary(double x) {
    const u32 high = (u32)(bits_of(x) >> 32), low = (u32)bits_of(x), size = high & 0x7fffffffu;
    return (size - 0x26f00000u < 0x1c100000u) | ((size | low) == 0);
}

// The four words of block `block` of a stream: Philox4x32-10 (docs/bit-contract.md, "Draws").
struct Words {
    u32 w[4];
};

__device__ inline Words philox(u64 seed, u32 block, u32 agent, u32 round, u32 purpose) {
    u32 c0 = block, c1 = agent, c2 = round, c3 = purpose;
    u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
    for (int r = 0; r < 10; ++r) {
        const u64 p0 = (u64)c0 * 0xd2511f53u, p1 = (u64)c2 * 0xcd9e8d57u;
        const u32 n0 = (u32)(p1 >> 32) ^ c1 ^ k0, n2 = (u32)(p0 >> 32) ^ c3 ^ k1;
        c1 = (u32)p1;
        c3 = (u32)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return Words{{c0, c1, c2, c3}};
}

// Where draws are made: an agent's samples of one exchange.
struct Stream {
    u64 seed;
    u32 agent, round, purpose;
};

// The `at`-th 64 random bits of a stream.
__device__ inline u64 random_bits(const Stream &stream, u32 at) {
    const Words words = philox(stream.seed, at >> 1, stream.agent, stream.round, stream.purpose);
    return at & 1 ? words.w[2] | (u64)words.w[3] << 32 : words.w[0] | (u64)words.w[1] << 32;
}

// What SplitMix64 makes of a state.
__device__ inline u64 mixed(u64 z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

// 64 bits as a whole number in 0..bound, and as a number in (0, 1).
__device__ inline u64 below(u64 bits, u64 bound) { return __umul64hi(bits, bound); }
__device__ inline double unit(u64 bits) {
    const double whole = number(0x4330000000000000ull | bits >> 12) - 4503599627370496.0;
    return (whole + 0.5) * (1.0 / 4503599627370496.0);
}

#define SHUFFLE_STEPS 24

// The number at a place of a random order of 0..m (numeric/sample/order.rs): that of pass `pass` over the numbers, of
// the `sequence`-th sequence of a stream.
__device__ inline u64 at_place(Stream stream, u32 sequence, u32 pass, u64 m, u64 place) {
    stream.round = pass;
    const u32 first = 0x80000000u + sequence * (SHUFFLE_STEPS / 2);
    u64 at = place;
    for (u32 block = 0; block < SHUFFLE_STEPS / 2; ++block) {
        const Words words = philox(stream.seed, first + block, stream.agent, stream.round, stream.purpose);
        for (u32 half = 0; half < 2; ++half) {
            const u64 key = words.w[2 * half] | (u64)words.w[2 * half + 1] << 32;
            const u64 sum = below(key, m), other = at <= sum ? sum - at : sum + m - at;
            if (mixed(key + (at > other ? at : other)) >> 63)
                at = other;
        }
    }
    return at;
}

#define LN2_HIGH 6.931471803691238e-1
#define LN2_LOW 1.9082149292705877e-10
#define ROUND_TO_WHOLE 6755399441055744.0

// 1/j!, and the coefficients of the sine's and the cosine's series, as the library makes them.
__device__ constexpr double inverse_factorial(int j) { return j == 0 ? 1.0 : inverse_factorial(j - 1) / j; }
__device__ constexpr double turning(int odd, int j) {
    return j == 0 ? 1.0 : -turning(odd, j - 1) / ((2 * j + odd) * (2 * j + odd - 1));
}

// e^-a for a >= 0 (problems/logistic/link.rs).
__device__ inline double exp_neg(double a) {
    a = a > 708.0 ? 708.0 : a;
    const double shifted = a * 1.44269504088896340736 + ROUND_TO_WHOLE;
    const double k = shifted - ROUND_TO_WHOLE;
    const double r = (k * LN2_HIGH - a) + k * LN2_LOW;
    constexpr double c0 = inverse_factorial(0), c1 = inverse_factorial(1), c2 = inverse_factorial(2),
                     c3 = inverse_factorial(3), c4 = inverse_factorial(4), c5 = inverse_factorial(5),
                     c6 = inverse_factorial(6), c7 = inverse_factorial(7), c8 = inverse_factorial(8),
                     c9 = inverse_factorial(9), c10 = inverse_factorial(10), c11 = inverse_factorial(11),
                     c12 = inverse_factorial(12), c13 = inverse_factorial(13);
    const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    const double p01 = (c0 + c1 * r) + (c2 + c3 * r) * r2;
    const double p23 = (c4 + c5 * r) + (c6 + c7 * r) * r2;
    const double p45 = (c8 + c9 * r) + (c10 + c11 * r) * r2;
    const double p6 = c12 + c13 * r;
    const double series = (p01 + p23 * r4) + (p45 + p6 * r4) * r8;
    return series * number((1023ull << 52) - (bits_of(shifted) << 52));
}

// e^x - 1 for x <= 0, as the `libm` crate has it (FreeBSD's s_expm1.c), operation by operation.
__device__ inline double expm1_below(double x) {
    const u32 size = (u32)(bits_of(x) >> 32) & 0x7fffffffu;
    if (size >= 0x4043687au) // 56 ln 2
        return x != x ? x : -1.0;
    if (size < 0x3c900000u) // 2^-54
        return x;
    int k = 0;
    double c = 0.0;
    if (size > 0x3fd62e42u) { // ln 2 / 2: what is left of x without k of ln 2, and what that has lost
        if (size < 0x3ff0a2b2u)
            k = -1;
        else
            k = (int)(1.44269504088896338700 * x + -0.5);
        const double t = (double)k, high = x - t * LN2_HIGH, low = t * LN2_LOW;
        x = high - low;
        c = (high - x) - low;
    }
    const double half = 0.5 * x, z = x * half;
    const double r = 1.0
            + z * (number(0xbfa11111111110f4ull)
                   + z * (number(0x3f5a01a019fe5585ull)
                          + z * (number(0xbf14ce199eaadbb7ull)
                                 + z * (number(0x3ed0cfca86e65239ull) + z * number(0xbe8afdb76e09c32dull)))));
    const double t = 3.0 - r * half, first = z * ((r - t) / (6.0 - x * t));
    if (k == 0)
        return x - (x * first - z);
    const double e = x * (first - c) - c - z;
    if (k == -1)
        return 0.5 * (x - e) - 0.5;
    return (x - e + 1.0) * number((u64)(0x3ff + k) << 52) - 1.0;
}

// ln u for u in (0, 1) (numeric/sample/normal.rs).
__device__ inline double ln_unit(double u) {
    const u64 one = 0x3ff0000000000000ull, least = 0x3fe6a09e667f3bcdull; // 1 and sqrt(1/2)
    const u64 shifted = bits_of(u) + (one - least);
    const double k = number(shifted >> 52 | 0x4330000000000000ull) - (4503599627370496.0 + 1023.0);
    const double m = number((shifted & 0xfffffffffffffull) + least);
    const double f = m - 1.0, s = f / (2.0 + f), t = s * s, t2 = t * t, t4 = t2 * t2;
    constexpr double c1 = 1.0 / 3, c2 = 1.0 / 5, c3 = 1.0 / 7, c4 = 1.0 / 9, c5 = 1.0 / 11, c6 = 1.0 / 13,
                     c7 = 1.0 / 15, c8 = 1.0 / 17, c9 = 1.0 / 19, c10 = 1.0 / 21;
    const double p01 = (c1 + c2 * t) + (c3 + c4 * t) * t2;
    const double p23 = (c5 + c6 * t) + (c7 + c8 * t) * t2;
    const double p4 = c9 + c10 * t;
    const double series = t * (p01 + (p23 + p4 * t4) * t4);
    return k * LN2_HIGH + (2.0 * s + (2.0 * s * series + k * LN2_LOW));
}

template <int ODD> __device__ inline double turn_series(double z) {
    constexpr double c1 = turning(ODD, 1), c2 = turning(ODD, 2), c3 = turning(ODD, 3), c4 = turning(ODD, 4),
                     c5 = turning(ODD, 5), c6 = turning(ODD, 6), c7 = turning(ODD, 7), c8 = turning(ODD, 8);
    const double z2 = z * z, z4 = z2 * z2;
    const double p1 = (c1 + c2 * z) + (c3 + c4 * z) * z2;
    const double p2 = (c5 + c6 * z) + (c7 + c8 * z) * z2;
    return z * (p1 + p2 * z4);
}

// cos 2*pi*t for even `which`, sin 2*pi*t for odd, t in [0, 1].
__device__ inline double cos_or_sin_of_turn(double t, u32 which) {
    const double shifted = 4.0 * t + ROUND_TO_WHOLE;
    const u64 q = bits_of(shifted);
    const double angle = 6.283185307179586 * (t - 0.25 * (shifted - ROUND_TO_WHOLE));
    const double z = angle * angle;
    const bool sine = ((q + which) & 1) != 0; // quarters of a turn change places
    const double value = sine ? angle + angle * turn_series<1>(z) : 1.0 + turn_series<0>(z);
    const u64 quarter = which & 1 ? q : q + 1;
    return number(bits_of(value) ^ (quarter & 2) << 62);
}

// The `at`-th standard normal of a stream, where nothing else is drawn from it: by Box and Muller, in pairs.
__device__ inline double normal(const Stream &stream, u32 at) {
    const Words words = philox(stream.seed, at >> 1, stream.agent, stream.round, stream.purpose);
    const double u1 = unit(words.w[0] | (u64)words.w[1] << 32), u2 = unit(words.w[2] | (u64)words.w[3] << 32);
    return root(-2.0 * ln_unit(u1)) * cos_or_sin_of_turn(u2, at & 1);
}
