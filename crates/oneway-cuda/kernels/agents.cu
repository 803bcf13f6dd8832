// Numbers of one coordinate of all agents, vector by vector, in a thread's registers: AGENTS stands before.

// An agent's, and back.
template <int COUNT, int ROOM>
__device__ inline void take(const real (&all)[ROOM][AGENTS], u32 agent, real *one) {
#pragma unroll
    for (int v = 0; v < COUNT; ++v)
        one[v] = all[v][agent];
}

template <int COUNT, int ROOM>
__device__ inline void put(real (&all)[ROOM][AGENTS], u32 agent, const real *one) {
#pragma unroll
    for (int v = 0; v < COUNT; ++v)
        all[v][agent] = one[v];
}

// What all agents send of their states.
__device__ inline void send_all(const Run &run, const Step &step, const real (&state)[KEPT][AGENTS],
                                real (&sent)[HEARD + 1][AGENTS]) {
#pragma unroll
    for (u32 agent = 0; agent < AGENTS; ++agent) {
        real one[KEPT], messages[HEARD + 1];
        take<KEPT>(state, agent, one);
        rule_send(run, 0, at_of(run, step, agent, (real)1), one, messages);
        put<HEARD>(sent, agent, messages);
    }
}
