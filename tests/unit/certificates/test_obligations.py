"""What the auditor takes for a violation, against claims as the language defines them, at points and in intervals."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from breadth import examples
from eqspec.audit.claim import claim as obligations_of
from eqspec.audit.witness import breaks
from eqspec.property import Property
from eqspec.tasks.serialisation import to_json
from small_tasks import identity, task
from unit.replay.claims_at_points import CLAIMS, enclosures, points, true


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_an_obligation_is_broken_where_the_claim_is(claim: Property) -> None:
    asked = to_json(task(identity(3), identity(3), claim))
    first, second, obligations = obligations_of(asked, 3)
    rng = np.random.default_rng(7)
    broken_somewhere = False
    for _ in range(examples(600)):
        f, g = enclosures(rng), enclosures(rng)
        truths = {true(claim, a, b) for a, b in product(points(f), points(g))}
        broken = any(breaks(one, f, g, (first, second)) for one in obligations)
        broken_somewhere |= broken
        assert not (broken and True in truths), (f, g)
        if all(low == high for low, high in (*f, *g)):
            assert broken is (False in truths), (f, g)
    assert broken_somewhere
