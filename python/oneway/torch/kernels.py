"""Fused kernels: a rule's functions as the engine prints them in CUDA C, and two kernels around them.

One computes what all agents hear and the points of their gradients, the other the next states. They run on
PyTorch's own memory and stream. Sums have the bit contract's order, and nothing is contracted.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor

from oneway._neural.rules import COMMON
from oneway._neural.weights import Weights
from oneway.torch.rules import Rule

_THREADS = 256

# All that the printed functions need, and the two kernels. What a sender sends is computed from its state by
# everyone who hears it: the cache has the state, and messages need no memory.
_SOURCE = r"""
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
struct Run { const double *parameters; };
struct At { real number[5]; };
#ifndef ON_HOST
__device__ inline double number(u64 bits) { return __longlong_as_double((long long)bits); }
__device__ inline double root(double x) { return sqrt(x); }
__device__ inline float root(float x) { return sqrtf(x); }
#endif

/* RULE */

// what is the same for all agents: eta and the two numbers of the round; a column each of w and C_ii
__device__ inline At at_of(const double *round, const real *weight, const real *kept, u64 agent, bool sends) {
    At at;
    at.number[0] = (real)round[0];
    at.number[1] = sends || !weight ? (real)1 : weight[agent];
    at.number[2] = kept[agent];
    at.number[3] = (real)round[1];
    at.number[4] = (real)round[2];
    return at;
}

struct Places { real *at[16]; };

// what one sender sends; what is sent as it is comes from the state, all else from the state that is steered
__device__ inline void sent_by(const Run &run, const At &at, const Places &states, const real *steered,
                               u64 place, real *sent) {
    real state[KEPT];
    for (int v = 0; v < KEPT; ++v)
        state[v] = states.at[v][place];
    rule_send(run, PHASE, at, state, sent);
    if (STEERED >= 0) {
        real along[HEARD];
        state[STEERED >= 0 ? STEERED : 0] = steered[place];
        rule_send(run, PHASE, at, state, along);
        for (int v = 0; v < HEARD; ++v)
            if (!((PLAIN >> v) & 1))
                sent[v] = along[v];
    }
}

extern "C" __global__ void hear(const long long *words, const double *round, const double *parameters,
                                const int *links, const real *weights) {
    // words: agents, coordinates, then addresses: w, kept, steered, states, heard, points
    const u64 n = words[0], d = words[1];
    const real *weight = (const real *)words[2], *kept = (const real *)words[3];
    const real *steered = (const real *)words[4];
    Places states, heard, points;
    for (int v = 0; v < KEPT; ++v) states.at[v] = (real *)words[5 + v];
    for (int v = 0; v < HEARD; ++v) heard.at[v] = (real *)words[5 + KEPT + v];
    for (int v = 0; v < 2; ++v) points.at[v] = (real *)words[5 + KEPT + HEARD + v];
    const Run run = {parameters};
    const u64 all = (d + SPAN - 1) / SPAN * SPAN * n;
    for (u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x; t < all; t += (u64)gridDim.x * blockDim.x) {
        // neighbouring threads have neighbouring coordinates; a block stays with one agent after another
        const u64 agent = t % (n * SPAN) / SPAN, c = t / (n * SPAN) * SPAN + t % SPAN;
        if (c >= d) continue;
        real sums[HEARD], sent[HEARD];
        for (int v = 0; v < HEARD; ++v) sums[v] = (real)0;
        for (int graph = 0; graph < 2; ++graph) {
            const int begin = links[graph * (n + 1) + agent], end = links[graph * (n + 1) + agent + 1];
            const int low = graph == 0 ? 0 : PULLS, high = graph == 0 ? PULLS : HEARD;
            for (int entry = begin; entry < end; ++entry) {
                const u64 sender = links[2 * (n + 1) + entry];
                sent_by(run, at_of(round, weight, kept, sender, true), states, steered, sender * d + c, sent);
                for (int v = low; v < high; ++v)
                    sums[v] = entry == begin ? weights[entry] * sent[v] : sums[v] + weights[entry] * sent[v];
            }
        }
        const u64 place = agent * d + c;
        for (int v = 0; v < HEARD; ++v) heard.at[v][place] = sums[v];
        if (POINTS) {
            real state[KEPT], found[2];
            for (int v = 0; v < KEPT; ++v) state[v] = states.at[v][place];
            rule_points(run, PHASE, at_of(round, weight, kept, agent, false), state, sums, found);
            for (int v = 0; v < POINTS; ++v)
                if (points.at[v]) points.at[v][place] = found[v];
        }
    }
}

extern "C" __global__ void update(const long long *words, const double *round, const double *parameters) {
    // words: agents, coordinates, then addresses: w, kept, gradient, other, states, heard, next
    const u64 n = words[0], d = words[1];
    const real *weight = (const real *)words[2], *kept = (const real *)words[3];
    const real *gradient = (const real *)words[4], *other = (const real *)words[5];
    Places states, heard, next;
    for (int v = 0; v < KEPT; ++v) states.at[v] = (real *)words[6 + v];
    for (int v = 0; v < HEARD; ++v) heard.at[v] = (real *)words[6 + KEPT + v];
    for (int v = 0; v < KEPT; ++v) next.at[v] = (real *)words[6 + KEPT + HEARD + v];
    const Run run = {parameters};
    for (u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x; t < n * d; t += (u64)gridDim.x * blockDim.x) {
        real state[KEPT], mail[HEARD], g[2], found[KEPT];
        for (int v = 0; v < KEPT; ++v) state[v] = states.at[v][t];
        for (int v = 0; v < HEARD; ++v) mail[v] = heard.at[v][t];
        g[0] = gradient ? gradient[t] : (real)0;
        g[1] = other ? other[t] : (real)0;
        rule_update(run, PHASE, at_of(round, weight, kept, t / d, false), state, mail, g, found);
        for (int v = 0; v < KEPT; ++v)
            if (next.at[v]) next.at[v][t] = found[v];
    }
}
"""

# coordinates that a run of threads has of one agent before it goes on to the next: what agents hear of one
# another is then near in time, and in the cache
_SPAN = 256


def source(rule: Rule, phase: int, dtype: torch.dtype) -> str:
    """CUDA C for one exchange of a rule."""
    exchange = rule.exchanges[phase]
    heard = sum(rule.sends)
    steered = -1 if rule.steered is None or phase else rule.steered
    plain = sum(
        1 << i for i in range(heard) if steered >= 0 and exchange.send.input_of(i) == COMMON + steered
    )
    points = {"nothing": 0, "both": 2}.get(exchange.asks, 1)
    defines = {
        "KEPT": len(rule.letters),
        "PULLS": rule.sends[0],
        "HEARD": heard,
        "PHASE": phase,
        "STEERED": steered,
        "PLAIN": plain,
        "POINTS": points,
        "SPAN": _SPAN,
    }
    head = f"typedef {'float' if dtype == torch.float32 else 'double'} real;\n"
    head += "".join(f"#define {name} {value}\n" for name, value in defines.items())
    text, _ = rule.description["cuda"]
    return head + _SOURCE.replace("/* RULE */", text)


class Kernels:
    """The kernels of a rule on a device."""

    def __init__(
        self, rule: Rule, weights: Weights, device: torch.device, dtype: torch.dtype, build: Any = None
    ) -> None:
        if device.type != "cuda" and build is None:
            raise ValueError(f"fused kernels are for CUDA, not for {device.type}")
        self.rule, self.device, self.dtype, self.agents = rule, device, dtype, weights.agents
        build = build or _compiled
        self._built = [build(source(rule, phase, dtype)) for phase in range(len(rule.exchanges))]
        parameters = rule.description["cuda"][1]
        self._parameters = torch.tensor([*parameters, 0.0], dtype=torch.float64, device=device)
        self._links, self._weights = [], []
        for pair in weights.period:
            places: list[int] = []
            senders: list[int] = []
            values: list[float] = []
            for rows in pair:
                for heard, share in rows:
                    places.append(len(senders))
                    senders += [int(one) for one in heard]
                    values += [float(one) for one in share]
                places.append(len(senders))
            self._links.append(torch.tensor([*places, *senders], dtype=torch.int32, device=device))
            self._weights.append(torch.tensor(values, dtype=dtype, device=device))

    def takes(self, phase: int) -> bool:
        """Whether an exchange has kernels: all do whose rows go onto both graphs that the rule has."""
        return all(self.rule.exchanges[phase].sends)

    def _words(self, at: list[Any], tensors: list[Any], like: Tensor) -> tuple[Tensor, Tensor]:
        n, d = like.shape
        weight = at[1] if at[1].dim() else None
        places = [one.data_ptr() if one is not None else 0 for one in (weight, at[2], *tensors)]
        words = torch.tensor([n, d, *places], dtype=torch.int64)
        numbers = torch.tensor([float(at[0]), float(at[3]), float(at[4])], dtype=torch.float64)
        return words.to(self.device, non_blocking=True), numbers.to(self.device, non_blocking=True)

    def hear(
        self, phase: int, k: int, at: list[Any], states: list[Tensor], steered: Tensor | None
    ) -> tuple[list[Tensor], list[Tensor] | None]:
        """What all agents hear, and the points of their gradients."""
        exchange, like = self.rule.exchanges[phase], states[0]
        heard = [torch.empty_like(like) for _ in range(sum(self.rule.sends))]
        count = {"nothing": 0, "both": 2}.get(exchange.asks, 1)
        # a point that is what was heard needs no memory of its own, where no later exchange changes it
        kept, alone = COMMON + len(states), len(self.rule.exchanges) == 1
        points: list[Tensor] = []
        own: list[Tensor | None] = [None, None]
        for i in range(count):
            of = exchange.points.input_of(i)
            if of is not None and of >= kept and alone:
                points.append(heard[of - kept])
            else:
                points.append(torch.empty_like(like))
                own[i] = points[-1]
        words, numbers = self._words(at, [steered, *states, *heard, *own], like)
        pair = k % len(self._links)
        self._launch(
            phase, "hear", like, [words, numbers, self._parameters, self._links[pair], self._weights[pair]]
        )
        return heard, points if count else None

    def update(
        self, phase: int, k: int, at: list[Any], states: list[Tensor], heard: list[Tensor], gradients: Any
    ) -> list[Tensor]:
        """The next states: in the memory of the old, or what was heard itself."""
        update, like = self.rule.exchanges[phase].update, states[0]
        kept, after = COMMON + len(states), []
        own: list[Tensor | None] = []
        for i, state in enumerate(states):
            of = update.input_of(i)
            if of is not None and kept <= of < kept + len(heard):
                after.append(heard[of - kept])
                own.append(None)
            else:
                after.append(state)
                own.append(state)
        # two letters that are one vector must not share memory: one of them will be written to
        for i, one in enumerate(after):
            if any(one is other for other in after[:i]):
                after[i] = own[i] = torch.empty_like(like)
        words, numbers = self._words(at, [*gradients, *states, *heard, *own], like)
        self._launch(phase, "update", like, [words, numbers, self._parameters])
        return after

    def _launch(self, phase: int, name: str, like: Tensor, arguments: list[Tensor]) -> None:
        n, d = like.shape
        spans = -(-d // _SPAN) * _SPAN * n
        blocks = min(-(-spans // _THREADS), 1 << 20)
        self._built[phase](name, blocks, _THREADS, arguments)


def kernels_of(
    rule: Rule, weights: Weights, device: torch.device, dtype: torch.dtype, fused: bool | None
) -> Kernels | None:
    """Kernels where they are asked for; where nothing is asked, on CUDA if PyTorch can compile them.

    If it cannot, that is said once, and updates are by tensors: the same numbers, with more memory moved.
    """
    if fused is False or (fused is None and device.type != "cuda"):
        return None
    try:
        return Kernels(rule, weights, device, dtype)
    except (RuntimeError, OSError) as error:
        if fused:
            raise
        # the text is the same each time, so that Python's filter shows it once
        warnings.warn(f"updates are by tensors, not by fused kernels: {error}", RuntimeWarning, stacklevel=4)
        return None


def _compiled(text: str) -> Any:
    """Compiled for this device, by PyTorch."""
    compile_kernel = getattr(torch.cuda, "_compile_kernel", None)
    if compile_kernel is None:
        raise RuntimeError(f"fused kernels need PyTorch 2.9 or later, and this is {torch.__version__}")
    kernels = {name: compile_kernel(text, name, nvcc_options=["--fmad=false"]) for name in ("hear", "update")}

    def launch(name: str, blocks: int, threads: int, arguments: list[Tensor]) -> None:
        kernels[name](grid=(blocks, 1, 1), block=(threads, 1, 1), args=arguments)

    return launch
