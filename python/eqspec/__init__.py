"""eqspec proves that two neural networks behave equivalently on a region of inputs, or shows where they do not.

report = eqspec.check("lhc.eqspec")
result = eqspec.verify("full.onnx", "pruned.onnx", lower, upper, eqspec.Confidence(0.9), timeout=60)
"""

from eqspec.api import Report, Spec, check, load, loads, verify
from eqspec.errors import Diagnostic, EqspecError, InputError, NetworkError, SpecError
from eqspec.networks import Network, read_network
from eqspec.tasks.bracket import Bracket
from eqspec.tasks.monitor import Monitor, Progress
from eqspec.tasks.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.tasks.result import Reason, Result, Verdict, Witness
from eqspec.tasks.run import __version__
from eqspec.tasks.task import Task

__all__ = [
    "Bracket",
    "Confidence",
    "Diagnostic",
    "Epsilon",
    "EqspecError",
    "InputError",
    "Linear",
    "Margin",
    "Monitor",
    "Network",
    "NetworkError",
    "Progress",
    "Property",
    "Reason",
    "Report",
    "Result",
    "Spec",
    "SpecError",
    "Task",
    "Top1",
    "Verdict",
    "Witness",
    "__version__",
    "check",
    "load",
    "loads",
    "read_network",
    "verify",
]
