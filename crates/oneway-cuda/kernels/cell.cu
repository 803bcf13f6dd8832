// Many small runs side by side: a block takes a run and makes all its rounds, with its states in the memory of the
// multiprocessor where they fit.

#if FUSES

#ifdef ON_HOST
static real oneway_shared[(1 << 18) / sizeof(real)];
#else
extern __shared__ real oneway_shared[];
#endif

// `turn.from` and `turn.to` are the addresses of a run and of a problem for each block, `turn.call` the number of
// rounds, and `turn.adds` whether states fit into shared memory.
extern "C" __global__ void oneway_cells(const Run, const Problem, const Turn cells) {
    const Problem problem = ((const Problem *)cells.to)[blockIdx.x];
    Run run = ((const Run *)cells.from)[blockIdx.x];
    real *const far = run.states;
    const u64 numbers = run.agents * run.stride, all = run.agents * (u64)DIM;
    if (cells.adds) {
        const bool pulled = run.asked[0] == run.heard;
        for (u64 t = threadIdx.x; t < numbers; t += blockDim.x)
            oneway_shared[t] = far[t];
        run.states = oneway_shared;
        run.heard = oneway_shared + numbers;
        if (pulled)
            run.asked[0] = run.heard;
        __syncthreads();
    }
    for (u64 step = 0; step < cells.call; ++step) {
        const Turn turn = {step, 0, 0, 0, 0, 0};
        for (u32 t = threadIdx.x; t < (u32)all; t += blockDim.x)
            hear_and_keep(run, turn, t / DIM, t % DIM);
        __syncthreads();
#if PREPARES
        const u64 rows = preparations(problem, run);
        for (u64 r = threadIdx.x; ASKS > 0 && r < rows; r += blockDim.x)
            prepare_one(problem, run, turn, r);
        __syncthreads();
#endif
        // in place: from here on nobody looks at another's state
        for (u32 t = threadIdx.x; t < (u32)all; t += blockDim.x)
            finish_kept(problem, run, turn, t / DIM, t % DIM, run.states);
        __syncthreads();
    }
    if (cells.adds)
        for (u64 t = threadIdx.x; t < numbers; t += blockDim.x)
            far[t] = oneway_shared[t];
}

#endif
