// What a CUDA compiler knows by itself, for a host's C++ compiler: kernels run block by block, thread by thread.
//
// Kernels go over their work in strides of all threads, so that any number of threads does the same work. With
// more than one thread a block's threads are real ones, which meet at barriers.
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#define __device__
#define __global__
#define __host__
#define __forceinline__ inline
#define __shared__ static
using std::sqrt;

struct Place {
    unsigned x;
};
static thread_local Place threadIdx, blockIdx, blockDim, gridDim;

static inline double __longlong_as_double(long long bits) {
    double x;
    std::memcpy(&x, &bits, 8);
    return x;
}
static inline long long __double_as_longlong(double x) {
    long long bits;
    std::memcpy(&bits, &x, 8);
    return bits;
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}

// A barrier that threads meet at again and again.
struct Barrier {
    unsigned threads = 1;
    std::atomic<unsigned> waiting{0}, passed{0};

    void wait() {
        const unsigned now = passed.load();
        if (waiting.fetch_add(1) + 1 == threads) {
            waiting.store(0);
            passed.fetch_add(1);
        } else {
            while (passed.load() == now)
                std::this_thread::yield();
        }
    }
};
static Barrier barrier;
static inline void __syncthreads() {
    if (blockDim.x > 1)
        barrier.wait();
}
