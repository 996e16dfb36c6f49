"""Audits in parts: together they are the audit of the whole, and workers that lie or fall silent prove nothing."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from breadth import some
from eqspec.audit import Audit, Refused, audit
from eqspec.certificates import SUFFIX, Answer, Auditor
from eqspec.certificates.dealt_audit import answers
from eqspec.certificates.parts import Checked
from eqspec.cluster.jobs import Jobs
from eqspec.cluster.transport import LostError
from eqspec.errors import ResourceError
from eqspec.property import Confidence, Epsilon, Property
from small_clusters import LocalTransport, Silence
from unit.certificates.proofs import Parts, certify, close, pack, unpack


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Proofs by many leaves, by rounds below rounds, and an input that breaks a claim."""
    folder = tmp_path_factory.mktemp("certificates")
    asked: list[tuple[int, Property, list[int], Fraction, float]] = [
        (1, Epsilon("0.3"), [3, 16, 16, 2], Fraction(4), 0.02),
        (5, Confidence(Fraction(8, 10)), [10, 16, 16, 4], Fraction(3, 4), 0.08),
        (2, Epsilon("0.001"), [3, 6, 2], Fraction(1), 0.2),
    ]
    for number, (seed, claim, sizes, radius, off) in enumerate(asked):
        networks = folder / f"networks{number}"  # whose files have the same names
        networks.mkdir()
        task = replace(close(seed, networks, claim, sizes, radius, off), id=f"task{number}")
        assert certify(task, folder)[1] is not None
    return folder


@pytest.fixture(scope="module")
def files(made: Path) -> list[Path]:
    found = sorted(made.glob("*" + SUFFIX))
    trees = [unpack(file).tree for file in found]
    assert [int((tree[:, 0] == 2).sum()) > 3 for tree in trees] == [False, True, False]
    assert (trees[0][:, 0] == 0).sum() >= 96
    return found


def said(path: Path, part: tuple[int, int] | None = None) -> Audit | str:
    try:
        return audit(path, part=part)
    except Refused as reason:
        return str(reason)


def cuts(leaves: int, random_: random.Random, parts: int = 3) -> list[tuple[int, int]]:
    ends = sorted(random_.randrange(leaves + 1) for _ in range(parts - 1))
    return list(zip([0, *ends], [*ends, leaves], strict=True))


def test_parts_are_the_whole(files: list[Path]) -> None:
    """The same is said, and every leaf and round is counted once."""
    random_ = random.Random(0)
    for file in files[:2]:
        whole = audit(file)
        for parts in some((2, 3), 1):
            found = [audit(file, part=part) for part in cuts(whole.leaves, random_, parts)]
            assert {one.verdict for one in found} == {"part"}
            assert sum(one.leaves for one in found) == whole.leaves
            assert sum(one.rounds for one in found) == whole.rounds
            assert all((one.said, one.question) == (whole.said, whole.question) for one in found)
            assert all(one.part is not None and one.part[2] == whole.leaves for one in found)
    assert audit(files[2], part=(0, 0)) == audit(files[2])


def changed(parts: Parts, random_: random.Random) -> Parts:
    """A tree in which a leaf is missing, a cut is elsewhere, a record is another one, or multipliers are nothing."""
    new = parts.copy()
    at = random_.randrange(len(new.tree))
    match random_.randrange(4):
        case 0:
            new.tree = np.delete(new.tree, at, axis=0)
        case 1:
            new.tree[at, 2] += random_.choice([-1.0, 1.0])
        case 2:
            new.tree[at] = random_.choice([(0, 0, 0), (1, 0, 0.1), (3, 0, 0), (7, 0, 0), (2, 0, 0)])
        case _ if new.rounds:
            new.rounds[random_.randrange(len(new.rounds))][2] *= 0.0
        case _:
            new.tree = np.concatenate([new.tree, new.tree[-1:]])
    return new


def test_what_is_refused_whole_is_refused_in_parts(files: list[Path], tmp_path: Path) -> None:
    """Some part refuses whatever the whole audit refuses, and no part refuses what it accepts."""
    random_, refused, asked = random.Random(1), 0, 0
    for file, cases in zip(files[:2], [len(some(range(n), n // 2)) for n in (20, 4)], strict=True):
        parts = unpack(file)
        for name in ("reference", "candidate"):
            parts.header["task"][name]["path"] = str(Path(parts.header["task"][name]["path"]).absolute())
        leaves = audit(file).leaves
        for number in range(cases):  # the first as it is
            path = pack(tmp_path / "changed", changed(parts, random_) if number else parts)
            whole = said(path)
            dealt = [said(path, part) for part in cuts(leaves, random_)]
            assert isinstance(whole, str) == any(isinstance(one, str) for one in dealt), whole
            refused, asked = refused + isinstance(whole, str), asked + 1
    assert 5 < refused < asked


def test_an_empty_part_bounds_nothing(files: list[Path]) -> None:
    found = audit(files[0], part=(0, 0))
    assert (found.verdict, found.leaves, found.rounds) == ("part", 0, 0)


def ask(files: list[Path], transport: LocalTransport, told: list[str] | None = None) -> list[Answer]:
    """What is said of certificates by workers of this process."""
    with Auditor() as auditor:
        jobs = Jobs(transport, (told if told is not None else []).append)
        return [replace(one, seconds=0.0) for one in answers(files, auditor, jobs, None, 60)]


def alone(files: list[Path]) -> list[Answer]:
    with Auditor() as auditor:
        return [replace(auditor.ask(file, None, 60), seconds=0.0) for file in files]


def test_the_words_are_those_of_one_machine(files: list[Path], tmp_path: Path) -> None:
    """Also of certificates that do not hold: one with a leaf that proves nothing, one cut off, one without networks."""
    parts = unpack(files[0])
    for name in ("reference", "candidate"):
        parts.header["task"][name]["path"] = str(Path(parts.header["task"][name]["path"]).absolute())
    weak = parts.copy()
    weak.header["task"]["property"]["eps"] = "1/1000"
    lost = parts.copy()
    lost.header["task"]["reference"]["path"] = "nowhere.onnx"
    more = [pack(tmp_path / f"{n}{SUFFIX}", p) for n, p in (("weak", weak), ("lost", lost))]
    short = tmp_path / f"short{SUFFIX}"
    short.write_bytes(files[0].read_bytes()[:-200])
    every = [*files, *more, short]
    transport = LocalTransport(3)
    assert ask(every, transport) == alone(every)


class Liars:
    """Every other answer: of another part, of another certificate, something else, an exception, or silence."""

    def __init__(self) -> None:
        self.random = random.Random(4)
        self.lies = 0
        self.others = list[Checked]()

    def __call__(self, worker: str, arguments: tuple[Any, ...], honestly: Any) -> object:
        if self.lies % 3 == 2:
            self.lies += self.random.random() < 0.5
            found = honestly()
            self.others.append(found)
            return found
        self.lies += 1
        first, last, leaves = arguments[1]
        sheet = arguments[0]
        good = Checked(sheet.digest, sheet.question, (first, last, leaves), 0)
        lies: list[object] = [
            replace(good, part=(first, last - 1, leaves)),
            replace(good, part=(first, last, leaves + 1)),
            replace(good, digest="0" * 64),
            replace(good, question="0" * 64),
            replace(good, rounds=-1),
            replace(good, refused=0),  # type: ignore[arg-type]
            good.digest,
            None,
            b"garbage",
            *[other for other in self.others if other.part != good.part][:1],
        ]
        if self.random.random() < 0.2:
            raise ValueError("a worker failed")
        return self.random.choice(lies)


def test_answers_that_are_none_prove_nothing(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eqspec.cluster.jobs._MOST_LOST", 100)
    liars = Liars()
    assert ask(files, LocalTransport(2, twist=liars)) == alone(files)
    assert liars.lies >= 3


def test_a_part_that_never_gets_an_answer_is_not_accepted(files: list[Path]) -> None:
    def never(worker: str, arguments: tuple[Any, ...], honestly: Any) -> object:
        if arguments[1][0] == 0:
            raise ValueError("no room")
        return honestly()

    found = ask(files[:1], LocalTransport(2, twist=never))
    assert found[0].refused is not None
    assert "leaves 0 to" in found[0].refused
    assert "no room" in found[0].refused


def test_a_silent_worker_costs_time_alone(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """What it holds is given to another one."""
    monkeypatch.setattr("eqspec.cluster.jobs._LONG", 0.2)
    monkeypatch.setattr("eqspec.certificates.dealt_audit._LEAST", 8)

    def silent(worker: str, arguments: tuple[Any, ...], honestly: Any) -> object:
        if worker == "worker-0":
            raise Silence
        return honestly()

    assert ask(files[:2], LocalTransport(2, twist=silent)) == alone(files[:2])


def test_workers_of_another_build_are_not_used(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eqspec.cluster.jobs._LOOK", 0.05)
    transport, told = LocalTransport(2), list[str]()
    transport.builds["worker-1"] = "0.0 py3 another"
    assert ask(files[:1], transport, told) == alone(files[:1])
    assert "worker-1" in told[0]
    assert "is not used" in told[0]
    transport.builds["worker-0"] = "0.0 py3 another"
    with pytest.raises(ResourceError, match="no worker that can be used"):
        ask(files[:1], transport)


def test_a_cluster_out_of_reach_accepts_nothing(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eqspec.cluster.jobs._LOOK", 0.05)
    monkeypatch.setattr("eqspec.cluster.jobs._PATIENCE", 0.2)
    transport = LocalTransport(1)

    def gone(worker: str, arguments: tuple[Any, ...], honestly: Any) -> object:
        transport.reached = LostError("the scheduler is gone")
        raise Silence

    transport.twist = gone
    with pytest.raises(ResourceError, match="out of reach: the scheduler is gone"):
        ask(files[:1], transport)
