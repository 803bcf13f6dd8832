"""Networks over networks: what must hold of `oneway.torch`, by law, in f64 on the CPU."""

from __future__ import annotations

import copy
import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import needs

import oneway as ow

torch: Any = needs("torch", "torch")
if True:  # after torch is known to be there
    import oneway.torch as ot
    from oneway._neural.weights import Weights
    from oneway.torch.kernels import Kernels
    from oneway.torch.mixing import Stacked

torch.set_num_threads(1)  # beside other work, threads wait for each other longer than they compute
AGENTS, ROWS, BATCH = 6, 20, 5
LOSS = torch.nn.functional.cross_entropy
# methods that have programs and run on a directed ring
ON_A_RING = [
    *("smtpp", "push-pull", "storm-tracking", "push-pull-hb", "r-fast", "sgp", "sgp-momentum", "push-diging"),
    *("add-opt", "frost", "ab", "abm", "accelerated-ab", "gt", "dsgt", "dsgd", "dsmt", "momentum-tracking"),
    *("qg-dsgdm", "decentlam", "adamdos", "csgdm", "sgd", "central-storm", "adam"),
]


def network(seed: int = 0) -> Any:
    torch.manual_seed(seed)
    layers = (torch.nn.Linear(4, 5), torch.nn.GroupNorm(1, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    return torch.nn.Sequential(*layers).double()


def parts(agents: int = AGENTS) -> Any:
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(agents * ROWS, 4, generator=generator).double()
    y = (x @ torch.randn(4, 3, generator=generator).double()).argmax(1)
    return ot.split(x, y, agents, "by-class")


def training(method: Any, topology: Any = "ring", rounds: int = 20, **settings: Any) -> Any:
    given = {"step": 0.05, "batch": BATCH, "seed": 3, **settings}
    return ot.Simulation(network(), LOSS, parts(), rounds=rounds, method=method, topology=topology, **given)


def trained(method: Any, *arguments: Any, **settings: Any) -> Any:
    run = training(method, *arguments, **settings)
    run.advance(run.rounds)
    return run


def distance(a: Any, b: Any) -> float:
    return float((a - b).norm() / b.norm())


@pytest.mark.parametrize("kind", ON_A_RING)
def test_the_points_of_a_training_are_those_of_run_bit_by_bit(kind: str) -> None:
    run = training(kind, rounds=8, mixing="gather")
    seen = []
    data = run.parts
    inputs, targets = data.inputs[data.rows], data.targets[data.rows]
    places = torch.arange(AGENTS)[:, None]

    def gradient(x: Any, agents: Any, draws: Any) -> Any:
        assert agents.tolist() == list(range(AGENTS))
        rows = torch.from_numpy(np.array(x))
        if draws is None:  # measurements
            return run.copies.gradients(rows, inputs, targets)[0].numpy()
        seen.append(rows)
        chosen = torch.from_numpy(draws.integers(ROWS, BATCH))
        return run.copies.gradients(rows, inputs[places, chosen], targets[places, chosen])[0].numpy()

    start = run.copies.start().numpy()
    problem = ow.Problem(gradient, dim=run.copies.dim, agents=AGENTS, start=start)
    topology = "complete" if run.rule.network == "central" else "ring"
    ow.run(problem, topology, kind, step={"size": 0.05, "scaling": "raw"}, iterations=8, seed=3)
    points: list[Any] = []
    ask = run._gradients
    run._gradients = lambda asked: (points.extend(reversed(asked.points)), ask(asked))[1]
    run.advance(8)
    assert len(seen) == len(points) >= 8
    exact = run.rule.network != "central"  # the engine sums those all at once
    for ours, theirs in zip(points, seen, strict=True):
        assert torch.equal(ours, theirs) if exact else distance(ours, theirs) < 1e-13


def test_momentum_of_one_is_push_pull() -> None:
    # SMTPP begins with m = 0 and is a round behind; with full gradients that is all there is between them
    one = trained({"kind": "smtpp", "momentum": 1.0}, rounds=51, batch=None)
    assert distance(one.points, trained("push-pull", rounds=50, batch=None).points) < 1e-12
    other = trained({"kind": "smtpp", "momentum": 0.9}, rounds=51, batch=None)
    assert distance(other.points, one.points) > 1e-3


def test_the_complete_graph_is_centralised_momentum() -> None:
    ours = trained({"kind": "smtpp", "momentum": 0.2}, "complete", rounds=51, batch=None)
    central = trained({"kind": "csgdm", "momentum": 0.2}, rounds=50, batch=None)
    assert distance(ours.points, central.points) < 1e-12
    assert ours.evaluate(ours.parts.inputs, ours.parts.targets)["consensus"] < 1e-25


def test_products_of_matrices_mix_as_rows_do() -> None:
    by_rows = trained("smtpp", "exponential", mixing="gather")
    assert distance(trained("smtpp", "exponential", mixing="matmul").points, by_rows.points) < 1e-12


def test_a_training_that_was_cut_goes_on_to_the_same_numbers(tmp_path: Path) -> None:
    whole = trained("sgp-momentum", {"kind": "exponential"}, rounds=30, schedule="cosine")
    first = training("sgp-momentum", {"kind": "exponential"}, rounds=30, schedule="cosine")
    first.advance(11)
    first.save(tmp_path / "cut.pt")
    second = training("sgp-momentum", {"kind": "exponential"}, rounds=30, schedule="cosine")
    second.load(tmp_path / "cut.pt")
    assert second.round == 11
    second.advance(19)
    assert all(torch.equal(second.states[letter], state) for letter, state in whole.states.items())
    other = training("sgp-momentum", {"kind": "exponential"}, rounds=30, schedule="cosine", seed=4)
    with pytest.raises(ValueError, match="another training: its seed is 3, not 4"):
        other.load(tmp_path / "cut.pt")
    # the same settings of other values: data, labels, the start
    changes: list[tuple[Any, str]] = [
        (lambda run: run.parts.inputs.mul_(2), "data"),
        (lambda run: run.parts.targets.sub_(1), "data"),
        (lambda run: run.copies.model[0].weight.data.add_(1e-9), "start"),
    ]
    for change, which in changes:
        other = training("sgp-momentum", {"kind": "exponential"}, rounds=30, schedule="cosine")
        change(other)
        with pytest.raises(ValueError, match=f"another training: its {which} is"):
            other.load(tmp_path / "cut.pt")
    other = training("sgp-momentum", {"kind": "exponential"}, rounds=30, schedule=lambda k: 1 / (k + 1))
    with pytest.raises(ValueError, match="another training: its schedule is"):
        other.load(tmp_path / "cut.pt")
    (tmp_path / "text.pt").write_text("no checkpoint")
    with pytest.raises(ValueError, match="is no checkpoint"):
        other.load(tmp_path / "text.pt")


def test_simulate_records_and_resumes(tmp_path: Path) -> None:
    data = parts()
    given: dict[str, Any] = {
        "rounds": 40, "topology": "ring", "batch": 5, "step": 0.2, "evaluate": (data.inputs, data.targets),
        "evaluate_every": 20,
    }  # fmt: skip
    whole = ot.simulate(network(), LOSS, data, **given)
    file = tmp_path / "kept" / "point.pt"
    for _ in range(10):
        cut = ot.simulate(network(), LOSS, data, **given, checkpoint=file, minutes=1e-9)
        if cut.round == 40:
            break
    assert [row["round"] for row in cut.history] == [20, 40]
    for ours, theirs in zip(cut.history, whole.history, strict=True):
        assert {**ours, "seconds": 0} == {**theirs, "seconds": 0}
    accuracies = whole.history[-1]["agents_accuracy"]
    assert len(accuracies) == AGENTS
    said = whole.model(2)(data.inputs).argmax(1)
    assert float((said == data.targets).double().mean()) == accuracies[2]


def test_a_direction_that_is_the_vector_itself_changes_nothing() -> None:
    steered = training("smtpp-muon")
    steered.engine.direction = lambda v, k: v
    steered.advance(20)
    assert torch.equal(steered.points, trained("smtpp").points)
    assert distance(trained("smtpp-muon").points, steered.points) > 1e-2


def test_the_matrix_sign_has_the_singular_vectors_of_the_matrix() -> None:
    muon = ot.Muon([(5, 3), (7,), (3, 2, 2), (5, 3)], steps=12)
    v = torch.randn(4, muon.dim, generator=torch.Generator().manual_seed(1)).double()
    d = muon(v)
    for at, (rows, columns) in ((0, (5, 3)), (22, (3, 4)), (34, (5, 3))):
        for agent in range(4):
            given, found = (t[agent, at : at + rows * columns].view(rows, columns) for t in (v, d))
            u, _, w = torch.linalg.svd(given, full_matrices=False)
            inner = u.T @ found @ w.T / max(1.0, rows / columns) ** 0.5
            assert float((inner - torch.diag(inner.diagonal())).abs().max()) < 1e-9
            assert 0.6 < float(inner.diagonal().min()) <= float(inner.diagonal().max()) < 1.3
    assert torch.allclose(d[:, 15:22].norm(dim=1), torch.ones(4).double())


def test_tracked_muon_is_its_three_equations() -> None:
    run = trained({"kind": "smtpp-muon", "momentum": 0.3}, "exponential", rounds=15)
    r, c = (torch.from_numpy(w) for w in ow.Network.family("exponential", AGENTS).weights())
    x = run.copies.start().repeat(AGENTS, 1)
    v = m = torch.zeros_like(x)
    muon = ot.Muon(run.copies.shapes)
    for k in range(1, 16):
        x = r @ (x - 0.05 * muon(v))
        after = 0.7 * m + 0.3 * run.copies.gradients(x, *run.parts.batch(3, k, BATCH))[0]
        v, m = c @ v + after - m, after
    assert distance(run.points, x) < 1e-10
    assert distance(run.states["v"], v) < 1e-8


@pytest.mark.parametrize(
    "kind", ["smtpp", "sgp-momentum", "smtpp-muon", "storm-tracking", "dsmt", "abm", "frost"]
)
def test_the_kernels_text_on_a_host_gives_the_bits_of_tensors(kind: str, tmp_path: Path) -> None:
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler here")
    built = 0

    def build(text: str) -> Any:
        nonlocal built
        built += 1
        shim = """#define ON_HOST
#define __device__
#define __global__
#include <cmath>
#include <cstring>
struct Dim { unsigned x; };
static Dim blockIdx, blockDim, threadIdx, gridDim;
static double number(unsigned long long bits) { double x; memcpy(&x, &bits, 8); return x; }
static double root(double x) { return sqrt(x); }
"""
        run = """
#define EACH \\
    for (gridDim.x = blocks, blockDim.x = threads, blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) \\
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x)
extern "C" void run_hear(unsigned blocks, unsigned threads, void **a) {
    EACH hear((long long *)a[0], (double *)a[1], (double *)a[2], (int *)a[3], (real *)a[4]);
}
extern "C" void run_update(unsigned blocks, unsigned threads, void **a) {
    EACH update((long long *)a[0], (double *)a[1], (double *)a[2]);
}
"""
        file, library = tmp_path / f"{built}.cpp", tmp_path / f"{built}.so"
        file.write_text(shim + text + run)
        line = [compiler, "-O1", "-ffp-contract=off", "-shared", "-fPIC", file, "-o", library]
        subprocess.run(line, check=True)
        loaded = ctypes.CDLL(str(library))

        def launch(name: str, blocks: int, threads: int, arguments: list[Any]) -> None:
            places = (ctypes.c_void_p * len(arguments))(*(one.data_ptr() for one in arguments))
            getattr(loaded, f"run_{name}")(blocks, threads, places)

        return launch

    plain = trained(kind, "exponential", rounds=10, mixing="gather")
    fused = training(kind, "exponential", rounds=10, mixing="gather")
    weights = Weights(fused.rule, "exponential", AGENTS)
    fused.engine.kernels = Kernels(fused.rule, weights, torch.device("cpu"), torch.float64, build)
    fused.advance(10)
    assert built == len(fused.rule.exchanges)
    assert torch.equal(fused.points, plain.points)
    assert all(torch.equal(fused.states[letter], state) for letter, state in plain.states.items())


def test_f32_and_mixed_precision_stay_near() -> None:
    exact = trained("smtpp")
    single = trained("smtpp", dtype=torch.float32)
    assert single.points.dtype == torch.float32
    assert 0 < distance(single.points.double(), exact.points) < 1e-4
    mixed = trained("smtpp", dtype=torch.float32, gradients=torch.bfloat16)
    assert mixed.points.dtype == torch.float32
    assert 1e-6 < distance(mixed.points.double(), exact.points) < 2e-1


def test_dropout_and_flips_are_functions_of_the_seed() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 9), torch.nn.Dropout(0.5), torch.nn.Linear(9, 3)).double()
    settings: dict[str, Any] = {"rounds": 10, "topology": "ring", "batch": 5, "augment": ot.data.flips}
    runs = [ot.simulate(model, LOSS, parts(), **settings, seed=seed).points for seed in (1, 1, 2)]
    assert torch.equal(runs[0], runs[1])
    assert not torch.equal(runs[0], runs[2])


def test_weight_decay_and_clipping_are_what_they_say() -> None:
    # Push-Pull's tracker starts as the gradient
    decayed, plain = training("push-pull", weight_decay=0.5), training("push-pull")
    assert float(plain.points.abs().max()) > 0.1
    assert torch.allclose(decayed.states["v"] - plain.states["v"], 0.5 * plain.points, rtol=0, atol=1e-14)
    clipped = training("push-pull", rounds=1, clip=1e-3)
    assert torch.allclose(clipped.states["v"].norm(dim=1), torch.full((AGENTS,), 1e-3).double())
    by_layer = training("push-pull", rounds=1, clip=1e-2, clip_by="layer")
    short = 0
    for name, part in by_layer.copies.views(by_layer.states["v"]).items():
        whole = plain.copies.views(plain.states["v"])[name]
        for agent in range(AGENTS):
            norm = float(whole[agent].norm())
            short += norm < 1e-2
            assert torch.allclose(part[agent], whole[agent] * min(1.0, 1e-2 / norm), rtol=1e-9, atol=1e-14)
    assert short < AGENTS * len(by_layer.copies.names)
    assert distance(by_layer.states["v"], clipped.states["v"]) > 0.5


def test_methods_of_ones_own_train_too() -> None:
    class Dsgd(ow.Method):
        network = "pull"
        state = ("x", "g")

        def start(self, at: Any, x: Any, g: Any) -> Any:
            return x, g

        def send(self, at: Any, x: Any, g: Any) -> Any:
            return x - at.step * g

        def update(self, at: Any, state: Any, pulled: Any, pushed: Any, g: Any) -> Any:
            return pulled, g

    assert torch.equal(trained(Dsgd()).points, trained("dsgd").points)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "compressed-smtpp"}, "not coordinate by coordinate"),
        ({"method": "smtp"}, "smtpp"),
        ({"method": {"kind": "smtpp", "momentum": 2.0}}, "momentum"),
        ({"method": {"kind": "smtpp", "compress": "top-k"}}, "compress"),
        ({"method": "d2"}, "symmetric"),
        ({"topology": "rng"}, "ring"),
        ({"topology": [(0, 1), (1, 0)]}, "agents"),
        ({"step": 0.0}, "step=0.0 must be above 0"),
        ({"batch": 0}, "batch=0"),
        ({"clip": -1.0}, "clip"),
        ({"clip": 1.0, "clip_by": "row"}, "clip_by='row' is unknown"),
        ({"decoupled": True}, "decoupled weight decay is for methods with a direction"),
        ({"method": {"kind": "smtpp-nesterov", "momentum": 0.0}}, "momentum=0.0 must be above 0"),
        ({"method": {"kind": "demuon", "beta": 0.1}}, "demuon has no parameter beta"),
        ({"method": {"kind": "smtpp-adam", "beta2": 1.0}}, "beta2=1.0 must be"),
        ({"method": {"kind": "smtpp-adam", "epsilon": 0.0}}, "epsilon=0.0 must be above 0"),
        ({"method": "stpp", "graph": "full"}, "stpp runs on graph trees or lazy-trees, not on 'full'"),
        ({"graph": "tree"}, "not on 'tree'"),
        ({"weight_decay": -1.0}, "weight_decay"),
        ({"schedule": "linear"}, "schedule='linear' is unknown"),
        ({"dtype": torch.bfloat16}, "float32 or float64"),
        ({"fused": True}, "CUDA"),
    ],
)
def test_what_cannot_be_is_said(settings: dict[str, Any], message: str) -> None:
    given = {"method": "smtpp", "topology": "ring", **settings}
    with pytest.raises(ValueError, match=message):
        training(**given)


def test_memory_that_no_method_carries_is_refused() -> None:
    class Counts(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 3).double()
            self.register_buffer("calls", torch.zeros(()).double())

        def forward(self, x: Any) -> Any:
            self.calls += 1
            return self.layer(x)

    normed = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)).double()
    with pytest.raises(ValueError, match=r"1 is a BatchNorm1d.*GroupNorm"):
        ot.simulate(normed, LOSS, parts(), rounds=1, topology="ring")
    model = Counts()
    with pytest.raises(ValueError, match="the buffer calls changes"):
        ot.simulate(model, LOSS, parts(), rounds=1, topology="ring")
    frozen = network()
    for p in frozen.parameters():
        p.requires_grad = False
    with pytest.raises(ValueError, match="no parameters to train"):
        ot.simulate(frozen, LOSS, parts(), rounds=1, topology="ring")
    before = copy.deepcopy(network().state_dict())
    given = network()
    ot.simulate(given, LOSS, parts(), rounds=2, topology="ring", batch=5)
    assert all(torch.equal(before[name], value) for name, value in given.state_dict().items())


def test_splits_give_everyone_as_much() -> None:
    y = torch.arange(103) % 10
    x = torch.arange(103.0)[:, None]
    for by in ("even", "shuffled", "by-class", "dirichlet"):
        found = ot.split(x, y, 10, by, alpha=0.1)
        rows = found.rows.flatten().tolist()
        assert found.sizes == [10] * 10
        assert len(set(rows)) == 100
    assert (ot.split(x, y, 10, "by-class").rows[0] % 10 == 0).all()
    with pytest.raises(ValueError, match="dirichlet"):
        ot.split(x, y, 10, "dirichlets")
    with pytest.raises(ValueError, match="agent 1 has no data"):
        ot.Parts(x, y, [[1], []])


def test_links_carry_the_same_as_rows() -> None:
    rule = ot.Rule("smtpp")
    weights = Weights(rule, "exponential", AGENTS)
    stacked = Stacked(weights, torch.device("cpu"), torch.float64)
    x = torch.randn(AGENTS, 3).double()
    pull, push = ow.Network.family("exponential", AGENTS).weights()
    assert torch.allclose(stacked.pull(0, [x])[0], torch.from_numpy(pull) @ x)
    assert torch.allclose(stacked.push(0, [x])[0], torch.from_numpy(push) @ x)
