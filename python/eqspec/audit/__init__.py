"""The auditor: checks certificates without the search, the compiled core, or anything else of eqspec.

It reads the networks itself, derives the claim from the task itself, and bounds every leaf of the proof itself, in
floats whose rounding is counted. What a certificate adds are hints: where to cut, which multipliers to use. Wrong
hints can make it refuse, never accept. Without the rest of eqspec: `python path/to/eqspec/audit CERTIFICATE`.
"""

from .certificate import audit
from .rounding import Refused
from .statement import Audit

__all__ = ["Audit", "Refused", "audit"]
