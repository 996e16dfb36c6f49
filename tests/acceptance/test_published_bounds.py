"""The published algorithm to the digit: the first bound of every published query, through spec, compiler and core.

The first bound is the largest |bound| of a difference of outputs on the unsplit box. A wrong slope, a wrong row of the
table of phase pairs, a generator that is not shared or a box that is off changes it; rounding outward does not show at
1e-9.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from acceptance import published
from acceptance.published import Query
from breadth import some
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.task import Domain

FIRST_BOX = Options(domain="paper", boxes=1, threads=1, lp=False)
RECOVERED_BOX = "prop_26"
"""Its box was recovered from the published tool's output, to fewer digits."""

pytestmark = pytest.mark.shared


def first_bound(runner: Runner, query: Query) -> float:
    """The figure as users read it."""
    result = runner.run(query.task).to_json()
    assert result["boxes"] <= 1
    bound = result["initial_bound"]
    assert isinstance(bound, float)
    return bound


def test_acas(shared: Path) -> None:
    queries = published.acas(shared)
    assert len(queries) == 200
    assert len({query.name for query in queries}) == 200
    runner = Runner(FIRST_BOX)
    wrong = []
    for query in some(queries, 80):
        digits = 1e-5 if query.task.check == RECOVERED_BOX else 1e-9
        bound = first_bound(runner, query)
        assert query.published
        if bound != pytest.approx(query.published.initial_bound, rel=digits, abs=0):
            wrong.append(f"{query.name}: {bound!r}, published {query.published.initial_bound!r}")
    assert not wrong


@pytest.mark.parametrize(("check", "bound"), [("near", 16.88038539881262), ("far", 125.47425371717578)])
def test_lhc(shared: Path, check: str, bound: float) -> None:
    runner = Runner(FIRST_BOX)
    queries = [query for query in published.lhc(shared) if query.task.check == check]
    assert len(queries) == 4
    for query in queries:
        assert query.published
        assert query.published.initial_bound == bound
        assert first_bound(runner, query) == pytest.approx(bound, rel=1e-9, abs=0)


@pytest.mark.parametrize("domain", ["shared", "naive"])
def test_other_domains_have_other_bounds(shared: Path, domain: Domain) -> None:
    """Otherwise the tests above would not know which domain they ran in."""
    runner = Runner(Options(domain=domain, boxes=1, threads=1, lp=False))
    queries = [query for query in published.acas(shared) if query.name.startswith("1_1 ")]
    ratios = [first_bound(runner, query) / query.published.initial_bound for query in queries if query.published]
    assert min(ratios) < 0.999 if domain == "shared" else max(ratios) > 1.001
