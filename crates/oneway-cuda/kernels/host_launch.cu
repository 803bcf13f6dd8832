// One thread of a kernel on the host, in all of its blocks, one after another.
extern "C" void oneway_on_host(void (*kernel)(const Run, const Problem, const Turn), const Run *run,
                               const Problem *problem, const Turn *turn, unsigned blocks, unsigned threads,
                               unsigned thread) {
    for (unsigned block = 0; block < blocks; ++block) {
        threadIdx.x = thread;
        blockIdx.x = block;
        blockDim.x = threads;
        gridDim.x = blocks;
        kernel(*run, *problem, *turn);
        __syncthreads();
    }
}

// The bytes of what is handed to kernels, for the host to compare.
extern "C" void oneway_sizes(unsigned long long *sizes) {
    sizes[0] = sizeof(Run);
    sizes[1] = sizeof(Problem);
    sizes[2] = sizeof(Turn);
}
