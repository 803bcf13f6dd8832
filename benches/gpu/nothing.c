// NVIDIA's driver and compiler of kernels, but they do nothing: memory is a number, kernels are not run, and what
// is read back is zero. What a command then takes is the host's own work (benches/gpu/host-side).
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t address;

static atomic_ulong next_address = 1ul << 40, allocations, writes, bytes_written, reads, launches;

static int give(void **place, uintptr_t what) {
    *place = (void *)what;
    return 0;
}

// An H200's numbers, as far as anybody asks.
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    switch (attribute) {
    case 16: *value = 132; break;    // multiprocessors
    case 39: *value = 2048; break;   // threads on each
    case 75: *value = 9; break;      // compute capability 9.0
    case 76: *value = 0; break;
    case 97: *value = 232448; break; // bytes that a block can share
    default: *value = 1;
    }
    return 0;
}
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = 0; }
int cuDeviceGetName(char *name, int room, int device) { return strncpy(name, "nothing", room), 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return give(context, 1); }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuCtxGetCurrent(void **context) { return give(context, 1); }
int cuGetErrorString(int error, const char **text) { return *text = "nothing", 0; }

int cuStreamCreate(void **stream, unsigned flags) { return give(stream, 2); }
int cuStreamDestroy_v2(void *stream) { return 0; }
int cuStreamSynchronize(void *stream) { return 0; }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) { return 0; }
int cuStreamBeginCapture_v2(void *stream, int mode) { return 0; }
int cuStreamEndCapture(void *stream, void **graph) { return give(graph, 3); }
int cuGraphInstantiateWithFlags(void **recorded, void *graph, unsigned long flags) { return give(recorded, 4); }
int cuGraphLaunch(void *recorded, void *stream) { return 0; }
int cuGraphExecDestroy(void *recorded) { return 0; }
int cuGraphDestroy(void *graph) { return 0; }

int cuMemAllocAsync(address *place, size_t bytes, void *stream) {
    ++allocations;
    *place = atomic_fetch_add(&next_address, (bytes + 511) / 512 * 512);
    return 0;
}
int cuMemAlloc_v2(address *place, size_t bytes) { return cuMemAllocAsync(place, bytes, NULL); }
int cuMemFreeAsync(address place, void *stream) { return 0; }
int cuMemFree_v2(address place) { return 0; }
int cuMemsetD8Async(address place, unsigned char value, size_t bytes, void *stream) { return 0; }
int cuMemcpyHtoDAsync_v2(address place, const void *from, size_t bytes, void *stream) {
    ++writes;
    bytes_written += bytes;
    return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, address place, size_t bytes, void *stream) {
    ++reads;
    memset(to, 0, bytes);
    return 0;
}

int cuModuleLoadData(void **module, const void *text) { return give(module, 5); }
int cuModuleUnload(void *module) { return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) { return give(function, 6); }
int cuFuncSetAttribute(void *function, int attribute, int value) { return 0; }
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned v, unsigned w,
                   unsigned shared, void *stream, void **arguments, void **more) {
    ++launches;
    return 0;
}

int nvrtcVersion(int *major, int *minor) { return *major = 13, *minor = 0; }
int nvrtcCreateProgram(void **program, const char *text, const char *name, int headers, const char *const *a,
                       const char *const *b) {
    return give(program, 7);
}
int nvrtcCompileProgram(void *program, int count, const char *const *options) { return 0; }
int nvrtcGetPTXSize(void *program, size_t *size) { return *size = sizeof "nothing", 0; }
int nvrtcGetPTX(void *program, char *text) { return strcpy(text, "nothing"), 0; }
int nvrtcDestroyProgram(void **program) { return 0; }

__attribute__((destructor)) static void say(void) {
    if (allocations > 0)
        fprintf(stderr, "asked of the device: %lu allocations, %lu writes of %lu MB, %lu launches, %lu reads\n",
                allocations, writes, bytes_written / 1000000, launches, reads);
}
