"""Who hears whom: families, edge lists, ``networkx``, ``scipy.sparse`` and dense weights; and back again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from oneway import _native

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Network"]

Graph = Literal["full", "trees", "lazy-trees"]


class Network:
    """A directed network of agents 0, …, n − 1.

    Made by :meth:`family`, :meth:`from_edges`, :meth:`from_networkx` or :meth:`from_weights`. Where a
    function takes a topology, links of your own can be given as they are too: a ``networkx.DiGraph``, a list
    of (from, to), or a square array of weights.

    Examples
    --------
    >>> import oneway as ow
    >>> network = ow.Network.from_edges([(0, 1), (1, 2), (2, 0), (0, 2)])
    >>> network.agents
    3
    >>> network.weights()[0].round(2).tolist()  # R: rows sum to 1
    [[0.5, 0.0, 0.5], [0.5, 0.5, 0.0], [0.33, 0.33, 0.33]]
    """

    def __init__(self, native: _native.Network) -> None:
        self._native = native

    @classmethod
    def family(cls, kind: str, agents: int, *, seed: int = 1, **parameters: float) -> Network:
        """A family of :func:`oneway.topologies`, such as ``"exponential"``."""
        numbers = {name: float(value) for name, value in parameters.items()}
        return cls(_native.Network.family(kind, agents, numbers, seed))

    @classmethod
    def from_edges(cls, edges: Iterable[Any], agents: int | None = None) -> Network:
        """From links (from, to), or from several lists of links, one for each round of a period.

        ``agents`` is the largest number and one, if it is not given.
        """
        items = list(edges)
        if all(_is_link(item) for item in items):
            periods = [[_pair(item) for item in items]]
        else:
            periods = [[_pair(pair) for pair in _listed(item)] for item in items]
        most = max((max(pair) for period in periods for pair in period), default=-1)
        return cls(_native.Network.from_edges(most + 1 if agents is None else agents, periods))

    @classmethod
    def from_networkx(cls, graph: Any) -> Network:
        """From a ``networkx.DiGraph``. An undirected graph has links both ways. Nodes are numbered in their
        order.
        """
        number = {node: i for i, node in enumerate(graph.nodes)}
        pairs = [(number[a], number[b]) for a, b in graph.edges]
        if not graph.is_directed():
            pairs += [(b, a) for a, b in pairs]
        return cls(_native.Network.from_edges(len(number), [[(a, b) for a, b in pairs if a != b]]))

    @classmethod
    def from_weights(cls, pull: Any, push: Any = None) -> Network:
        """From R (rows sum to 1) and C (columns sum to 1), dense or ``scipy.sparse``; or from one W.

        Row i, column j is the weight of what i hears from j.
        """
        pull, n = _triples(pull, "R (pull)")
        push, m = _triples(push, "C (push)") if push is not None else (pull, n)
        if n != m:
            raise ValueError(f"R is for {n} agents, and C for {m}")
        return cls(_native.Network.from_weights(n, [(pull, push)]))

    @property
    def agents(self) -> int:
        """n."""
        return self._native.agents

    @property
    def edges(self) -> list[tuple[int, int]]:
        """Links (from, to), all of the period."""
        return sorted({edge for period in self._native.edges() for edge in period})

    @property
    def period(self) -> int:
        """Rounds after which the links repeat."""
        return len(self._native.edges())

    def weights(
        self,
        graph: Graph = "full",
        *,
        weights: Literal["uniform", "metropolis"] = "uniform",
        root: int = 0,
        round: int = 0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """R and C that a method gets, as dense arrays."""
        import numpy as np

        period = self._native.weights(graph, weights, root)
        both = []
        for sender, receiver, weight in period[round % len(period)]:
            matrix = np.zeros((self.agents, self.agents))
            matrix[receiver, sender] = weight
            both.append(matrix)
        return both[0], both[1]

    def to_scipy(self, graph: Graph = "full", *, round: int = 0) -> tuple[Any, Any]:
        """R and C as ``scipy.sparse.csr_array``."""
        from scipy.sparse import csr_array

        period = self._native.weights(graph)
        shape = (self.agents, self.agents)
        pull, push = (csr_array((w, (to, by)), shape=shape) for by, to, w in period[round % len(period)])
        return pull, push

    def to_networkx(self) -> Any:
        """The links as a ``networkx.DiGraph``."""
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(range(self.agents))
        graph.add_edges_from(self.edges)
        return graph

    def __repr__(self) -> str:
        return f"<oneway.Network of {self.agents} agents with {len(self.edges)} links>"


def _is_link(item: Any) -> bool:
    """Whether it is one link, right or wrong, and not a list of them."""
    return isinstance(item, Iterable) and not any(
        isinstance(end, Iterable) and not isinstance(end, str) for end in item
    )


def _listed(item: Any) -> list[Any]:
    if not isinstance(item, Iterable):
        raise ValueError(f"{item!r} is no link: give (from, to), two numbers of agents")
    return list(item)


def _pair(item: Any) -> tuple[int, int]:
    try:
        sender, receiver = item
        pair = (sender.__index__(), receiver.__index__())
    except (TypeError, ValueError, AttributeError):
        raise ValueError(f"{item!r} is no link: give (from, to), two numbers of agents") from None
    if min(pair) < 0:
        raise ValueError(f"{pair} is no link: agents count from 0")
    return pair


def _triples(matrix: Any, name: str) -> tuple[tuple[Any, Any, Any], int]:
    """The entries of a square matrix that are not zero: from, to, weight."""
    import numpy as np

    if hasattr(matrix, "tocoo"):  # scipy.sparse
        entries = matrix.tocoo()
        shape, receiver, sender, weight = entries.shape, entries.row, entries.col, entries.data
    else:
        dense = np.asarray(matrix, dtype="float64")
        shape = dense.shape
        if dense.ndim != 2:
            raise ValueError(f"{name} has shape {shape}: it must be square")
        receiver, sender = np.nonzero(dense)
        weight = dense[receiver, sender]
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{name} has shape {tuple(shape)}: it must be square")
    kept = weight != 0
    sender, receiver, weight = sender[kept], receiver[kept], weight[kept]
    return (sender.astype("int64"), receiver.astype("int64"), weight.astype("float64")), shape[0]


def as_network(given: Any) -> Network | None:
    """Links of the user's own as a network; none where it is a family's name, or settings."""
    if isinstance(given, Network):
        return given
    if isinstance(given, (str, dict)):
        return None
    if hasattr(given, "is_directed") and hasattr(given, "nodes"):
        return Network.from_networkx(given)
    if getattr(getattr(given, "dtype", None), "kind", "") in "iu" and getattr(given, "shape", ())[1:] == (2,):
        return Network.from_edges(given.tolist())  # whole numbers in two columns are links
    if hasattr(given, "tocoo") or hasattr(given, "__array__"):
        return Network.from_weights(given)
    if isinstance(given, tuple) and len(given) == 2 and all(hasattr(part, "shape") for part in given):
        return Network.from_weights(*given)
    if isinstance(given, Iterable):
        return Network.from_edges(given)
    raise TypeError(
        f"a {type(given).__name__} is no topology: "
        "give a name, links (from, to), a networkx.DiGraph or weights"
    )
