// What a CUDA compiler knows by itself, for a host's C++ compiler: kernels run block by block, thread by
// thread.
//
// Kernels go over their work in strides of all threads, so that any number of threads does the same work.
// With more than one, a block's threads are real ones, which meet at barriers. No header of a library is
// needed.

#define ON_HOST 1
#define __device__
#define __global__
#define __noinline__
#define __launch_bounds__(...)

struct Place {
    unsigned x;
};
static thread_local Place threadIdx, blockIdx, blockDim, gridDim;

static inline double sqrt(double x) { return __builtin_sqrt(x); }
static inline float sqrtf(float x) { return __builtin_sqrtf(x); }
static inline double __longlong_as_double(long long bits) {
    double x;
    __builtin_memcpy(&x, &bits, 8);
    return x;
}
static inline long long __double_as_longlong(double x) {
    long long bits;
    __builtin_memcpy(&bits, &x, 8);
    return bits;
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}

// A barrier that the threads of a block meet at again and again.
extern "C" int sched_yield(void);
static unsigned waiting, passed;
static inline void __syncthreads() {
    if (blockDim.x <= 1)
        return;
    const unsigned now = __atomic_load_n(&passed, __ATOMIC_SEQ_CST);
    if (__atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST) == blockDim.x) {
        __atomic_store_n(&waiting, 0, __ATOMIC_SEQ_CST);
        __atomic_add_fetch(&passed, 1, __ATOMIC_SEQ_CST);
    } else {
        while (__atomic_load_n(&passed, __ATOMIC_SEQ_CST) == now)
            sched_yield();
    }
}
