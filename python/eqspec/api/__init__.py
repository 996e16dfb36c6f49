"""What `import eqspec` offers: check specs, verify a pair on a box, reports that are sequences of results."""

from eqspec.api.pair_verification import verify
from eqspec.api.quantised_network import quantised
from eqspec.api.report import Report
from eqspec.api.spec import Spec, check, load, loads
from eqspec.report import failure, notebook
from eqspec.tasks.result import Appearance, Result

__all__ = ["Report", "Spec", "check", "load", "loads", "quantised", "verify"]

Result.appearance = Appearance(text=failure.of_result, html=notebook.of_result)
