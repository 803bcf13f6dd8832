// A run's states, messages and network, and what one coordinate of one agent does in an exchange.
//
// Before this text stand: `real`, the numbers of states; DIM, the dimension; KEPT, PULLS, PUSHES, the vectors
// of a state and of the two messages; HELD, pairs of rows behind a state; CARRIES, what an agent has besides (0 nothing, 1 push-sum's weight, 2
// its row of R^k); EXCHANGES; ASK, the gradients of each exchange; and `coordinate`, which counts coordinates
// of all agents. The rule's own functions are printed from its program.

#define HEARD (PULLS + PUSHES)

// What is the same for all agents in a round.
struct Step {
    double eta;
    double constants[2];
    u32 pair;  // which matrices of the period
    u32 round; // whose samples
};

struct Range {
    u32 begin, end;
};

// A mixing matrix by receiver, senders ascending; those of a period one after another.
struct Links {
    const Range *ranges; // agents times the period
    const u32 *senders;
    const double *weights; // of each entry; or of each code
    const u8 *codes;       // null where weights are one by one

    __device__ inline real weight(u32 entry) const {
        return (real)(codes ? weights[codes[entry]] : weights[entry]);
    }
};

struct Run {
    u64 agents;
    u64 stride; // from one state row to the next
    u64 seed;
    real *states;
    real *next_states; // where the next states go, if not in the place of the old
    real *sent;        // PULLS + PUSHES vectors of all agents
    real *next_sent;   // where those of the next round go, if not in the place of the old
    real *heard;       // the same, mixed
    real *points;      // x+ and x of all agents
    real *gradients[2]; // the gradient, and the other one
    real *carried;     // what is carried, mixed
    const double *start;
    const double *parameters;
    const Step *steps;
    const double *kept; // C_ii of all agents times the period
    Links pull, push;
    real *asked[2]; // where gradients are taken: in `points`, or in what was pulled
    u64 relays;     // how often what arrived is sent on, before the rule looks at it
    u64 alone;      // rounds that an agent makes with itself after the last exchange
};

// Which part of a round is done.
struct Turn {
    u64 step;  // row of the table of steps
    u64 phase; // exchange of the rule, and in the upper half of the network: each draws samples of its own
    u64 call;  // which gradient of the exchange; how many points or gradients there are, for other parts
    u64 from;  // where it is taken: at the next point (0) or at the last (1); whether what is held is sent on
    u64 to;    // the gradient (0) or the other (1); whether a round leaves a whole state behind, or only holds
               // what was heard
    u64 adds;  // it is put there (0), added to what is there (1), or to zero (2)
};

__device__ inline u32 scalars_of(const Run &run) {
    return CARRIES == 0 ? 0 : CARRIES == 1 ? 1 : (u32)run.agents;
}

__device__ inline real *state_of(const Run &run, u64 agent) { return run.states + agent * run.stride; }

// What an agent carries besides coordinates.
__device__ inline real &carried_of(const Run &run, u64 agent, u64 s) {
    return state_of(run, agent)[KEPT * (u64)DIM + s];
}

// Behind its state an agent holds a pull row and a push row for each of: what it sends on, if anything, and what
// it sent to itself. What is carried stands behind the vectors of its row.
struct Pair {
    real *rows;
    u64 scalars;

    __device__ inline real &at(u32 v, u64 c) const {
        return rows[v * (u64)DIM + (CARRIES == 2 && v >= PULLS ? scalars : 0) + c];
    }
    __device__ inline real &carried(u64 s) const { return rows[(CARRIES == 2 ? PULLS : HEARD) * (u64)DIM + s]; }
};

__device__ inline Pair held_of(const Run &run, u64 agent, u64 pair) {
    const u64 scalars = scalars_of(run), begin = KEPT * (u64)DIM + scalars;
    return Pair{state_of(run, agent) + begin + pair * (HEARD * (u64)DIM + scalars), scalars};
}

// Numbers of a state row.
__device__ inline u64 width_of(const Run &run) {
    return KEPT * (u64)DIM + scalars_of(run) + HELD * (HEARD * (u64)DIM + scalars_of(run));
}

// The numbers that every program of a rule begins with: eta, w, C_ii and the two constants of the round.
struct At {
    real number[5];
};

__device__ inline At at_of(const Run &run, const Step &step, u64 agent, real w) {
    At at;
    at.number[0] = (real)step.eta;
    at.number[1] = w;
    at.number[2] = run.kept ? (real)run.kept[step.pair * run.agents + agent] : (real)0;
    at.number[3] = (real)step.constants[0];
    at.number[4] = (real)step.constants[1];
    return at;
}

// What a rule does, printed from its program.
__device__ inline void rule_start(const Run &run, const At &at, real x, const real *g, real *state);
__device__ inline void rule_send(const Run &run, u32 phase, const At &at, const real *state, real *sent);
__device__ inline void rule_points(const Run &run, u32 phase, const At &at, const real *state,
                                   const real *heard, real *points);
__device__ inline void rule_update(const Run &run, u32 phase, const At &at, const real *state,
                                   const real *heard, const real *g, real *next);

__device__ inline void load_state(const Run &run, u64 agent, u64 c, real *state) {
    const real *row = state_of(run, agent) + c;
#pragma unroll
    for (int v = 0; v < KEPT; ++v)
        state[v] = row[v * (u64)DIM];
}

// The bit contract's sum over whom an agent hears, of `COUNT` numbers side by side: senders ascending, the
// first term assigned, multiplied and then added. `load(sender, terms)` gives a sender's.
template <int COUNT, class Load>
__device__ inline void mix(const Links &links, const Range range, Load load, real *sums) {
#pragma unroll
    for (int v = 0; v < COUNT; ++v)
        sums[v] = (real)0;
    if (range.begin == range.end)
        return; // a push row may hear no one, not even itself
    real terms[COUNT > 0 ? COUNT : 1];
    load(links.senders[range.begin], terms);
    real weight = links.weight(range.begin);
#pragma unroll
    for (int v = 0; v < COUNT; ++v)
        sums[v] = weight * terms[v];
    for (u32 entry = range.begin + 1; entry < range.end; ++entry) {
        load(links.senders[entry], terms);
        weight = links.weight(entry);
#pragma unroll
        for (int v = 0; v < COUNT; ++v)
            sums[v] = sums[v] + weight * terms[v];
    }
}

__device__ inline Range range_of(const Links &links, const Run &run, const Step &step, u64 agent) {
    return links.ranges[step.pair * run.agents + agent];
}

// What is carried besides coordinates, mixed: number s of an agent. `held`: of what is sent on.
__device__ inline real mix_carried(const Run &run, const Step &step, u64 agent, u32 s, bool held = false) {
    const Links &links = CARRIES == 1 ? run.push : run.pull;
    real sum[1];
    mix<1>(
        links, range_of(links, run, step, agent),
        [&](u32 sender, real *terms) {
            terms[0] = HELD && held ? held_of(run, sender, 0).carried(s) : carried_of(run, sender, s);
        },
        sum);
    return sum[0];
}

// The weight that an agent has after the exchange, once what is carried is mixed.
__device__ inline real weight_of(const Run &run, u64 agent) {
    return CARRIES == 0 ? (real)1 : CARRIES == 1 ? run.carried[agent] : run.carried[agent
            * run.agents + agent];
}

// --- the parts of an exchange, for one coordinate c of an agent; t counts coordinates of all agents

// What an agent sends of its state.
__device__ inline void messages_of(const Run &run, const Turn &turn, u64 agent, u64 c, real *sent) {
    real state[KEPT];
    load_state(run, agent, c, state);
    rule_send(run, (u32)turn.phase, at_of(run, run.steps[turn.step], agent, (real)1), state, sent);
}

__device__ inline void send_one(const Run &run, const Turn &turn, coordinate t) {
    const u64 agent = t / (coordinate)DIM, c = t % (coordinate)DIM, all = run.agents * (u64)DIM;
    real sent[HEARD + 1];
    messages_of(run, turn, agent, c, sent);
#pragma unroll
    for (int v = 0; v < HEARD; ++v)
        run.sent[v * all + t] = HELD && turn.from > 0 ? held_of(run, agent, 0).at(v, c) : sent[v];
}

// Where gradients are taken, kept until they are made: at the two points of a rule that has heard.
__device__ inline void keep_points(const Run &run, const Turn &turn, u64 agent, u64 c, coordinate t,
                                   const real *heard) {
    if (turn.call == 0 || run.asked[0] == run.heard)
        return;
    real state[KEPT], points[2];
    load_state(run, agent, c, state);
    const At at = at_of(run, run.steps[turn.step], agent, weight_of(run, agent));
    rule_points(run, (u32)turn.phase, at, state, heard, points);
    run.points[t] = points[0];
    run.asked[1][t] = points[1];
}

__device__ inline void hear_one(const Run &run, const Turn &turn, coordinate t) {
    const u64 agent = t / (coordinate)DIM, c = t % (coordinate)DIM, all = run.agents * (u64)DIM;
    const Step step = run.steps[turn.step];
    real heard[HEARD + 1];
    mix<PULLS>(
        run.pull, range_of(run.pull, run, step, agent),
        [&](u32 sender, real *terms) {
#pragma unroll
            for (int v = 0; v < PULLS; ++v)
                terms[v] = run.sent[v * all + sender * (u64)DIM + c];
        },
        heard);
    mix<PUSHES>(
        run.push, range_of(run.push, run, step, agent),
        [&](u32 sender, real *terms) {
#pragma unroll
            for (int v = 0; v < PUSHES; ++v)
                terms[v] = run.sent[(PULLS + v) * all + sender * (u64)DIM + c];
        },
        heard + PULLS);
#pragma unroll
    for (int v = 0; v < HEARD; ++v)
        run.heard[v * all + t] = heard[v];
    keep_points(run, turn, agent, c, t, heard);
}

#if HELD
// What an agent sends to itself is what it hears.
__device__ inline void hear_oneself(const Run &run, const Turn &turn, coordinate t) {
    const u64 agent = t / (coordinate)DIM, c = t % (coordinate)DIM, all = run.agents * (u64)DIM;
    real sent[HEARD + 1];
    messages_of(run, turn, agent, c, sent);
#pragma unroll
    for (int v = 0; v < HEARD; ++v) {
        for (u32 pair = 0; pair < HELD; ++pair) // it is sent on to itself too
            held_of(run, agent, pair).at(v, c) = sent[v];
        run.heard[v * all + t] = sent[v];
    }
    keep_points(run, turn, agent, c, t, sent);
}

// What it carries is then what it carried; number s.
__device__ inline void carry_alone(const Run &run, u64 agent, u64 s) {
    for (u32 pair = 0; pair < HELD; ++pair)
        held_of(run, agent, pair).carried(s) = carried_of(run, agent, s);
}
#endif

// What was heard, held to be sent on.
__device__ inline void hold_one(const Run &run, coordinate t) {
    const u64 agent = t / (coordinate)DIM, c = t % (coordinate)DIM, all = run.agents * (u64)DIM;
#pragma unroll
    for (int v = 0; v < HEARD; ++v)
        held_of(run, agent, 0).at(v, c) = run.heard[v * all + t];
}

// Keeps number s of what was carried, once it is mixed: in the state, or to be sent on.
__device__ inline void keep_carried(const Run &run, const Turn &turn, u64 agent, u64 s) {
    const real mixed = run.carried[agent * scalars_of(run) + s];
    if (HELD && turn.to > 0)
        held_of(run, agent, 0).carried(s) = mixed;
    else
        carried_of(run, agent, s) = mixed;
}

// `gradients` says how many of the two there are; the others are zero.
__device__ inline void update_one(const Run &run, const Turn &turn, coordinate t, u64 gradients) {
    if (HELD && turn.to > 0)
        return hold_one(run, t);
    const u64 agent = t / (coordinate)DIM, c = t % (coordinate)DIM, all = run.agents * (u64)DIM;
    real state[KEPT], heard[HEARD + 1], next[KEPT], g[2];
    load_state(run, agent, c, state);
#pragma unroll
    for (int v = 0; v < HEARD; ++v)
        heard[v] = run.heard[v * all + t];
    g[0] = gradients > 0 ? run.gradients[0][t] : (real)0;
    g[1] = gradients > 1 ? run.gradients[1][t] : (real)0;
    const At at = at_of(run, run.steps[turn.step], agent, weight_of(run, agent));
    rule_update(run, (u32)turn.phase, at, state, heard, g, next);
    real *row = state_of(run, agent) + c;
#pragma unroll
    for (int v = 0; v < KEPT; ++v)
        row[v * (u64)DIM] = next[v];
}

__device__ inline void start_one(const Run &run, const Turn &turn, coordinate t, u64 gradients) {
    const u64 agent = t / (coordinate)DIM, c = t % (coordinate)DIM;
    real state[KEPT], g[2];
    g[0] = gradients > 0 ? run.gradients[0][t] : (real)0;
    g[1] = gradients > 1 ? run.gradients[1][t] : (real)0;
    rule_start(run, at_of(run, run.steps[turn.step], agent, (real)1), run.points[t], g, state);
    real *row = state_of(run, agent) + c;
#pragma unroll
    for (int v = 0; v < KEPT; ++v)
        row[v * (u64)DIM] = state[v];
}

// An agent's samples in an exchange: purpose 0, gradients.
__device__ inline Stream samples_of(const Run &run, const Turn &turn, u64 agent) {
    return Stream{run.seed, (u32)agent, run.steps[turn.step].round, (u32)(turn.phase >> 32) << 8};
}
