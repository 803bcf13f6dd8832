"""Networks in and out."""

from __future__ import annotations

from pathlib import Path

import networkx
import numpy as np
import pytest
import scipy.sparse
from conftest import command

import oneway as ow

EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]


def hashed(topology: object, **more: object) -> object:
    return ow.run(
        ow.problems.quadratic(dim=3, noise=0.1), topology, "smtpp", step=0.05, iterations=60, **more
    ).state_hash


def test_the_same_links_in_all_forms_are_the_same_network(tmp_path: Path) -> None:
    graph = networkx.DiGraph(EDGES)
    expected = hashed(EDGES)
    assert expected == hashed(ow.Network.from_edges(EDGES)) == hashed(graph) == hashed(set(EDGES))
    assert expected == hashed(np.array(EDGES).tolist())
    (tmp_path / "edges.txt").write_text("\n".join(f"{a} {b}" for a, b in EDGES), encoding="utf-8")
    assert expected == hashed({"file": str(tmp_path / "edges.txt")}, agents=4)
    network = ow.Network.from_edges(EDGES)
    pull, push = network.weights()
    assert (
        expected
        == hashed((pull, push))
        == hashed(network.to_scipy())
        == hashed(ow.Network.from_weights(pull, push))
    )
    assert expected == hashed(ow.Network.from_networkx(network.to_networkx()))


def test_a_family_is_the_family_of_the_command_line() -> None:
    assert hashed("exponential", agents=8) == hashed(ow.Network.family("exponential", 8))
    assert hashed({"kind": "flower", "petals": 3}, agents=9) == hashed(
        ow.Network.family("flower", 9, petals=3)
    )
    assert hashed({"kind": "k-out", "degree": 4, "seed": 5}, agents=9) == hashed(
        ow.Network.family("k-out", 9, degree=4, seed=5)
    )


def test_weights_are_stochastic_and_go_both_ways() -> None:
    for graph in ("full", "trees", "lazy-trees"):
        pull, push = ow.Network.from_edges(EDGES).weights(graph)
        np.testing.assert_allclose(pull.sum(axis=1), 1)
        np.testing.assert_allclose(push.sum(axis=0), 1)
    sparse, _ = ow.Network.from_edges(EDGES).to_scipy()
    assert isinstance(sparse, scipy.sparse.sparray)
    np.testing.assert_array_equal(sparse.toarray(), ow.Network.from_edges(EDGES).weights()[0])


def test_one_matrix_serves_both_graphs_and_undirected_graphs_go_both_ways() -> None:
    w = np.full((3, 3), 1 / 3)
    assert ow.Network.from_weights(w).agents == 3
    assert ow.Network.from_networkx(networkx.cycle_graph(4)).edges == sorted(
        networkx.cycle_graph(4).to_directed().edges
    )


def test_links_may_change_with_the_round() -> None:
    network = ow.Network.from_edges([[(0, 1), (1, 0)], [(1, 2), (2, 0)]])
    assert (network.agents, network.period) == (3, 2)
    assert network.weights(round=1)[0][2, 1] == 0.5
    one_peer = ow.Network.family("one-peer-exponential", 8)
    assert one_peer.period == 3
    assert hashed(one_peer) == hashed("one-peer-exponential", agents=8)


def test_several_topologies_and_names() -> None:
    problem = ow.problems.quadratic(dim=2)
    result = ow.run(
        problem,
        ["ring", "exponential"],
        {"slow": {"kind": "smtpp", "momentum": 0.05}},
        agents=4,
        step=0.1,
        iterations=5,
    )
    assert {(cell["topology"], cell["method"]) for cell in result.cells} == {
        ("ring", "slow"),
        ("exponential", "slow"),
    }
    named = ow.run(problem, {"mine": EDGES, "theirs": "ring"}, "smtpp", agents=4, step=0.1, iterations=5)
    assert [row["topology"] for row in named.final] == ["mine", "theirs"]


@pytest.mark.parametrize(
    ("topology", "message"),
    [
        ([(0, 1), (1, 2)], "no common root"),
        ([(0, 1, 2)], "is no link"),
        ([(0, -1)], "agents count from 0"),
        ([("a", "b")], "is no link"),
        (np.eye(3) * 0.5, "R \\(pull\\)"),
        (np.zeros((3, 3)), "R \\(pull\\)"),
        (np.full((2, 3), 0.5), "must be square"),
        ("rnig", "did you mean `ring`"),
        ({"kind": "flower", "petal": 3}, "petals"),
        ([], "at least"),
    ],
)
def test_networks_that_cannot_be(topology: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hashed(topology, agents=4 if isinstance(topology, (str, dict)) else None)


def test_a_refusal_names_the_missing_link_as_the_command_line_does(tmp_path: Path) -> None:
    broken = [(0, 1), (1, 0), (2, 0), (3, 2)]
    with pytest.raises(ValueError, match="no common root") as refused:
        hashed(broken)
    (tmp_path / "edges.txt").write_text("\n".join(f"{a} {b}" for a, b in broken), encoding="utf-8")
    text = '[problem]\nkind = "quadratic"\ndim = 3\n[run]\nagents = 4\niterations = 5\n'
    text += '[[topology]]\nname = "network"\n'
    text += 'file = "edges.txt"\n[[method]]\nkind = "smtpp"\nstep = { size = 0.1 }\n'
    (tmp_path / "file.toml").write_text(text, encoding="utf-8")
    ran = command("run", "file.toml", at=tmp_path)
    assert ran.returncode == 2
    assert str(refused.value) in ran.stderr
    facts = ow.inspect(broken)
    assert not facts["assumption_1"]["holds"]
    assert facts["assumption_1"]["repair"]["count"] >= 1


def test_inspect_says_what_the_command_line_says(tmp_path: Path) -> None:
    import json

    said = json.loads(command("inspect", "flower:petals=3", "--agents", 9, "--json", at=tmp_path).stdout)[
        "topologies"
    ][0]
    facts = ow.inspect("flower", 9, petals=3)
    assert {key: facts[key] for key in said if key != "topology"} == {
        key: said[key] for key in said if key != "topology"
    }
    assert facts["advice"][0] in repr(facts)
