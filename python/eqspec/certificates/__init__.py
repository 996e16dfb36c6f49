"""Certificates: from the record of a search to a file that the auditor accepts, and which tasks such files answer."""

from eqspec.certificates.auditor import Answer, Auditor
from eqspec.certificates.certifier import SUFFIX, Certifier
from eqspec.certificates.task_binding import Coverage, UnboundError
from eqspec.certificates.writer import Certificate

__all__ = ["SUFFIX", "Answer", "Auditor", "Certificate", "Certifier", "Coverage", "UnboundError"]
