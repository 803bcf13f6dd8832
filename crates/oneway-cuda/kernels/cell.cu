// Many small runs side by side: a block takes a run and makes all its rounds, with its states in the memory
// of the multiprocessor where they fit. A team of lanes goes over an agent's coordinates.

#if FUSES

#define TILE 4

// `cells.from` and `cells.to` are the addresses of a run and of a problem for each block, and `cells.call` is
// the number of rounds. NEAR: states fit into shared memory; a compiler that knows it makes other loads and
// stores.
template <bool NEAR> __device__ inline void make_rounds(const Turn &cells) {
    const Problem problem = ((const Problem *)cells.to)[blockIdx.x];
    Run run = ((const Run *)cells.from)[blockIdx.x];
    real *const far = run.states;
    const u32 agents = (u32)run.agents, numbers = agents * (u32)run.stride;
    const u32 lane = threadIdx.x % LANES, first = threadIdx.x / LANES, teams = blockDim.x / LANES;
    u8 *const slots = (u8 *)(oneway_shared + numbers + HEARD * agents * DIM);
    if (NEAR) {
        const bool pulled = run.asked[0] == run.heard;
        for (u32 t = threadIdx.x; t < numbers; t += blockDim.x)
            oneway_shared[t] = far[t];
        for (u32 t = threadIdx.x; t < agents * DIM; t += blockDim.x)
            slots[t] = 0;
        run.states = oneway_shared;
        run.heard = oneway_shared + numbers;
        if (pulled)
            run.asked[0] = run.heard;
        __syncthreads();
    }
#if BY_TEAM
    const bool by_team = NEAR && problem.batch == 1 && problem.longest > 0 && ASKS == 1;
#else
    const bool by_team = false;
#endif
    for (u64 step = 0; step < cells.call; ++step) {
        const Turn turn = {step, 0, 0, 0, 0, 0};
        for (u32 agent = first; agent < agents; agent += teams) {
            for (u32 c = lane; c < DIM; c += TILE * LANES)
                hear_and_keep<TILE>(run, turn, agent, c, LANES);
#if BY_TEAM
            if (by_team) {
                team_meets(); // the row is whole
                prepare_by_team(problem, run, turn, agent, lane, slots + agent * DIM);
            }
#endif
        }
        __syncthreads();
        if (!by_team && PREPARES) {
            const u64 rows = preparations(problem, run);
            for (u64 r = threadIdx.x; ASKS > 0 && r < rows; r += blockDim.x)
                prepare_one(problem, run, turn, r);
            __syncthreads();
        }
        // in place: from here on nobody looks at another's state
        for (u32 agent = first; agent < agents; agent += teams) {
            for (u32 c = lane; c < DIM; c += LANES)
                finish_kept(run, turn, agent, c, run.states, [&](const real *points, real *g) {
#if BY_TEAM
                    if (by_team) {
                        g[0] = (real)gradient_by_slot(problem, agent, slots[agent * DIM + c],
                                (double)points[0]);
                        g[1] = (real)0;
                        return;
                    }
#endif
                    gradients_at(problem, run, turn, agent, c, points, g);
                });
#if BY_TEAM
            if (by_team) {
                team_meets();
                clear_by_team(problem, agent, lane, slots + agent * DIM);
            }
#endif
        }
        __syncthreads();
    }
    if (NEAR)
        for (u32 t = threadIdx.x; t < numbers; t += blockDim.x)
            far[t] = oneway_shared[t];
}

extern "C" __global__ void oneway_cells(const Run, const Problem, const Turn cells) {
    make_rounds<true>(cells);
}

extern "C" __global__ void oneway_far_cells(const Run, const Problem, const Turn cells) {
    make_rounds<false>(cells);
}

#endif
