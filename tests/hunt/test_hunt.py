"""A fixed slice of the hunt; that it sees what it has to; and that wrong answers would be found and made small."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from breadth import is_part, some
from eqspec.certificates import auditor
from eqspec.kernel import Checked
from eqspec.property import Epsilon, Property
from eqspec.run import runner
from hunt import certifying, judging
from hunt.__main__ import State
from hunt.cases import Case, Mode, random_mode, read, write
from hunt.coverage import LEAST, missing
from hunt.deciding import Answer
from hunt.hunting import Catch, cases, hunt
from hunt.judging import judge
from hunt.pairs import CHANGES, random_pair
from hunt.rounded import breach
from hunt.shrinking import shrink
from hunt.spreading import Spreading, draw, spread
from oracle.evaluate import outputs
from oracle.pairs import Pair
from oracle.queries import oracle_of

SLICE, SLICES = 9, len(some(range(2), 1))
"""Seeds of one test, and how many tests: hundreds of cases in all; `python -m hunt` takes as many as you like."""


@pytest.fixture(scope="module")
def catch() -> Catch:
    """What all slices together saw."""
    return Catch()


@pytest.mark.parametrize("number", range(SLICES))
def test_no_verdict_is_wrong(number: int, catch: Catch) -> None:
    found = hunt(number * SLICE, SLICE)
    catch.add(found)
    assert not found.wrong, found.wrong[0]


def test_everything_was_exercised(catch: Catch) -> None:
    """Every mode, claim, stage and verdict; else a hunt without findings says little."""
    if catch.cases < SLICES * SLICE * 20:
        pytest.skip("only some of the slices ran")
    lacking = missing(catch.seen, catch.cases)
    assert not [trait for trait in lacking if not (is_part() and trait.startswith("pair "))]  # one pair a seed


def test_what_was_not_exercised_is_named() -> None:
    seen = Counter({trait: 1000 for trait in LEAST if trait != "stage contraction"})
    assert not missing(seen, 10)  # of so few cases, it may be missed by chance
    assert missing(seen, 1000) == {"stage contraction": "0 of at least 2"}


def lie(case: Case) -> Answer:
    """A core that proves whatever it is asked about more than one input."""
    proved = len(case.pair.lower) > 1
    return Answer("equivalent" if proved else "unknown", "boxes", False, None, None, float(proved), 0, 1, 0, {})


def test_a_wrong_proof_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_decide", lambda case, *_: lie(case))
    found = hunt(7, 1)
    assert found.seen["wrong"] >= 5
    small = read(found.wrong[0])
    assert judge(small).complaint == "proved, but it breaks"
    assert len(small.pair.lower) == 2
    assert sum(np.count_nonzero(weight) for weight, _ in small.pair.candidate) <= 3
    assert small.mode == Mode(boxes=1, seed=small.mode.seed)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"verdict": "different", "witness": (Fraction(0),)}, "the witness is none"),
        ({"vacuous": True}, "called vacuous, but not proved"),
        ({"verdict": "equivalent", "vacuous": True, "certified": 1.0}, "proved, but it breaks"),
        ({"certified": 1.5}, "1.5 of the region is proved"),
        ({"reason": None}, "unknown without a reason"),
        ({"trouble": "the certificate is gone"}, "the certificate is gone"),
        ({"initial_bound": 0.5, "boxes": 1}, "the first bound is 0.5, but a difference of 1.0 occurs"),
    ],
)
def test_every_kind_of_wrong_answer_is_noticed(
    change: dict[str, object], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """f = 0 and g = x on [0, 1], claimed to be within 3/4."""
    layers = [[(np.array([[slope]]), np.zeros(1))] for slope in (0.0, 1.0)]
    plain = replace(
        random_pair(0)[0],
        reference=layers[0],
        candidate=layers[1],
        lower=(Fraction(0),),
        upper=(Fraction(1),),
        constraints=(),
        decide="max",
    )
    claim = Epsilon(Fraction(3, 4))
    case = Case(plain, oracle_of(plain), claim, True, Mode())
    stages = dict.fromkeys(judging.STAGES, 0)
    honest = Answer("unknown", "boxes", False, None, None, 0.0, 1, 0, 0, stages)
    monkeypatch.setattr(judging, "_decide", lambda *_: honest)
    assert judge(case).complaint is None
    monkeypatch.setattr(judging, "_decide", lambda *_: replace(honest, **change))  # type: ignore[arg-type]
    assert judge(case).complaint == complaint


def simple(claim: Property, mode: Mode, slopes: Sequence[float] = (0.0, 1.0)) -> Case:
    """f and g with these slopes on [0, 1]."""
    reference, candidate = ([(np.array([[slope]]), np.zeros(1))] for slope in slopes)
    pair = Pair("unrelated", reference, candidate, (Fraction(0),), (Fraction(1),), (), "max")
    oracle = oracle_of(pair)
    return Case(pair, oracle, claim, oracle.breaks(claim), mode)


def test_a_claim_that_a_runtime_breaks_is_no_theorem_of_float32() -> None:
    """1e8 x + 3 x - 1e8 x and 3 x: the same over the reals, in float32 by the order of the sum."""
    cancelling = [(np.array([[1e8], [3.0], [1e8]]), np.zeros(3)), (np.array([[1.0, 1.0, -1.0]]), np.zeros(1))]
    plain = simple(Epsilon(Fraction(1)), Mode(arithmetic="float32"), slopes=(3.0, 3.0))
    case = plain.with_pair(replace(plain.pair, reference=cancelling))
    assert case.breaks is False
    assert "a runtime breaks it" in (breach(case, case.pair) or "")
    loose = case.with_claim(Epsilon(Fraction(100)))
    assert breach(loose, loose.pair) is None


def test_an_accepted_forgery_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    case = simple(Epsilon(Fraction(9, 8)), Mode(channel="certified"))
    assert case.breaks is False
    honest = judge(case)
    assert honest.complaint is None
    assert {"audited equivalent", "forged"} <= {*honest.traits}
    monkeypatch.setattr(auditor.Auditor, "ask", lambda *_, **__: auditor.Answer(None, "equivalent"))
    assert "the auditor accepts" in (judge(case).complaint or "")


def test_a_cache_that_confuses_questions_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    case = simple(Epsilon(Fraction(1)), Mode(channel="cached"))
    honest = judge(case)
    assert honest.complaint is None
    assert {"from the cache", "asked changed"} <= {*honest.traits}
    monkeypatch.setattr(runner, "key_of", lambda *_: "0" * 64)
    assert judge(case).complaint == "another question, and the old answer from the cache"


def test_a_search_that_was_stopped_goes_on() -> None:
    seen = Counter(
        trait
        for seed in range(14)
        for case, _ in cases(seed)
        if case.mode.boxes == 1 and case.mode.channel == "runner"
        for trait in judge(replace(case, mode=replace(case.mode, channel="cached"))).traits
    )
    assert seen["resumed"] >= 3


def test_a_crash_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> Answer:
        raise ZeroDivisionError("somewhere")

    monkeypatch.setattr(judging, "_decide", crash)
    assert judge(next(cases(0))[0]).complaint == "ZeroDivisionError: somewhere"


@pytest.mark.parametrize("seed", range(30))
def test_a_written_case_is_the_same_case(seed: int) -> None:
    case, _ = next(islice(cases(seed), seed % 10, None))
    again = read(write(case, "wrong"))
    assert (again.claim, again.mode, again.breaks) == (case.claim, case.mode, case.breaks)
    assert write(again, "wrong") == write(case, "wrong")


def test_shrinking_keeps_what_is_wrong() -> None:
    """Here: three outputs and a fixed input, of which nothing may be lost."""

    def wrong(case: Case) -> str | None:
        fixed = any(low == high for low, high in zip(case.pair.lower, case.pair.upper, strict=True))
        return "so" if fixed and case.pair.outputs == 3 and case.mode.domain == "paper" else None

    some = next(case for seed in range(100) for case, _ in cases(seed) if wrong(case))
    small, complaint = shrink(some, "so", wrong)
    assert complaint == wrong(small) == "so"
    assert len(small.pair.lower) == 1
    assert not small.pair.constraints
    assert not any(weight.any() or bias.any() for weight, bias in small.pair.reference)
    assert small.mode == Mode(domain="paper", boxes=1, seed=small.mode.seed)


@pytest.mark.parametrize("inputs", [4, 9, 66])
def test_a_spread_pair_is_the_same_function(inputs: int) -> None:
    """Any point of the larger box stands for one of the smaller, with the same outputs; and the ends meet exactly."""
    widened = 0
    for seed in range(40):
        pair, _ = random_pair(seed)
        wide, found = (made(pair, inputs, np.random.default_rng(seed)) for made in (spread, draw))
        if wide is pair:
            continue
        assert isinstance(wide, Pair)
        assert isinstance(found, Spreading)
        widened += 1
        size = len(pair.lower)
        assert sum(low < high for low, high in zip(wide.lower, wide.upper, strict=True)) >= inputs
        lowest = [low if f > 0 else high for low, high, f in zip(wide.lower, wide.upper, found.factors, strict=True)]
        assert found.fold(lowest, size) == list(pair.lower)
        rng = np.random.default_rng(seed)
        shares = [Fraction(int(n), 8) for n in rng.integers(0, 9, len(wide.lower))]
        point = [low + s * (high - low) for low, s, high in zip(wide.lower, shares, wide.upper, strict=True)]
        folded = found.fold(point, size)
        assert outputs(wide.reference, point) == outputs(pair.reference, folded)
        assert outputs(wide.candidate, point) == outputs(pair.candidate, folded)
        for ours, theirs in zip(pair.constraints, wide.constraints, strict=True):
            assert dot(ours.coefficients, folded) == dot(theirs.coefficients, point)
    assert widened > 15


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def test_modes_are_all_drawn() -> None:
    rng = np.random.default_rng(0)
    words = Counter(word for _ in range(2000) for word in random_mode(rng).words())
    assert all(words[trait] >= 0.7 * LEAST[trait] * 2000 for trait in LEAST if trait in words)
    assert {random_pair(seed)[1] for seed in range(300)} == {"plain", *CHANGES}


def test_a_hunt_goes_on_where_it_was(tmp_path: Path) -> None:
    state = State(7)
    first, second, third = (next(blocks) for blocks in [state.blocks()] for _ in range(3))
    state.finish(first, Catch(10, Counter({"splits": 3})))
    state.finish(third, Catch(10, Counter({"splits": 1})))
    state.save(tmp_path / "state.json")
    again = State.load(tmp_path / "state.json", 7)
    assert (again.catch.cases, again.catch.seen["splits"]) == (20, 4)
    blocks = again.blocks()
    assert [next(blocks), next(blocks)] == [second, third + 1]
    with pytest.raises(SystemExit, match="seed 7"):
        State.load(tmp_path / "state.json", 8)


@pytest.mark.parametrize(
    ("refused", "trait", "wrong"),
    [
        (None, "kernel accepts", False),
        ("after 3 leaves a part is not proved by the bounds that the prover finds", "kernel is too weak", False),
        ("the kernel took longer than 20 seconds", "kernel is too weak", False),
        ("the kernel checks distances in linf and l1; this one is in l2", "kernel has no rule", False),
        ("the kernel refuses record 4", "kernel refuses", True),
        ("2 parts of the region are left where the records end", "kernel refuses", True),
    ],
)
def test_what_the_kernel_refuses_is_a_finding_unless_it_is_too_weak(
    refused: str | None, trait: str, wrong: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certifying, "check", lambda *_, **__: Checked(refused, {}, 0.0))
    found, trouble = certifying.judged_by_kernel(Path("a certificate"))
    assert found == trait
    assert (trouble is not None) is wrong
