// SHA-256 of a run's states, agents ascending, as little-endian bits of their numbers (FIPS 180-4; the hash
// of engine/mod.rs). All that are no numbers count as one.

__device__ const u32 sha_constants[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#ifdef ON_HOST
static inline u32 bits_of_single(float x) {
    u32 bits;
    __builtin_memcpy(&bits, &x, 4);
    return bits;
}
#else
__device__ inline u32 bits_of_single(float x) { return __float_as_uint(x); }
#endif

__device__ inline u32 turned(u32 x, u32 by) { return x >> by | x << (32 - by); }
__device__ inline u32 bytes_reversed(u32 x) {
    return x >> 24 | (x >> 8 & 0xff00u) | (x << 8 & 0xff0000u) | x << 24;
}

// Takes 16 words into a hash.
__device__ inline void sha_block(u32 *h, u32 *w) {
    u32 a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], i = h[7];
#pragma unroll
    for (int t = 0; t < 64; ++t) {
        if (t >= 16) {
            const u32 before = w[(t - 15) & 15], last = w[(t - 2) & 15];
            w[t & 15] += (turned(before, 7) ^ turned(before, 18) ^ before >> 3) + w[(t - 7) & 15]
                    + (turned(last, 17) ^ turned(last, 19) ^ last >> 10);
        }
        const u32 t1 = i + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g))
                + sha_constants[t] + w[t & 15];
        const u32 t2 = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        i = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += i;
}

// The `at`-th word of what is hashed: of the numbers, of the mark behind them, or of their length in bits.
__device__ inline u32 sha_word(const Run &run, const Seat &seat, u64 at, u64 words, u64 all) {
    const u32 each = sizeof(real) / 4;
    if (at < words) {
        const u64 t = at / each;
        const real x = seat.states[t / run.width * seat.stride + t % run.width];
        u32 part[2];
        if (each == 2) {
            const u64 bits = x == x ? bits_of((double)x) : 0x7ff8000000000000ull;
            part[0] = (u32)bits;
            part[1] = (u32)(bits >> 32);
        } else {
            part[0] = x == x ? bits_of_single((float)x) : 0x7fc00000u;
            part[1] = 0;
        }
        return bytes_reversed(part[at % each]);
    }
    if (at == words)
        return 0x80000000u;
    return at + 2 < all ? 0 : (u32)(words * 32 >> (at + 2 == all ? 32 : 0));
}

// A thread takes a seat.
KERNEL(hash) {
    const u64 words = run.agents * run.width * (sizeof(real) / 4), all = (words + 3 + 15) / 16 * 16;
    for (u64 at = blockIdx.x * (u64)blockDim.x + threadIdx.x; at < run.groups * POINTS;
            at += gridDim.x * (u64)blockDim.x) {
        const Seat seat = run.seats[at];
        u32 h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
        for (u64 block = 0; block < all; block += 16) {
            u32 w[16];
#pragma unroll
            for (int t = 0; t < 16; ++t)
                w[t] = sha_word(run, seat, block + t, words, all);
            sha_block(h, w);
        }
        for (int t = 0; t < 4; ++t)
            run.flags[at * 4 + t] = (u64)h[2 * t] << 32 | h[2 * t + 1];
    }
}
