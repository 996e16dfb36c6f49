"""eqspec proves that two neural networks behave equivalently on a region of inputs, or shows where they do not.

report = eqspec.check("lhc.eqspec")
result = eqspec.verify("full.onnx", "pruned.onnx", lower, upper, eqspec.Confidence(0.9), timeout=60)

What is named here is imported when it is first used, so that `import eqspec` costs nothing: pytest imports it in every
run where its plugin is installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eqspec.api import Report, Spec, check, load, loads, quantised, verify
    from eqspec.api.counterexamples import counterexamples
    from eqspec.api.difference import diff
    from eqspec.differences.difference import Difference
    from eqspec.errors import (
        Diagnostic,
        EqspecError,
        InputError,
        InternalError,
        NetworkError,
        ResourceError,
        SpecError,
    )
    from eqspec.mining.found import Counterexamples
    from eqspec.networks import Dequantised, Network, ScaleAndZero, as_network, read_network
    from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Property, Top1
    from eqspec.run.core import __version__
    from eqspec.run.monitor import Monitor, Progress
    from eqspec.run.options import Options
    from eqspec.tasks.bracket import Bracket
    from eqspec.tasks.lattice import Lattice
    from eqspec.tasks.result import Result
    from eqspec.tasks.row_groups import RowGroup
    from eqspec.tasks.row_share import RowShare
    from eqspec.tasks.row_source import RowSource
    from eqspec.tasks.task import Task
    from eqspec.tasks.verdict import Reason, Verdict
    from eqspec.tasks.witness import Witness

_HOMES = {
    "eqspec.api": ("Report", "Spec", "check", "load", "loads", "quantised", "verify"),
    "eqspec.api.counterexamples": ("counterexamples",),
    "eqspec.api.difference": ("diff",),
    "eqspec.differences.difference": ("Difference",),
    "eqspec.errors": (
        "Diagnostic",
        "EqspecError",
        "InputError",
        "InternalError",
        "NetworkError",
        "ResourceError",
        "SpecError",
    ),
    "eqspec.mining.found": ("Counterexamples",),
    "eqspec.networks": ("Dequantised", "Network", "ScaleAndZero", "as_network", "read_network"),
    "eqspec.tasks.bracket": ("Bracket",),
    "eqspec.run.monitor": ("Monitor", "Progress"),
    "eqspec.run.options": ("Options",),
    "eqspec.property": (
        "Confidence",
        "Epsilon",
        "Linear",
        "Margin",
        "NeverSaturates",
        "NeverWraps",
        "Property",
        "Top1",
    ),
    "eqspec.tasks.lattice": ("Lattice",),
    "eqspec.tasks.result": ("Result",),
    "eqspec.tasks.row_groups": ("RowGroup",),
    "eqspec.tasks.row_share": ("RowShare",),
    "eqspec.tasks.row_source": ("RowSource",),
    "eqspec.tasks.verdict": ("Reason", "Verdict"),
    "eqspec.tasks.witness": ("Witness",),
    "eqspec.run.core": ("__version__",),
    "eqspec.tasks.task": ("Task",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Bracket",
    "Confidence",
    "Counterexamples",
    "Dequantised",
    "Diagnostic",
    "Difference",
    "Epsilon",
    "EqspecError",
    "InputError",
    "InternalError",
    "Lattice",
    "Linear",
    "Margin",
    "Monitor",
    "Network",
    "NetworkError",
    "NeverSaturates",
    "NeverWraps",
    "Options",
    "Progress",
    "Property",
    "Reason",
    "Report",
    "ResourceError",
    "Result",
    "RowGroup",
    "RowShare",
    "RowSource",
    "ScaleAndZero",
    "Spec",
    "SpecError",
    "Task",
    "Top1",
    "Verdict",
    "Witness",
    "__version__",
    "as_network",
    "check",
    "counterexamples",
    "diff",
    "load",
    "loads",
    "quantised",
    "read_network",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'eqspec' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
