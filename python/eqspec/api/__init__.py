"""What `import eqspec` offers: check specs, verify a pair on a box, reports that are sequences of results."""

from eqspec.api.report import Report
from eqspec.api.spec import Spec, check, load, loads
from eqspec.api.verify import verify

__all__ = ["Report", "Spec", "check", "load", "loads", "verify"]
