// Runs a kernel on the host: its blocks one after another.

extern "C" void oneway_on_host(void (*kernel)(const Run, const Problem, const Turn), const Run *run,
                               const Problem *problem, const Turn *turn, unsigned blocks, unsigned threads) {
    auto work = [=](unsigned thread) {
        for (unsigned block = 0; block < blocks; ++block) {
            threadIdx = {thread};
            blockIdx = {block};
            blockDim = {threads};
            gridDim = {blocks};
            kernel(*run, *problem, *turn);
            __syncthreads();
        }
    };
    if (threads <= 1)
        return work(0);
    barrier.threads = threads;
    std::vector<std::thread> others;
    for (unsigned thread = 1; thread < threads; ++thread)
        others.emplace_back(work, thread);
    work(0);
    for (auto &other : others)
        other.join();
}

// The sizes of what is handed to kernels, for the host to compare.
extern "C" void oneway_sizes(unsigned long long *sizes) {
    sizes[0] = sizeof(Run);
    sizes[1] = sizeof(Problem);
    sizes[2] = sizeof(Turn);
    sizes[3] = sizeof(Step);
}
