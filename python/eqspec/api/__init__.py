"""What `import eqspec` offers: check specs, verify a pair on a box, reports that are sequences of results."""

from eqspec.api import notebook
from eqspec.api.pair import verify
from eqspec.api.report import Report
from eqspec.api.spec import Spec, check, load, loads
from eqspec.report import failure
from eqspec.tasks.result import Result

__all__ = ["Report", "Spec", "check", "load", "loads", "verify"]

# Results are plain data and know nothing of how they look; printed and in a notebook they look like this.
Result.__str__ = failure.of_result  # type: ignore[method-assign, assignment]
Result._repr_html_ = notebook.of_result  # type: ignore[attr-defined]
