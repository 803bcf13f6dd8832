// Measuring runs that stand side by side (crates/oneway/src/engine/metrics.rs, operation by operation).
//
// Runs on the same data share passes over them: POINTS of them make a group, a lane for each, and all their
// numbers for a coordinate lie together. A group has one problem; a run may fill several seats of the last.
//
// Before this text stand `real`, the numbers of states, and DIM, the dimension.

#define POINTS 32

// What a team of lanes does for each point of a group.
#define EACH_POINT(p) for (u32 p = threadIdx.x % LANES; p < POINTS; p += LANES)

// A run that is measured.
struct Seat {
    const real *states;
    u64 stride;         // from one state row to the next
    const double *pull; // pi_R and pi_C of all agents, in this round
    const double *push;
};

// What is known of all runs that are measured together.
struct Run {
    u64 agents;
    u64 width;   // numbers of a state row
    u64 groups;
    u64 average; // of which x̄ is the mean: the estimates by pi_R (0), a vector (1), agent 0's estimate (2)
    u64 conserved; // that vector
    u64 tracker, tracked, momentum, weight; // vectors, and a number of the row, from 1 on; 0 for none
    u64 pulled;  // whether trackers are pulled, so that their means are pi_R's
    const Seat *seats; //  POINTS of each group
    const void *data;    // the data of each group
    double *means;       // x̄: DIM times POINTS of each group
    double *sums;        // the same, of gradients
    double *gradients;   // of each agent of each group: DIM times POINTS
    double *losses;      // of each agent of each group: POINTS
    double *apart;       // two numbers of each agent of each seat
    double *totals;      // 2*DIM numbers of each seat
    double *running;     // three numbers of each seat
    double *rights;      // TILES times POINTS of each group
    double *room;        // for what does not fit into shared memory
    double *answers;     // ANSWERS of each seat
    u64 *flags;          // a number of each seat; four of its hash
};

struct Problem {
    u64 unused;
};

struct Turn {
    u64 at;    // where gradients are taken: at x̄ (0), at each agent's own estimate (1), at one agent's (2)
    u64 agent; // which one
    u64 begins_few, ends_few, ends_block; // of the agents whose gradients are summed
    u64 unused;
};

// The answers of a seat.
enum { LOSS_SUM, GRADIENT, CONSENSUS, TRACKING, MOMENTUM, DRIFT, WEIGHT, RIGHT, AT_AGENTS, ANSWERS };

#define TILES 16

#ifdef ON_HOST
static double oneway_room[1 << 15];
#else
extern __shared__ double oneway_room[];
#endif

#define KERNEL(name)                                                                                 \
    extern "C" __global__ void oneway_##name(const Run run, const Problem, const Turn turn)

__device__ inline double square(double x) { return x * x; }

// Coordinate c of a vector of an agent's state.
__device__ inline double number_of(const Seat &seat, u32 agent, u64 vector, u32 c) {
    return (double)seat.states[agent * seat.stride + vector * DIM + c];
}

// A sum over agents: ascending within a fixed number of blocks, then blocks ascending. `add(i, part)` adds
// what agent i gives.
template <class Add> __device__ inline double over_agents(u32 n, Add add) {
    const u32 blocks = n < 64 ? n : 64;
    double total = 0.0;
    for (u32 b = 0, begin = 0; b < blocks; ++b) {
        const u32 end = (b + 1) * n / blocks;
        double part = 0.0;
        for (; begin < end; ++begin)
            add(begin, part);
        total = total + part;
    }
    return total;
}

// Where gradients are taken, coordinate c of point p of a group.
__device__ inline double point_of(const Run &run, const Turn &turn, u64 group, u32 agent, u32 c, u32 p) {
    if (turn.at == 0)
        return run.means[(group * DIM + c) * POINTS + p];
    return number_of(run.seats[group * POINTS + p], turn.at == 1 ? agent : (u32)turn.agent, 0, c);
}
