"""The functions: run, tune, inspect, certify, verify, reproduce."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from oneway import _native
from oneway._command import command, flags
from oneway._errors import Interrupted
from oneway._progress import Bar
from oneway.method import Method
from oneway.networks import Graph, Network, as_network
from oneway.problems import Problem, ReadyProblem
from oneway.results import Result, Tuned

Step = float | Mapping[str, Any]
Device = Literal["cpu", "cuda"]


def run(
    problem: Any,
    topology: Any = None,
    methods: Any = None,
    *,
    step: Step | None = None,
    iterations: int | None = None,
    agents: int | None = None,
    repetitions: int | None = None,
    seed: int | None = None,
    record_every: int | None = None,
    precision: Literal["f64", "f32"] | None = None,
    measure: Sequence[Literal["loss_gap", "agents_grad_norm_sq", "distance_sq"]] | None = None,
    clock: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    threads: int | None = None,
    device: Device = "cpu",
    out: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    callbacks: Sequence[Any] = (),
    progress: bool | None = None,
) -> Result:
    """Run methods on topologies.

    Parameters
    ----------
    problem : str or path, Problem, ReadyProblem or dict
        An experiment file, which needs nothing else; or what is minimised: one of ``oneway.problems``, a
        :class:`Problem` of your own, or the settings of ``[problem]``.
    topology : str, dict, Network, networkx.DiGraph, links or weights; or a list or dict of them
        Who hears whom. A dict without ``kind`` names several.
    methods : str, dict, Method; or a list or dict of them
        What runs. A dict without ``kind`` names several: ``{"slow": {"kind": "smtpp", "momentum": 0.05}}``.
        ``kind`` may be a :class:`Method` too, for what goes around it: ``{"kind": MyMethod(), "local_steps":
        3, "compress": "top-k"}``.
    step : float or dict
        η for methods that do not have their own: a number, or the settings of ``step``, such as
        ``{"size": 0.1, "scaling": "effective", "decay": 0.1, "every": 300}``.
    iterations, agents, repetitions, seed, record_every, precision, measure
        As in ``[run]``. Agents need not be given where the problem or the network says how many there are.
    clock : dict
        The settings of ``[clock]``, for virtual time.
    set : dict
        Settings to change, by their paths: ``{"run.iterations": 100, "method.SMTPP.step.size": 0.2}``.
    threads : int
        Threads to use; results do not depend on it.
    device : {"cpu", "cuda"}
        What runs the rounds; results do not depend on it. What cannot run on a GPU stays on the processors,
        and a warning names it with the reason.
    out : path
        A folder in which finished runs are kept and results are written, as ``oneway run`` does. By default
        nothing is written.
    fresh : bool
        Compute again what the folder has already.
    callbacks : sequence
        Observers (``oneway.callbacks``), or functions ``(topology, method, repetition, point)``.
    progress : bool
        Whether to show a bar. By default on terminals and in notebooks.

    Returns
    -------
    Result

    Raises
    ------
    ValueError
        What is asked for is not possible; the message says what would be.
    Interrupted
        Ctrl-C: what was recorded is the exception's ``result``. Exceptions of your own functions come
        through, with ``result`` too.

    Examples
    --------
    >>> import oneway as ow
    >>> problem = ow.problems.logistic(dataset="a9a")
    >>> result = ow.run(problem, "exponential", "smtpp", agents=20, step=0.1, iterations=100)
    >>> result.final[0]["status"]
    'completed'
    """
    run_settings = {
        "agents": agents,
        "iterations": iterations,
        "repetitions": repetitions,
        "seed": seed,
        "record_every": record_every,
        "precision": precision,
        "measure": measure,
    }
    experiment = _experiment(problem, topology, methods, step, run_settings, clock, set)
    observers = [observer.observe if hasattr(observer, "observe") else observer for observer in callbacks]
    try:
        with Bar(progress) as bar:
            folder = None if out is None else Path(out)
            native, stayed, ended = experiment.run(
                _threads(threads), folder, fresh, bar, _together(observers), device
            )
    finally:
        for observer in callbacks:
            if hasattr(observer, "close"):
                observer.close()
    _warn_of(stayed)
    result = Result(native)
    if isinstance(ended, KeyboardInterrupt):
        raise Interrupted(result) from None
    if ended is not None:
        ended.result = result  # type: ignore[attr-defined]
        raise ended
    return result


def tune(
    problem: Any,
    topology: Any = None,
    methods: Any = None,
    *,
    by: Literal["loss", "gradient"] = "loss",
    step: Step | None = None,
    iterations: int | None = None,
    agents: int | None = None,
    repetitions: int | None = None,
    seed: int | None = None,
    record_every: int | None = None,
    set: Mapping[str, Any] | None = None,
    threads: int | None = None,
    device: Device = "cpu",
    progress: bool | None = None,
) -> Tuned:
    """Find a good step size and momentum (or heavy ball) for each method on each topology, and compare them.

    Parameters are those of :func:`run`; ``by`` is what is to be small.
    """
    run_settings = {
        "agents": agents,
        "iterations": iterations,
        "repetitions": repetitions,
        "seed": seed,
        "record_every": record_every,
    }
    experiment = _experiment(
        problem, topology, methods, 0.1 if step is None else step, run_settings, None, set
    )
    with Bar(progress) as bar:
        found, toml, comparison, stayed = experiment.tune(by, _threads(threads), bar, device)
    _warn_of(stayed)
    return Tuned(found["best"], found["trials"], toml, comparison)


def certify(
    problem: Any,
    topology: Any = None,
    methods: Any = None,
    *,
    step: Step | None = None,
    iterations: int | None = None,
    agents: int | None = None,
    repetitions: int | None = None,
    seed: int | None = None,
    rounds: int = 400,
    set: Mapping[str, Any] | None = None,
    threads: int | None = None,
) -> dict[str, Any]:
    """Say what theory knows of an experiment, beside what is measured: stable steps, floor, bound.

    Parameters are those of :func:`run`; ``rounds`` is the length of the runs that map the steps that work, 0
    for none. Returns what ``oneway certify --json`` prints.
    """
    run_settings = {"agents": agents, "iterations": iterations, "repetitions": repetitions, "seed": seed}
    experiment = _experiment(problem, topology, methods, step, run_settings, None, set)
    findings: dict[str, Any] = experiment.certify(rounds, _threads(threads))
    return findings


class Inspection(dict[str, Any]):
    """What ``oneway inspect --json`` says of a topology, which shows itself in sentences."""

    def __repr__(self) -> str:
        """Show what follows from the facts."""
        return "\n".join([f"{self['topology']}: {self['agents']} agents", *self["advice"]])


def inspect(
    topology: Any,
    agents: int | None = None,
    *,
    methods: Sequence[str] | None = None,
    momentum: float = 0.1,
    **settings: Any,
) -> Inspection:
    """Ask a topology what it can do: connectivity, π, c_π, mixing, the steps that methods bear.

    Parameters
    ----------
    topology
        As for :func:`run`. Keyword arguments are parameters of its family.
    agents : int
        How many; links of your own say so themselves.
    methods : sequence of str
        Methods whose largest stable step is asked for.
    momentum : float
        λ of the methods that have momentum.

    Examples
    --------
    >>> import oneway as ow
    >>> facts = ow.inspect("exponential", 8)
    >>> facts["assumption_1"]["holds"], facts["graphs"][0]["diameter"]
    (True, 3)
    """
    network = as_network(topology)
    chosen = None if methods is None else list(methods)
    if network is not None:
        found = _native.inspect(
            "network", {"supplied": "network", **settings}, None, network._native, chosen, momentum
        )
    else:
        given = {"kind": topology} if isinstance(topology, str) else dict(topology)
        name = str(given.pop("name", given.get("kind", "network")))
        found = _native.inspect(name, {**given, **settings}, agents, None, chosen, momentum)
    return Inspection(found)


def stability_limit(
    method: str | Mapping[str, Any] | Method,
    topology: Any,
    agents: int | None = None,
    *,
    graph: Graph = "full",
    scaling: Literal["effective", "raw"] = "effective",
    **parameters: float,
) -> float:
    """Return the largest stable step of a method on a topology, times the curvature L.

    Parameters
    ----------
    method : str, dict or Method
        A method of :func:`methods`, with its parameters, or one of your own.
    topology
        As for :func:`run`; keyword arguments are parameters of its family.
    graph : {"full", "trees", "lazy-trees"}
        The links that the method uses.
    scaling : {"effective", "raw"}
        The step that the average takes, or η itself.

    Examples
    --------
    >>> import oneway as ow
    >>> ow.stability_limit({"kind": "smtpp", "momentum": 1.0}, "complete", 4)
    1.999999...
    """
    if isinstance(method, str) and method in (known := methods()):
        own = {parameter["name"] for parameter in known[method]["parameters"]} & parameters.keys()
        for name in own:
            instead = {"kind": method, name: parameters[name]}
            raise ValueError(f"{name} is a parameter of the method: give it as {instead}")
    network = as_network(topology)
    if network is None:
        given = {"kind": topology} if isinstance(topology, str) else dict(topology)
        if agents is None:
            raise ValueError("give agents=, the number of agents")
        network = Network.family(agents=agents, **{**given, **parameters})
    if isinstance(method, Method):
        native = method._traced
    else:
        given = {"kind": method} if isinstance(method, str) else dict(method)
        native = _native.builtin(
            str(given.pop("kind")), {name: float(value) for name, value in given.items()}
        )
    raw, effective = _native.stability_limit(native, network._native, graph)
    return effective if scaling == "effective" else raw


def verify(folder: str | os.PathLike[str], *, partial: bool = False, threads: int | None = None) -> list[str]:
    """Run a results folder again and return every difference from what it claims: none, if all bits agree.

    ``partial`` accepts that some runs were not finished.
    """
    _, differences = _native.verify(Path(folder), partial, _threads(threads))
    return differences


def reproduce(
    out: str | os.PathLike[str] = "out/reproduce",
    *,
    quick: bool = False,
    sensitivity: bool = False,
    threads: int | None = None,
    device: Device = "cpu",
) -> list[dict[str, Any]]:
    """Reproduce the paper: both experiments, a verdict on every claim, figures and a page in ``out``.

    Returns the claims, as ``claims.json`` has them. ``quick`` takes two repetitions: a look, not a verdict.
    """
    choices = {"quick": quick, "sensitivity": sensitivity, "threads": threads, "device": device}
    command(["reproduce", f"--out={os.fspath(out)}", *flags(choices)])
    claims: list[dict[str, Any]] = json.loads((Path(out) / "claims.json").read_text(encoding="utf-8"))
    return claims


def methods() -> dict[str, dict[str, Any]]:
    """Return all methods by name: what each is, whose it is, its parameters.

    >>> import oneway as ow
    >>> ow.methods()["smtpp"]["parameters"][0]["name"]
    'momentum'
    """
    return {entry["name"]: entry for entry in _native.names()["methods"]}


def topologies() -> dict[str, dict[str, Any]]:
    """Return all families of topologies by name, with their parameters."""
    return {entry["name"]: entry for entry in _native.names()["topologies"]}


def _warn_of(stayed: Sequence[tuple[str, str]]) -> None:
    """Name what ran on the processors although another device was asked for."""
    for what, why in stayed:
        warnings.warn(f"{what} ran on the CPU: {why}", RuntimeWarning, stacklevel=3)


def _threads(threads: int | None) -> int | None:
    if threads is not None and not 1 <= threads <= 1024:
        raise ValueError(f"threads={threads} is not possible: it must be from 1 to 1024")
    return threads


def _together(observers: Sequence[Callable[..., Any]]) -> Callable[..., bool] | None:
    if not observers:
        return None

    def observe(*seen: Any) -> bool:
        return any([bool(observer(*seen)) for observer in observers])

    return observe


def _experiment(
    problem: Any,
    topology: Any,
    methods: Any,
    step: Step | None,
    run_settings: dict[str, Any],
    clock: Mapping[str, Any] | None,
    changed: Mapping[str, Any] | None,
) -> _native.Experiment:
    """All of it as the settings of an experiment, and what is in memory beside them."""
    overrides = [f"{path}={_toml(value)}" for path, value in (changed or {}).items()]
    if isinstance(problem, (str, os.PathLike)):
        given = [name for name, value in run_settings.items() if value is not None]
        given += [
            name
            for name, value in (("topology", topology), ("methods", methods), ("step", step))
            if value is not None
        ]
        if given:
            raise ValueError(
                f'a file says all itself: change {", ".join(given)} by set={{"run.iterations": 100}}'
            )
        return _native.Experiment(Path(problem), Path(), overrides)
    for name, value in (
        ("topology", topology),
        ("methods", methods),
        ("iterations", run_settings["iterations"]),
    ):
        if value is None:
            raise ValueError(f"{name}= is missing")
    networks: dict[str, _native.Network] = {}
    recorded: dict[str, _native.Method] = {}
    topology_settings = [_topology(name, given, networks) for name, given in _several(topology, "topology")]
    method_settings = [_method(name, given, step, recorded) for name, given in _several(methods, "methods")]
    own, datasets = None, None
    if isinstance(problem, Problem):
        own, problem_settings = problem._native, {"supplied": "problem"}
        run_settings["agents"] = problem.agents if run_settings["agents"] is None else run_settings["agents"]
    elif isinstance(problem, ReadyProblem):
        problem_settings, datasets = problem.settings, problem.datasets
    elif isinstance(problem, Mapping):
        problem_settings = dict(problem)
    else:
        raise TypeError(
            f"a {type(problem).__name__} is no problem: give one of ow.problems, an ow.Problem, or a file"
        )
    if run_settings["agents"] is None:
        sizes = {network.agents for network in networks.values()}
        if len(sizes) != 1:
            raise ValueError("agents= is missing: how many there are")
        run_settings["agents"] = sizes.pop()
    settings = {
        "problem": problem_settings,
        "run": run_settings,
        "topology": topology_settings,
        "method": method_settings,
        "clock": None if clock is None else dict(clock),
    }
    return _native.Experiment(settings, Path(), overrides, own, datasets, networks, recorded)


def _several(given: Any, what: str) -> Iterable[tuple[str | None, Any]]:
    """One or several, with their names where they have some."""
    if isinstance(given, Mapping):
        if "kind" in given or "supplied" in given or "file" in given or "pull" in given:
            return [(None, given)]
        return [(str(name), one) for name, one in given.items()]
    if isinstance(given, (list, tuple)):
        if not given:
            raise ValueError(f"{what} is empty: give at least one")
        if any(
            isinstance(one, (str, Mapping, Network, Method)) or hasattr(one, "is_directed") for one in given
        ):
            return [(None, one) for one in given]
    return [(None, given)]


def _topology(name: str | None, given: Any, networks: dict[str, _native.Network]) -> dict[str, Any]:
    if isinstance(given, str):
        return {"name": name or given, "kind": given}
    if isinstance(given, Mapping):
        return {"name": name or given.get("kind", "network"), **given}
    network = as_network(given)
    assert network is not None  # settings and names were told apart above
    key = name or f"network{len(networks) + 1 if networks else ''}"
    networks[key] = network._native
    return {"name": key, "supplied": key}


def _method(
    name: str | None, given: Any, step: Step | None, recorded: dict[str, _native.Method]
) -> dict[str, Any]:
    settings: dict[str, Any]
    if isinstance(given, Method):
        given = {"kind": given}
    if isinstance(given, Mapping) and isinstance(given.get("kind"), Method):
        settings = dict(given)
        own: Method = settings.pop("kind")
        key = name or own.name
        while key in recorded:
            key += "′"
        recorded[key] = own._traced
        settings = {"name": key, "supplied": key, **settings}
    elif isinstance(given, str):
        settings = {"name": name or given, "kind": given}
    elif isinstance(given, Mapping):
        settings = {"name": name or given.get("kind"), **given}
    elif isinstance(given, type) and issubclass(given, Method):
        raise TypeError(f"{given.__name__} is a class: give a method, {given.__name__}()")
    else:
        raise TypeError(
            f"a {type(given).__name__} is no method: "
            "give a name of ow.methods(), a dict with its kind, or an ow.Method"
        )
    if "step" not in settings and step is not None:
        settings["step"] = step
    if isinstance(settings.get("step"), Mapping):
        settings["step"] = dict(settings["step"])
    elif settings.get("step") is not None:
        settings["step"] = {"size": float(settings["step"])}
    return settings


def _toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value) if isinstance(value, str) else str(value)
