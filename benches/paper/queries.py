"""The queries of the evaluation, as specs beside the networks: what is asked is what a user would write.

Boxes reach sigma standard deviations around the mean, in every feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from acceptance.published import Query
from benches.paper.networks import Pair
from eqspec.api import load

EPS = "0.1, 1, 10"
SIGMAS = {"full": "0.1, 0.3, 1, 3", "quick": "0.1, 1"}
DELTAS = {"full": "0.5, 0.9, 0.99, 0.999, 1 - 1e-5, 1 - 1e-7", "quick": "0.5, 0.99, 1 - 1e-7"}


@dataclass(frozen=True)
class Asked:
    """A query with what figures are drawn over."""

    pair: Pair
    query: Query
    kind: str
    sigma: float
    threshold: float | None


def asked(pair: Pair, folder: Path, size: str) -> list[Asked]:
    """All queries about a pair; `size` is full or quick."""
    path = folder / f"{pair.name}.eqspec"
    path.write_text(_text(pair, folder, size), encoding="utf-8")
    found = []
    for task in load(path).tasks:
        values = {name: float(value) for name, value in task.parameters.items()}
        threshold = values.get("delta", values.get("eps"))
        query = Query(task.id, task, None)
        found.append(Asked(pair, query, task.check, values["sigma"], threshold))
    return found


def _text(pair: Pair, folder: Path, size: str) -> str:
    zeros, ones = (", ".join([number] * pair.features) for number in ("0", "1"))
    sigmas = f"for sigma in [{SIGMAS[size]}]"
    files = [path.relative_to(folder) for path in (pair.reference, pair.candidate)]
    return f"""eqspec 1
space data {{
  shape     [{pair.features}]
  normalise zscore mean [{zeros}] std [{ones}]
  outputs   {pair.classes}
}}
network reference = "{files[0]}" in data
network candidate = "{files[1]}" in data
region core(s) in data = box {{ all within s sigma }}
check epsilon {{
  prove candidate stays within eps of reference  on core(sigma)
  {sigmas}
  for eps in [{EPS}]
}}
check top1 {{
  prove candidate keeps top1 of reference  on core(sigma)
  {sigmas}
}}
check confidence {{
  prove candidate keeps top1 of reference when confidence >= delta  on core(sigma)
  {sigmas}
  for delta in [{DELTAS[size]}]
}}
"""
