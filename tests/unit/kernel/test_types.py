"""Levels that fit their types: what the kernel accepts of `never wraps` and `never saturates`."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest

from breadth import some
from eqspec.audit import audit
from eqspec.audit.functions import BENT, Curve
from eqspec.audit.rounding import Refused
from eqspec.kernel import check, find
from eqspec.kernel.binary import ask, stream
from eqspec.kernel.canonical import canonical
from eqspec.kernel.validation import validate
from eqspec.property import NeverSaturates, NeverWraps
from small_tasks import task as task_of
from unit.certificates.proofs import certify
from unit.certificates.test_grids import chain, files, header_of, packed, quarters
from unit.certificates.test_merging import after_a_relu
from unit.kernel.pairs import GRAIN, IDENTITY, ROUNDINGS, Function, Neuron, Pair, points, question, stored
from unit.kernel.test_kernel import needs_kernel


@needs_kernel
def test_types_are_accepted_only_where_no_point_leaves_them() -> None:
    """Random networks and points, in types that wrap and in others."""
    random, accepted, broken = Random(41), 0, 0
    for _ in some(range(40), 12):
        pair = stored(random)
        inside = points(pair, random, 40)
        for wrapping in (False, True):
            data = stream(pair.text(), question(pair, f"fits {int(wrapping)}"), ["P 4"])
            leaves = not all(pair.fits(point, wrapping) for point in inside)
            holds = ask(find(), data, 20).refused is None
            assert not (holds and leaves), pair
            accepted, broken = accepted + holds, broken + leaves
    assert min(accepted, broken) >= 5


def at_a_place(functions: list[Function], places: list[Fraction]) -> Pair:
    """Quantisers whose arguments are these numbers of units, multiples of a quarter."""
    biases = [int(place * 4) for place in places]
    neurons = [Neuron((f, f), (b, b), ((0,), (0,))) for f, b in zip(functions, biases, strict=True)]
    return Pair(1, ((4, tuple(neurons)),))


@needs_kernel
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_a_type_is_left_exactly_where_the_rounding_passes_its_end(rounding: str) -> None:
    """At quarters of a step around both ends: all that fit are accepted together, the nearest that do not by themselves
    are not. Of a step of three units halves lie between units, and nothing that leaves is accepted either."""
    fitting, leaving = list[tuple[Function, Fraction]](), list[tuple[Function, Fraction]]()
    for size, least in ((64, -3), (64, 2), (3, -4)):
        f: Function = (size, 1, least, least + 2, rounding, True)
        for end, outward in ((least, -1), (least + 2, 1)):
            places = [Fraction(size) * (end - 1 + Fraction(outward * quarter, 4)) for quarter in range(5)]
            fits = [at_a_place([f], [place]).fits([Fraction(0)], True) for place in places]
            fitting += [(f, place) for place, inside in zip(places, fits, strict=True) if inside and size == 64]
            leaving.append((f, places[fits.index(False)]))
    together = at_a_place(*map(list, zip(*fitting, strict=True)))
    assert len(fitting) >= 8
    assert ask(find(), stream(together.text(), question(together, "fits 1"), ["P 0"])).refused is None
    for f, place in leaving:
        alone = at_a_place([f], [place])
        assert ask(find(), stream(alone.text(), question(alone, "fits 1"), ["P 0"])).refused is not None


@needs_kernel
@pytest.mark.parametrize("beyond", [False, True], ids=["fits", "leaves"])
@pytest.mark.parametrize("wraps", [(True, False), (False, True), (True, True)], ids=["first", "second", "both"])
def test_one_that_wraps_is_one_that_saturates_where_all_levels_fit(wraps: tuple[bool, bool], beyond: bool) -> None:
    """Of an argument that goes beyond the type, or does not; and how far apart both are then."""
    f, g = ((GRAIN // 4, 0, -4 + beyond, 4, "half-even", one) for one in wraps)
    layers = (1, (Neuron((f, g), (0, 0), ((1,), (1,))),)), (1, (Neuron((IDENTITY, IDENTITY), (0, 0), ((1,), (1,))),))
    pair = Pair(1, layers)
    apart = max(abs(pair.at([x], 0)[0] - pair.at([x], 1)[0]) for x in (Fraction(n, 8) for n in range(-8, 5)))
    assert bool(apart) == (beyond and wraps[0] != wraps[1])
    for eps, holds in ((Fraction(0), not apart), (apart - Fraction(1, GRAIN), False), (Fraction(3), True)):
        if eps >= 0:
            claim = question(pair, f"distance 1 0 {eps.numerator} {eps.denominator}")
            assert (ask(find(), stream(pair.text(), claim, ["P 4"])).refused is None) == holds


@needs_kernel
@pytest.mark.parametrize("claim", [NeverSaturates(), NeverWraps()])
def test_decisions_about_types_are_accepted(claim: NeverSaturates | NeverWraps, tmp_path: Path) -> None:
    """Of a network with a ReLU in front of a type without negative levels; on a larger region its levels do not fit."""
    rng = np.random.default_rng(3)
    proto = chain().then("Gemm", quarters(rng, 4, 2), quarters(rng, 4) + 8, transB=1).qdq(0.25, 0, np.int8)
    proto.then("Relu").qdq(0.25, 0, np.uint8).then("Gemm", quarters(rng, 2, 4), quarters(rng, 2), transB=1)
    (one,) = files(tmp_path, proto.qdq(0.5, 0, np.int16).proto(2))
    result, made = certify(task_of(one, one, claim, [-1, -1], [1, 1]), tmp_path / "proofs")
    assert result.verdict.value == "equivalent"
    assert made is not None
    assert made.reason is None
    assert audit(made.path, tmp_path).verdict == "equivalent"
    assert check(made.path, tmp_path, seconds=60).refused is None
    header = header_of(made.path)
    header["task"]["region"]["lo_exact"] = ["-99", "-99"]
    wider = check(packed(header, tmp_path), tmp_path, seconds=1)
    assert (wider.refused is None) == (claim == NeverWraps()), "nothing that the auditor reads wraps"
    assert wider.refused is None or "seems to leave its type" in wider.refused


def test_of_a_claim_about_types_every_step_is_in_the_text() -> None:
    """A ReLU in front of a quantiser stays, and so does a quantiser that nothing reads."""
    steps = after_a_relu(Curve("levels", (0.25, 0.0, 0.0, 9.0, 0.0)))
    assert steps[0].curves == BENT
    dead = [steps[0], steps[1], steps[1], steps[2]]
    for one in (steps, dead):
        pair = canonical(one, one, 1, every_step=True)
        assert pair.text.count("layer") == len(one) + pair.behind
        validate(pair.text, pair.grain, [one, one], every_step=True)
        with pytest.raises(Refused, match="not what the network files say"):
            validate(canonical(one, one, 1).text, pair.grain, [one, one], every_step=True)
