"""Certificates checked by the kernel, a program whose correctness is a theorem proved in Coq (folder `kernel`).

Networks, claim and region are derived by the auditor's reading (`eqspec.audit`). `canonical` writes the pair of
networks in integers, `validation` reads that text back and compares it with what was read, exactly. `questions`
writes region and claim in exact rationals, `commands` makes of a certificate's tree what the kernel is to try, and
`binary` runs it. Nothing but the kernel, the validation and the question decides what is accepted.
"""

from .binary import BinaryError, find
from .check import Checked, allowed, check

__all__ = ["BinaryError", "Checked", "allowed", "check", "find"]
