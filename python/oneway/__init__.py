"""Decentralised optimisation over directed networks.

Machines that hold private data, hear some peers and are heard by others, together minimise F(x) = (1/n) Σ
f_i(x), with no server and no two-way links.

>>> import oneway as ow
>>> problem = ow.problems.quadratic(dim=5)
>>> result = ow.run(problem, "exponential", ["smtpp", "push-pull"], agents=8, step=0.2, iterations=300)
>>> [row["status"] for row in result.final]
['completed', 'completed']
>>> bool(result.curve("smtpp")["grad_norm_sq"][-1] < 1e-12)
True

`run` runs, `tune` finds steps, `inspect` and `stability_limit` ask a network, `certify` asks the theory,
`verify` runs a results folder again, `reproduce` is the paper. `Problem` takes gradients of your own,
`Method` a method of your own, `Network` links of your own.
"""

from oneway import callbacks, problems
from oneway._api import (
    Inspection,
    certify,
    inspect,
    methods,
    reproduce,
    run,
    stability_limit,
    topologies,
    tune,
    verify,
)
from oneway._errors import Interrupted
from oneway._native import Draws
from oneway.method import At, Method, if_positive, maximum, minimum, sign, sqrt
from oneway.networks import Network
from oneway.problems import Problem
from oneway.results import Result, Tuned

__version__ = "0.1.0"

__all__ = [
    "At",
    "Draws",
    "Inspection",
    "Interrupted",
    "Method",
    "Network",
    "Problem",
    "Result",
    "Tuned",
    "callbacks",
    "certify",
    "if_positive",
    "inspect",
    "maximum",
    "methods",
    "minimum",
    "problems",
    "reproduce",
    "run",
    "sign",
    "sqrt",
    "stability_limit",
    "topologies",
    "tune",
    "verify",
]
