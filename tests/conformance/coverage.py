"""What a run must have met: a share of all graphs, without which a run without findings says little."""

from __future__ import annotations

from collections import Counter

from conformance.generating import OPSETS
from conformance.generators import GENERATORS, SINCE
from conformance.spoiling import SPOILERS

LEAST: dict[str, float] = {
    "read": 0.4,
    "checked": 0.4,
    "read by the auditor": 0.1,
    "refused by the auditor": 0.2,
    "spoiled training": 0.004,
    "initialisers listed": 0.05,
    **{f"operator {name}": 0.0015 if name in SINCE else 0.004 for name in GENERATORS},
    **{f"opset {opset}": 0.02 for opset in OPSETS},
    **{f"spoiled {name}": 0.0005 for name in SPOILERS},
}


def missing(seen: Counter[str], graphs: int) -> list[str]:
    """Traits that occurred less often than they should."""
    return [trait for trait, share in LEAST.items() if seen[trait] < int(share * graphs)]
