"""The kernel's program: it accepts what is proved, and nothing that is false, changed, or made to do harm."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from breadth import some
from eqspec.audit import audit
from eqspec.audit.opening import header, opened
from eqspec.audit.opening.question import question as asked_of
from eqspec.audit.reading import network
from eqspec.audit.rounding import Refused
from eqspec.cli import main
from eqspec.kernel import BinaryError, allowed, check, find
from eqspec.kernel.binary import ask, stream
from eqspec.kernel.canonical import canonical
from eqspec.kernel.questions import SQUARINGS, groups, margin
from eqspec.kernel.questions import claim as claim_of
from eqspec.kernel.validation import validate
from eqspec.kernel.weights import chosen
from eqspec.property import Epsilon, Linear, Margin, Top1
from eqspec.tasks.verdict import Verdict
from oracle.queries import query
from unit.certificates.files import in_files
from unit.certificates.proofs import certify, unpack
from unit.kernel.campaign import hunt

TINY = Path(__file__).parents[3] / "kernel" / "tiny"


def built() -> bool:
    """Whether the program is here."""
    try:
        return bool(find())
    except BinaryError:
        return False


needs_kernel = pytest.mark.skipif(not built(), reason="eqspec-kernel is not built: 'make -C kernel' does it")


@needs_kernel
@pytest.mark.parametrize("path", sorted(TINY.glob("*.stream")), ids=lambda path: path.stem)
def test_tiny_certificates_are_accepted_whole_alone(path: Path) -> None:
    data = path.read_bytes()
    assert ask(find(), data).refused is None
    lines = data.splitlines(keepends=True)
    assert "are left where the records end" in str(ask(find(), b"".join(lines[:-1])).refused)
    assert "after the proof is complete" in str(ask(find(), data + b"D\n").refused)


@needs_kernel
def test_nothing_false_is_accepted(tmp_path: Path) -> None:
    """True claims show that the records are worth changing. `python -m unit.kernel.campaign` does many more."""
    counts = hunt(len(some(range(250), 80)), 7, tmp_path)
    assert counts.wrong == 0
    assert 3 * counts.accepted > counts.true


@needs_kernel
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no line pair"),
        (b"pair 00 5\n", "ends before"),
        (b"pair 00 99999999999\n", "not the line"),
        (b"pair 00 -5\n", "-5 bytes"),
        (b"\x00" * 5000, "no line pair"),
        (b"pair 00 3\nabc", "has the digest"),
        (stream("pair 99999999 1", "", []), "99999999"),
        (stream("pair 1 1 layer 0 0 0 end", "", []), "not positive"),
        (stream("pair 1 1 layer 1 0 1 0 0 0 0 0 end", "", []), "0 to -1"),
        (stream("pair 1 0 end", "question 1 ranges 0 1 1 1 inequalities 0 claim nothing end", []), "no claim"),
        (stream("pair 1 0 end " + "9" * 5000, "", []), "longer than"),
        (
            stream(
                "pair 1 1 layer 1 1 1 0 0 1 0 0 2 1 1 0 0 end",  # a row of 2 over 1 input
                "question 1 ranges 0 1 1 1 inequalities 0 claim distance 1 0 9 1 end",
                ["D"],
            ),
            "means nothing",
        ),
        (
            stream("pair 1 0 end", "question 1 ranges 0 1 1 1 inequalities 0 claim distance 1 9 0 1 end", ["D"]),
            "an output that there is not",
        ),
        (
            stream(
                "pair 1 0 end",
                "question 1 ranges 0 1 1 1 inequalities 0 claim distance 1 0 1 1 end",
                ["Q 4611686018427387903"],
            ),
            "are to be passed over",
        ),
    ],
)
def test_what_is_no_question_is_refused(data: bytes, reason: str) -> None:
    assert reason in str(ask(find(), data, 10).refused)


def supported(task: Any) -> bool:
    """Whether the kernel has a rule for the claim."""
    return isinstance(task.property, Epsilon | Linear | Margin | Top1)


@needs_kernel
@pytest.mark.parametrize("kind", ["epsilon", "top1", "margin", "linear", "confidence"])
def test_what_the_auditor_accepts_the_kernel_accepts(kind: Any, tmp_path: Path) -> None:
    """Random pairs of chains, also of different depth, with constraints."""
    proved = accepted = 0
    for seed in range(5, 8):
        folder = tmp_path / str(seed)
        folder.mkdir()
        result, made = certify(in_files(query(seed, kind, 0).task(), folder), folder, timeout=10)
        if result.verdict is not Verdict.EQUIVALENT or made is None or made.reason:
            continue
        assert audit(made.path).verdict == "equivalent"
        checked = check(made.path, seconds=20)
        proved += 1
        accepted += checked.refused is None
        assert checked.refused is None or "is not proved" in checked.refused or "longer than" in checked.refused
    assert accepted > 0
    assert 2 * accepted >= proved


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a small equivalent pair."""
    folder = tmp_path_factory.mktemp("kernel")
    for seed in range(20):
        where = folder / str(seed)
        where.mkdir()
        result, made = certify(in_files(query(seed, "epsilon", 0).task(), where), where, timeout=10)
        if result.verdict is Verdict.EQUIVALENT and made is not None and made.reason is None:
            path: Path = made.path
            return path
    raise AssertionError("no query of these is equivalent")


def asked_in(path: Path) -> dict[str, Any]:
    """The question of a certificate."""
    from eqspec.audit.opening import Bounded

    with opened(path, 1 << 20) as file:
        return asked_of(header(Bounded(file))["task"])


def test_the_canonical_pair_is_the_files_and_nothing_else(certificate: Path) -> None:
    """Every number of it, changed, is noticed."""
    asked = asked_in(certificate)
    steps = [network(asked, role, certificate.parent).steps() for role in ("reference", "candidate")]
    inputs = len(asked["space"]["features"])
    pair = canonical(steps[0], steps[1], inputs)
    validate(pair.text, pair.grain, steps)
    words = pair.text.split()
    random = Random(3)
    for at in random.sample(range(1, len(words)), min(60, len(words) - 1)):
        if not words[at].lstrip("-").isdigit() or at == 1:
            continue
        other = [*words[:at], str(int(words[at]) + 1), *words[at + 1 :]]
        with pytest.raises(Refused, match="not what the network files say"):
            validate(" ".join(other), pair.grain, steps)
    with pytest.raises(Refused):
        validate(pair.text, 2 * pair.grain, steps)


def changed_task(certificate: Path, folder: Path, change: Any) -> Path:
    """The certificate with another task."""
    from unit.certificates.proofs import pack

    parts = unpack(certificate)
    change(parts.header["task"])
    path = folder / "changed.eqcert"
    pack(path, parts)
    return path


@needs_kernel
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda task: task.update(arithmetic="float16"), "float16"),
        (lambda task: task["property"].update(norm="l2"), "l2"),
        (lambda task: task["property"].update(eps="1/1000000000"), "is not proved"),
        (lambda task: task["reference"].update(sha256="0" * 64), "sha256"),
    ],
)
def test_what_the_kernel_cannot_do_is_refused_by_name(
    certificate: Path, tmp_path: Path, change: Any, reason: str
) -> None:
    path = changed_task(certificate, tmp_path, change)
    assert reason in str(check(path, certificate.parent, seconds=20).refused)


@pytest.mark.parametrize("confidence", ["1/100", "1/2", "9/10", "999/1000", "999999/1000000"])
def test_the_margin_of_a_confidence_is_a_little_less_than_its_log_odds(confidence: str) -> None:
    delta = Fraction(confidence)
    odds = float(np.log(float(delta / (1 - delta))))
    n = 2**SQUARINGS
    for others in (1, 2, 5, 63):
        found, exact = margin(delta, others), odds + float(np.log(others))
        assert exact - 0.1 <= float(found) <= exact
        assert (1 - found / n) ** n * others >= (1 - delta) / delta


def confident(delta: str, margins: str) -> bytes:
    """Two networks with three outputs, all of them v; the claim with these hints."""
    neurons = "\n".join("0 0 1 1 0 1 1" for _ in range(3))
    pair = f"pair 1 1\nlayer 1 1\n1 0 0\n3\n{neurons}\nend\n"
    asked = f"question 1024\nranges\n0 1 1 1\ninequalities\n0\nclaim keeps-confident {delta} {margins}\nend\n"
    return stream(pair, asked, ["P 1"])


@needs_kernel
@pytest.mark.parametrize(
    ("margins", "follows"),
    [
        ("0 1 10 0", True),
        ("0 1 10 1 2 0 1 0 1 1 1 0 1", True),
        ("0 1 10 1 2 0 1 69 100 1 1 69 100", True),  # log 2, nearly
        ("0 1 10 1 2 0 3 28 100 1 1 138 100", True),  # log 4/3 and log 4, nearly
        ("1 1 10 0", False),
        ("0 1 10 1 2 0 1 70 100 1 1 69 100", False),
        ("0 1 10 1 2 0 3 29 100 1 1 138 100", False),
        ("0 1 10 1 2 0 3 28 100 1 1 139 100", False),
        ("0 1 10 1 2 0 -1 0 1 1 2 0 1", False),
        ("0 1 10 1 1 0 1 1 2", False),
    ],
)
def test_margins_over_groups_follow_from_the_confidence_or_are_refused(margins: str, follows: bool) -> None:
    answer = ask(find(), confident("1 2", margins))
    assert ("does not follow" in str(answer.refused)) is not follows


def test_groups_are_all_of_few_classes_and_few_of_many() -> None:
    assert groups(1) == groups(2) == []
    assert groups(3) == [(0, 1), (0, 2), (1, 2)]
    assert len(groups(6)) == 56
    assert groups(10) == [tuple(j for j in range(10) if j != k) for k in reversed(range(10))]


def test_weights_of_classes_are_those_of_a_proof_far_apart_from_each_other() -> None:
    found = [
        (0, np.array([[0.0, 1.0, 3.0], [0.0, 8.0, 0.0], [0.0, 0.0, 0.0]])),
        (2, np.array([[1.0, 1.0, 0.0], [np.inf, 1.0, 0.0]])),
    ]
    mean, low = ((1, 40), (2, 24)), ((1, 16), (2, 48))
    assert chosen(found, 3, 3) == [mean, low, ((0, 32), (1, 32))]
    assert chosen(found, 3, 1) == [mean, ((0, 32), (1, 32))]
    assert chosen([], 3, 5) == chosen([(0, np.zeros((1, 3)))], 3, 5) == []


def test_without_the_program_it_is_said_how_to_build_it(
    certificate: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EQSPEC_KERNEL", "/nowhere/eqspec-kernel")
    assert main(["audit", "--kernel", str(certificate)]) == 2
    assert "make -C kernel" in " ".join(capsys.readouterr().err.split())


@needs_kernel
def test_the_command_says_what_the_kernel_counted(certificate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--kernel", "--format", "json", str(certificate)]) == 0
    (one,) = json.loads(capsys.readouterr().out)["certificates"]
    assert one["holds"]
    assert one["kernel"]["accepts"]
    assert int(one["kernel"]["records"]) > 0
    assert claim_of(asked_in(certificate)).startswith(("distance", "manhattan"))


@pytest.mark.skipif(os.name != "posix", reason="a script in place of the program")
def test_how_far_the_kernel_is_is_told_and_nothing_else(tmp_path: Path) -> None:
    program, told = tmp_path / "kernel", list[tuple[int, int]]()
    said = ("echo 12 3 >&2", "echo 'no 4' >&2", "echo 20 5 >&2", "echo accepted", "echo leaves 6", "exit $#")
    program.write_text("\n".join(["#!/bin/sh", *said, ""]))
    program.chmod(0o755)
    with pytest.raises(BinaryError, match="ended with 1 and said 'no 4"):
        ask(program, b"", progress=lambda read, leaves: told.append((read, leaves)))
    assert told == [(12, 3), (20, 5)]
    assert ask(program, b"").fields == {"leaves": "6"}


@needs_kernel
def test_the_time_of_the_kernel_grows_with_the_proof_and_none_is_none(certificate: Path) -> None:
    assert allowed(3) == allowed(0) == 600.0
    assert allowed(2738) >= 2738
    assert str(check(certificate, certificate.parent, seconds=0).refused).startswith("the kernel took longer than 0 s")
