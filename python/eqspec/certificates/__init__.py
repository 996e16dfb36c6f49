"""Certificates: from the record of a search to a file that the auditor accepts, and which tasks such files answer.

`record` reads what the core wrote of a search. `proof_construction` puts its events in order, as a tree in preorder,
and `fact_multipliers` turns what contractions did into multipliers of the auditor's facts (`facts` has their numbers).
`halving` and `settling` close leaves that the auditor's enclosures leave open. `writer` has the result audited before
it gets its name, within the `deadline`; `certifier` does so for a run. `task_binding` says which tasks of a spec
certificates answer, and `dealt_audit` deals the leaves of an audit out as `parts`.
"""

from eqspec.certificates.auditor import Answer, Auditor
from eqspec.certificates.certifier import SUFFIX, Certifier
from eqspec.certificates.task_binding import Coverage, UnboundError
from eqspec.certificates.writer import Certificate

__all__ = ["SUFFIX", "Answer", "Auditor", "Certificate", "Certifier", "Coverage", "UnboundError"]
