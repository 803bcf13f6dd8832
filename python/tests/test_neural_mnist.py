"""A network learns MNIST over a directed ring; without the links it does not."""

from __future__ import annotations

import time
from typing import Any

import pytest
from conftest import needs

torch: Any = needs("torch", "torch")
if True:  # after torch is known to be there
    import oneway as ow
    import oneway.torch as ot


@pytest.fixture(scope="module")
def digits() -> Any:
    torch.set_num_threads(1)  # beside other work, threads wait for each other longer than they compute
    return ot.data.mnist()


def network() -> Any:
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(784, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)
    )


def test_a_directed_ring_learns_what_no_agent_has_seen_alone(digits: Any) -> None:
    began = time.process_time()  # of this process: others may be using the machine
    agents = 5
    parts = ot.split(digits.inputs, digits.targets, agents, "by-class")  # two digits each
    settings: dict[str, Any] = {"rounds": 800, "batch": 32, "schedule": "cosine", "evaluate": digits.test}
    loss = torch.nn.functional.cross_entropy
    single = ow.Network.from_edges([], agents=1)
    by_itself = {**settings, "step": 0.15}
    ring = ot.simulate(network(), loss, parts, topology="ring", step=0.15, **settings)
    found = ring.history[-1]
    assert found["accuracy"] >= 0.95
    assert min(found["agents_accuracy"]) >= 0.95
    # the same with every link removed: each agent by itself, and the mean of what they learnt
    alone = [
        ot.simulate(
            network(), loss, [(digits.inputs[rows], digits.targets[rows])], topology=single, **by_itself
        )
        for rows in parts.rows
    ]
    assert max(one.history[-1]["accuracy"] for one in alone) < 0.6
    ring.points.copy_(torch.cat([one.points for one in alone]))
    assert ring.evaluate(*digits.test, each=False)["accuracy"] < 0.6
    assert time.process_time() - began < 60
