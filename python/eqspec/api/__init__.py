"""What `import eqspec` offers: check specs, verify a pair on a box, reports that are sequences of results."""

from eqspec.api.pair import verify
from eqspec.api.report import Report
from eqspec.api.spec import Spec, check, load, loads

__all__ = ["Report", "Spec", "check", "load", "loads", "verify"]
