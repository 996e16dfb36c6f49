"""What is said about a certificate is derived from what was checked: whatever its author writes beside that."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from breadth import is_part
from eqspec.audit import Audit, Refused, audit
from eqspec.audit.opening import Bounded, label, number_in_words
from eqspec.audit.proof import Proof
from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.tasks.task import LinearConstraint, Task
from eqspec.tasks.verdict import Verdict
from oracle.queries import CLAIMS, Claim, query
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.files import in_files, write
from unit.certificates.proofs import BOXES, Parts, certify, close, layers, pack, unpack

LIE = "eps <= 0.000001 on every input"
ESCAPES = (
    "\x1b[2J\x1b[1;1Hall inputs",
    "a\nequivalent: everything",
    "\u202eeslaf",
    '" and "',
    "\ud800",
    "\x00",
    "x" * 5000,
)


def made(task: Task, folder: Path) -> Parts:
    """The parts of the certificate of a task."""
    folder.mkdir(exist_ok=True)
    _, certificate = certify(task, folder)
    assert certificate is not None
    assert certificate.reason is None, certificate.reason
    return unpack(certificate.path)


def audited(parts: Parts, folder: Path) -> Audit:
    found: Audit = audit(pack(folder / "changed", parts))
    return found


def text(found: Audit) -> str:
    return "\n".join(f"{heading}: {sentence}" for heading, sentence in found.said)


def small(folder: Path, claim: Property, **fields: Any) -> Task:
    """A pair with two inputs and three outputs, on a box of a thousandth."""
    task = close(2, folder, claim, [2, 4, 3], Fraction(1, 1000), 0.01)
    return replace(task, **fields)


def test_the_claim_of_the_file_is_not_printed(tmp_path: Path) -> None:
    """A proof of much less at one point is not what its author calls it."""
    zero = (Fraction(0),) * 2
    task = small(
        tmp_path, Epsilon(1000), lower_exact=zero, upper_exact=zero, lower=np.zeros(2), upper=np.zeros(2), id=LIE
    )
    parts = made(task, tmp_path)
    parts.header["task"]["claim"] = f"b stays within 0.000001 of a in linf, {LIE}"
    found = audited(parts, tmp_path)
    assert found.claim == "in each of all 3 outputs the candidate differs from the reference by at most 1000"
    assert "single point" in text(found)
    assert LIE not in text(found)
    assert "0.000001" not in text(found)


@pytest.mark.parametrize("name", [LIE, *ESCAPES])
def test_names_stand_in_no_sentence(name: str, tmp_path: Path) -> None:
    parts = made(small(tmp_path, Top1()), tmp_path)
    plain = audited(parts, tmp_path)
    task = parts.header["task"]
    task.update(id=name, claim=name, check=name, parameters={name: name}, tags=[name], source=name, units=name)
    task["space"].update(features=[name] * 2, outputs=[name] * 3, units=[name] * 2)
    for role in ("reference", "candidate"):
        task[role].update(name=name)
    found = audited(parts, tmp_path)
    assert found.said == plain.said
    assert found.claim == plain.claim
    shown = label(name)
    assert shown.isprintable()
    assert len(shown) < 400
    assert shown.count('"') - shown.count('\\"') == 2


CLAIMED: list[tuple[Property, str]] = [
    (Epsilon("0.05"), "by at most 0.05"),
    (Epsilon(Fraction(1, 3), "l1"), "in l1, the candidate differs from the reference by at most 1/3"),
    (
        Epsilon(2, "l2", (0, 2)),
        "outputs 0, 2 alone together, in l2, the candidate differs from the reference by at most 2",
    ),
    (Top1(), "a class that the reference puts first (the highest score wins), the candidate puts first too"),
    (Margin("0.5"), "ahead of every other by at least 0.5"),
    (Confidence("0.35"), "the softmax of the reference gives it at least 0.35"),
    (Linear((1, 0, -2), (0, "0.5", 0), 3), "candidate[0] - 2 * candidate[2] + 0.5 * reference[1] is at most 3"),
    (Linear((1, 0, 0), (0, 0, 0), 3, strict=True), "candidate[0] is below 3"),
]


@pytest.mark.parametrize(("claim", "words"), CLAIMED, ids=lambda value: str(value)[:40])
def test_claims_in_words(claim: Property, words: str, tmp_path: Path) -> None:
    parts = made(small(tmp_path, claim), tmp_path)
    assert words in audited(parts, tmp_path).claim


def test_the_lowest_score_wins_is_said(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    same = layers(rng, [2, 4, 3])
    one, other = write(tmp_path / "a.onnx", same), write(tmp_path / "b.onnx", same)
    task = task_of(one, other, Top1(), space=space(2, 3, decide="min"))
    found = audited(made(task, tmp_path), tmp_path)
    assert "the lowest score wins" in found.claim
    assert "same file" in text(found)


def test_raw_units_say_whether_a_network_reads_them(tmp_path: Path) -> None:
    """A normalisation that nothing reads may be anything, and is said to be the certificate's."""
    task = small(tmp_path, Epsilon(1000))
    normalised = replace(
        task, space=space(2, 3, centre=(Fraction(100), Fraction(7)), scale=(Fraction(10), Fraction(3)))
    )
    found = audited(made(normalised, tmp_path), tmp_path)
    assert "input 0: 99.99 .. 100.01" in text(found)
    assert "no network takes raw inputs" in text(found)


def test_regions_are_told_apart(tmp_path: Path) -> None:
    parts = made(small(tmp_path, Epsilon(1000)), tmp_path)
    region = parts.header["task"]["region"]
    assert "inputs 0 to 1: -0.001 .. 0.001" in text(audited(parts, tmp_path))
    region["hi_exact"][1] = region["lo_exact"][1]
    fixed = audited(parts, tmp_path)
    assert "1 of them fixed" in text(fixed)
    assert "input 1: -0.001" in text(fixed)
    region.update(A=[["1", "-1/3"]], b=["1/7"], strict=[True])
    assert "input 0 - 1/3 * input 1 < 1/7" in text(audited(parts, tmp_path))


def test_many_inputs_are_summed_up_with_what_is_fixed(tmp_path: Path) -> None:
    """What is not listed cannot be a point in secret."""
    task = close(1, tmp_path, Epsilon(1000), [40, 3, 2], Fraction(1), 0.1)
    parts = made(task, tmp_path)
    region = parts.header["task"]["region"]
    region["lo_exact"] = [str(-Fraction(n + 1, 100)) for n in range(40)]
    region["hi_exact"] = [*[str(Fraction(n + 1, 100)) for n in range(20)], *region["lo_exact"][20:]]
    said = text(audited(parts, tmp_path))
    assert "29 inputs more, between -0.4 and 0.2, 0 to 0.4 wide, 20 of them fixed" in said
    assert "20 of them fixed" in said.split("\n")[1]


def test_what_holds_for_nothing_is_said(tmp_path: Path) -> None:
    """An empty box; constraints that nothing meets; a condition that nothing meets."""
    parts = made(small(tmp_path, Epsilon(1000)), tmp_path)
    assert audited(parts, tmp_path).vacuous is False
    empty = parts.copy()
    empty.header["task"]["region"].update(lo_exact=["1", "0"], hi_exact=["0", "1"])
    found = audited(empty, tmp_path)
    assert found.vacuous is True
    assert "EMPTY" in text(found)
    assert "VACUOUS" in text(found)
    cut = parts.copy()
    cut.header["task"]["region"].update(A=[["1", "1"]], b=["-1"], strict=[False])
    assert audited(cut, tmp_path).vacuous is True
    guarded = made(small(tmp_path, Confidence(Fraction(999999, 1000000))), tmp_path)
    found = audited(guarded, tmp_path)
    assert found.vacuous is True
    assert "no input of the region meets the condition" in text(found)


def test_what_may_hold_for_nothing_is_said(tmp_path: Path) -> None:
    """A line through the box, which no point that is tried meets."""
    slope, bound = Fraction(7, 3), Fraction(1, 9999)
    line = (LinearConstraint((Fraction(1), -slope), bound), LinearConstraint((Fraction(-1), slope), -bound))
    found = audited(made(small(tmp_path, Epsilon(1000), constraints=line), tmp_path), tmp_path)
    assert found.vacuous is None
    assert "if there is none, the claim holds for nothing" in text(found)


def test_a_condition_that_is_met_is_found(tmp_path: Path) -> None:
    found = audited(made(small(tmp_path, Confidence(Fraction(34, 100))), tmp_path), tmp_path)
    assert found.vacuous is False


NUMBERS = [
    (Fraction(1, 20), "0.05"),
    (Fraction(1, 3), "1/3"),
    (Fraction(-7), "-7"),
    (Fraction(10**30), "about 1E+30"),
    (Fraction(1, 10**40), "about 1E-40"),
    (Fraction(10**17 + 1, 2 * 10**18), "about 0.05"),
    (Fraction(1, 10**3999), "about 1E-3999"),
    (Fraction(0), "0"),
]


@pytest.mark.parametrize(("number", "words"), NUMBERS, ids=[words for _, words in NUMBERS])
def test_numbers_are_exact_or_said_not_to_be(number: Fraction, words: str) -> None:
    assert number_in_words(number) == words
    assert words.startswith("about") or Fraction(words) == number


@pytest.mark.parametrize("kind", CLAIMS)
def test_what_is_printed_is_what_the_oracle_was_asked(kind: Claim, tmp_path: Path) -> None:
    """And whatever is changed in the task changes what is printed, or is refused, or was a name."""
    accepted = refused = 0
    thinner = 3 if is_part() else 1
    for seed in range(2):
        asked = query(seed, kind, 0)
        folder = tmp_path / str(seed)
        folder.mkdir()
        task = in_files(asked.task(), folder)
        result, certificate = certify(task, folder, domain=asked.domain, lp=asked.lp, boxes=BOXES)
        if result.verdict is Verdict.UNKNOWN or certificate is None or certificate.reason is not None:
            continue
        parts = unpack(certificate.path)
        found = audited(parts, folder)
        _is_asked(found.question, task)
        # Half of the changes of the first, a sixth of the second; the other half is that of other claims.
        for changed in islice(_changes(parts), CLAIMS.index(kind) % 2, None, (2 + 4 * seed) * thinner):
            try:
                other = audited(changed, folder)
            except Refused:
                refused += 1
                continue
            accepted += 1
            _is_told(changed, other)
            if other.question == found.question:
                if changed.header.get("witness") == parts.header.get("witness"):
                    assert other.said == found.said
            else:
                assert other.said != found.said or "about" in text(found)
    assert accepted > 10 / thinner
    assert refused > 50 / thinner


def _is_asked(question: dict[str, Any], task: Task) -> None:
    """Field by field, without the code that made it."""
    region, said = question["region"], question["property"]
    assert tuple(map(Fraction, region["lo_exact"])) == task.lower_exact
    assert tuple(map(Fraction, region["hi_exact"])) == task.upper_exact
    rows = [
        (tuple(map(Fraction, a)), Fraction(b), s)
        for a, b, s in zip(region["A"], region["b"], region["strict"], strict=True)
    ]
    assert rows == [(c.coefficients, c.bound, c.strict) for c in task.constraints]
    assert said["decide"] == task.space.decide
    assert [question[role]["sha256"] for role in ("reference", "candidate")] == [
        task.reference.sha256,
        task.candidate.sha256,
    ]
    match task.property:
        case Epsilon(eps, norm, outputs):
            assert (Fraction(said["eps"]), said["norm"]) == (Fraction(eps), norm)
            assert said["outputs"] == (None if outputs is None else list(outputs))
        case Margin(threshold) | Confidence(threshold):
            assert Fraction(said["guard"]["threshold"]) == Fraction(threshold)
        case Top1():
            assert said["guard"] is None
        case Linear(candidate, reference, bound, strict):
            assert [Fraction(c) for c in said["candidate"]] == [Fraction(c) for c in candidate]
            assert [Fraction(c) for c in said["reference"]] == [Fraction(c) for c in reference]
            assert (Fraction(said["bound"]), said["strict"]) == (Fraction(bound), strict)


def _is_told(parts: Parts, found: Audit) -> None:
    """What is said of an accepted certificate is what its data says."""
    task = parts.header["task"]
    assert found.question["property"] == _exact(task["property"])
    assert all(
        found.question["region"][name] == _exact(task["region"][name]) for name in ("lo_exact", "A", "b", "strict")
    )
    assert found.question["arithmetic"] == task.get("arithmetic", "real")


def _exact(data: Any) -> Any:
    """Texts of numbers in lowest terms."""
    if isinstance(data, dict):
        return {name: _exact(value) for name, value in data.items()}
    if isinstance(data, list):
        return [_exact(value) for value in data]
    return str(Fraction(data)) if isinstance(data, str) and data.strip("-/0123456789") == "" else data


def _changes(parts: Parts) -> Iterator[Parts]:
    """Every field of the task and of the witness, changed in several ways; those of lists in one place."""
    for path in _paths(parts.header, ()):
        if path[0] not in ("task", "witness", "verdict", "format"):
            continue
        for value in _others(_get(parts.header, path)):
            changed = parts.copy()
            _get(changed.header, path[:-1])[path[-1]] = value
            yield changed


def _paths(data: Any, at: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if at:
        yield at
    items = data.items() if isinstance(data, dict) else enumerate(data[:1]) if isinstance(data, list) else ()
    for key, value in items:
        yield from _paths(value, (*at, key))


def _get(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def _others(value: Any) -> list[Any]:
    """Values of the same kind, and of others."""
    others: list[Any] = [None, LIE, True, 1, [], {}]
    if isinstance(value, bool):
        others = [not value, 1, "false"]
    elif isinstance(value, list):
        others += [value[:-1], value + value[-1:], value[::-1]]
    elif isinstance(value, str) and value.strip("-/0123456789") == "":
        number = Fraction(value)
        others += [str(number + 1), str(number / 2), str(-number), f"{number.numerator * 2}/{number.denominator * 2}"]
    elif value in ("linf", "l1", "l2", "max", "min", "real", "float32", "raw", "normalised", "margin", "confidence"):
        others += ["l1", "l2", "linf", "max", "min", "real", "float32", "raw", "normalised", "margin", "confidence"]
    return [other for other in others if json.dumps(other) != json.dumps(value)]


def test_looking_for_an_input_of_the_region_ends_when_the_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each input that is tried is held against all constraints, which may take long; the proof is read by then."""

    def checked(proof: Proof, file: Bounded, part: tuple[int, int] | None) -> tuple[int, int]:
        proof.until = 0.0
        return 1, 0

    task = small(tmp_path, Epsilon(Fraction(1)))
    constraint = LinearConstraint((Fraction(1), Fraction(1)), Fraction(1))
    path = pack(tmp_path / "c.eqcert", made(replace(task, constraints=(constraint,)), tmp_path / "made"))
    monkeypatch.setattr(Proof, "check", checked)
    with pytest.raises(Refused, match="longer than the auditor may"):
        audit(path)
