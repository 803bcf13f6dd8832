"""Methods for networks, by law: what they are where everyone hears everyone, and by their equations."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from conftest import needs

import oneway as ow

torch: Any = needs("torch", "torch")
if True:  # after torch is known to be there
    from test_neural import AGENTS, BATCH, LOSS, distance, network, trained, training

    import oneway.torch as ot
    from oneway._neural.weights import Weights
    from oneway.torch.kernels import kernels_of


def centralised(make: Any, steps: int) -> Any:
    """What an optimiser of PyTorch makes of the mean of all agents' losses, with full gradients."""
    model, data = network(), training("smtpp").parts
    optimizer = make(model.parameters())
    for _ in range(steps):
        optimizer.zero_grad()
        LOSS(model(data.inputs[data.rows.flatten()]), data.targets[data.rows.flatten()]).backward()
        optimizer.step()
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()]).repeat(AGENTS, 1)


def test_nesterov_on_the_complete_graph_is_that_of_pytorch() -> None:
    ours = trained({"kind": "smtpp-nesterov", "momentum": 0.2}, "complete", rounds=41, batch=None)
    theirs = centralised(lambda p: torch.optim.SGD(p, lr=0.05 * 0.2, momentum=0.8, nesterov=True), 40)
    assert distance(ours.points, theirs) < 1e-12
    plain = trained({"kind": "smtpp", "momentum": 0.2}, "complete", rounds=41, batch=None)
    assert distance(plain.points, theirs) > 1e-4


def test_nesterov_with_momentum_of_one_is_push_pull() -> None:
    one = trained({"kind": "smtpp-nesterov", "momentum": 1.0}, rounds=31, batch=None)
    assert distance(one.points, trained("push-pull", rounds=30, batch=None).points) < 1e-12


def test_adaptive_push_pull_of_one_agent_is_adam_without_momentum() -> None:
    # of one agent: as the scaling is not linear, the mean of agents' directions is not that of their mean
    kind = {"kind": "push-pull-adam", "beta2": 0.9, "epsilon": 1e-3}
    data = training("smtpp").parts
    whole = [(data.inputs[data.rows.flatten()], data.targets[data.rows.flatten()])]
    alone = ow.Network.from_edges([], agents=1)
    settings: dict[str, Any] = {"method": kind, "topology": alone, "batch": None, "step": 0.01}
    ours = ot.simulate(network(), LOSS, whole, rounds=30, **settings)
    theirs = centralised(lambda p: torch.optim.Adam(p, lr=0.01, betas=(0.0, 0.9), eps=1e-3), 30)
    assert distance(ours.points, theirs) < 1e-10


def test_an_epsilon_above_everything_leaves_the_plain_method() -> None:
    kind = {"kind": "smtpp-adam", "epsilon": 1e9}
    assert distance(trained(kind, step=0.05 * 1e9).points, trained("smtpp").points) < 1e-8
    assert distance(trained("smtpp-adam").points, trained("smtpp").points) > 1e-2


def test_adaptive_smtpp_is_its_equations() -> None:
    kind = {"kind": "smtpp-adam", "momentum": 0.3, "beta2": 0.8, "epsilon": 1e-4}
    run = trained(kind, "exponential", rounds=15)
    r, c = (torch.from_numpy(w) for w in ow.Network.family("exponential", AGENTS).weights())
    x = run.copies.start().repeat(AGENTS, 1)
    v = m = s = torch.zeros_like(x)
    for k in range(1, 16):
        s = 0.8 * s + 0.2 * v**2
        hat = s / (1 - 0.8 ** (k - 1)) if k > 1 else s  # in the first round all of v is zero
        x = r @ (x - 0.05 * v / (hat.sqrt() + 1e-4))
        after = 0.7 * m + 0.3 * run.copies.gradients(x, *run.parts.batch(3, k, BATCH))[0]
        v, m = c @ v + after - m, after
    assert distance(run.points, x) < 1e-10


def test_demuon_is_its_equations() -> None:
    run = trained({"kind": "demuon", "momentum": 0.3}, "ring", rounds=15)
    w = torch.from_numpy(ow.Network.family("ring", AGENTS).weights()[0])
    assert torch.allclose(w.sum(0), torch.ones(AGENTS).double())
    x = run.copies.start().repeat(AGENTS, 1)
    v = m = torch.zeros_like(x)
    muon = ot.Muon(run.copies.shapes)
    for k in range(1, 16):
        x = w @ (x - 0.05 * muon(v))
        after = 0.7 * m + 0.3 * run.copies.gradients(x, *run.parts.batch(3, k, BATCH))[0]
        v, m = w @ (v + after - m), after
    assert distance(run.points, x) < 1e-10
    # two exchanges, one vector each: what SMTPP sends in one
    assert run.bytes_a_round == training("smtpp").bytes_a_round


def test_demuon_is_refused_where_no_matrix_is_doubly_stochastic() -> None:
    # an agent that hears two and is heard by one
    edges = [(i, (i + 1) % AGENTS) for i in range(AGENTS)] + [(0, 2)]
    with pytest.raises(ValueError, match="doubly"):
        training("demuon", edges)
    assert training("smtpp-muon", edges).rule.name == "smtpp-muon"


def test_decoupled_decay_is_beside_the_direction() -> None:
    run = training("smtpp-muon", rounds=2, weight_decay=0.5, decoupled=True)
    start = run.points.clone()
    run.advance(1)  # nothing is tracked yet: only the decay moves
    assert torch.allclose(run.points, start * (1 - 0.05 * 0.5), rtol=1e-13, atol=0)
    coupled = training("smtpp-muon", rounds=2, weight_decay=0.5)
    coupled.advance(1)
    assert torch.equal(coupled.points, start)


@pytest.mark.parametrize("kind", ["smtpp-adam", "smtpp-nesterov-muon", "demuon"])
def test_directions_with_memory_resume_to_the_same_numbers(kind: str, tmp_path: Path) -> None:
    whole, first, second = (training(kind, rounds=14) for _ in range(3))
    whole.advance(14)
    first.advance(6)
    first.save(tmp_path / "cut.pt")
    second.load(tmp_path / "cut.pt")
    second.advance(8)
    assert torch.equal(second.points, whole.points)


def test_stpp_runs_on_trees_as_in_run() -> None:
    run = trained("stpp", "exponential", rounds=1)
    assert run.bytes_a_round == 2 * (AGENTS - 1) * run.copies.dim * 8
    full = trained("push-pull", "exponential", rounds=1)
    assert full.bytes_a_round > run.bytes_a_round
    lazy = trained("stpp", "exponential", graph="lazy-trees", rounds=10)
    assert distance(lazy.points, trained("stpp", "exponential", rounds=10).points) > 1e-6


def test_without_a_compiler_of_kernels_tensors_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.cuda, "_compile_kernel", raising=False)
    rule = ot.Rule("smtpp")
    given = (rule, Weights(rule, "ring", AGENTS), torch.device("cuda"), torch.float32)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        for _ in range(3):
            assert kernels_of(*given, None) is None
    assert len(said) == 1
    assert "by tensors, not by fused kernels: fused kernels need PyTorch 2.9" in str(said[0].message)
    with pytest.raises(RuntimeError, match=r"need PyTorch 2\.9 or later"):
        kernels_of(*given, True)
    assert kernels_of(*given, False) is None
