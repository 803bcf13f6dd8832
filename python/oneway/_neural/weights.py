"""R and C of the rounds of a network, by receiver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from oneway import _native
from oneway._neural.rules import Rule
from oneway.networks import Network, as_network


class Weights:
    """R and C of each round of a network's period, once it has what a rule needs."""

    def __init__(self, rule: Rule, topology: Any, agents: int | None, graph: str | None = None) -> None:
        graph = graph or rule.graphs[0]
        if graph not in rule.graphs:
            raise ValueError(f"{rule.name} runs on graph {' or '.join(rule.graphs)}, not on {graph!r}")
        network = as_network(topology)
        if network is None:
            given = {"kind": topology} if isinstance(topology, str) else dict(topology)
            if rule.network == "central":
                given = {"kind": "complete"}
            if agents is None:
                raise ValueError("give agents=, the number of agents")
            network = Network.family(agents=agents, **given)
        if agents is not None and network.agents != agents:
            raise ValueError(f"the network has {network.agents} agents, and there must be {agents}")
        self.agents = network.agents
        period, self.divisor = _native.network_of(rule.native, network._native, graph)
        # by receiver, senders ascending: the order of the sums
        self.period = [tuple(_by_receiver(triples, self.agents) for triples in pair) for pair in period]

    @property
    def tables(self) -> list[Any]:
        """Senders and weights of all agents, as plain lists: what a checkpoint compares."""
        return [
            [[(list(map(int, s)), list(map(float, w))) for s, w in rows] for rows in pair]
            for pair in self.period
        ]


def _by_receiver(triples: Sequence[Any], agents: int) -> list[tuple[np.ndarray, np.ndarray]]:
    sender, receiver, weight = (np.asarray(part) for part in triples)
    rows = []
    for agent in range(agents):
        mine = np.flatnonzero(receiver == agent)
        mine = mine[np.argsort(sender[mine], kind="stable")]
        rows.append((sender[mine], weight[mine]))
    return rows


def kept_of(row: tuple[np.ndarray, np.ndarray], agent: int) -> float:
    """C_ii of a row of C."""
    senders, weights = row
    found = np.flatnonzero(senders == agent)
    return float(weights[found[0]]) if len(found) else 0.0


def settings_of(given: Any) -> Any:
    """A topology as a checkpoint keeps it, for messages."""
    return dict(given) if isinstance(given, Mapping) else str(given)
