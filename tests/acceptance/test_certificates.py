"""Certificates of all kinds are written and hold; whatever is changed in one, it holds no longer."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import eqspec.audit
from breadth import some
from eqspec.audit import Refused, audit
from eqspec.audit.proof import ASSUME, CUT, LEAF, ROUND
from eqspec.audit.reading import File
from eqspec.certificates import Auditor, Certificate
from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from oracle.queries import CLAIMS, Claim, query
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.files import in_files, write
from unit.certificates.proofs import BOXES, Parts, certify, close, holds, layers, pack, unpack


@pytest.mark.parametrize("kind", CLAIMS)
def test_what_is_decided_is_certified(kind: Claim, tmp_path: Path) -> None:
    """Random queries on either side of where they turn, in every domain, with constraints, of different depths."""
    decided = 0
    for seed in range(5):
        asked = query(seed, kind, 0)
        folder = tmp_path / str(seed)
        folder.mkdir()
        result, made = certify(in_files(asked.task(), folder), folder, domain=asked.domain, lp=asked.lp, boxes=BOXES)
        assert asked.breaks is None or result.verdict in (Verdict.UNKNOWN, _truth(asked.breaks))
        if result.verdict is Verdict.UNKNOWN:
            assert made is None
            assert not list(folder.glob("*.eqcert"))
            continue
        assert made is not None
        assert made.reason is None, (seed, made.reason)
        assert audit(made.path).verdict == result.verdict.value
        assert made.size == made.path.stat().st_size > 0
        assert not list(folder.glob("*.part"))
        decided += 1
    assert decided >= 4


def _truth(breaks: bool) -> Verdict:
    return Verdict.DIFFERENT if breaks else Verdict.EQUIVALENT


def test_a_false_claim_has_no_proof(tmp_path: Path) -> None:
    """Trees with cuts and multipliers at random, for claims that the oracle knows to be false."""
    random, tried = Random(1), 0
    for seed in range(20):
        asked = query(seed, CLAIMS[seed % len(CLAIMS)], 1)
        if not asked.breaks:
            continue
        folder = tmp_path / str(seed)
        folder.mkdir()
        task = in_files(asked.task(), folder)
        result, made = certify(task, folder, boxes=BOXES)
        if result.verdict is not Verdict.DIFFERENT:
            continue
        assert made is not None
        header = unpack(made.path).header | {"verdict": "equivalent"}
        for _ in range(6):
            tree = np.array(_tree(random, task, random.randint(0, 5)))
            forged = pack(tmp_path / "forged", Parts(header, tree))
            with pytest.raises(Refused):
                audit(forged)
            tried += 1
    assert tried > 24


def _tree(random: Random, task: Task, depth: int) -> list[tuple[float, float, float]]:
    """Cuts of inputs and of the neurons behind them."""
    if depth == 0:
        return [(LEAF, 0, 0)]
    n = len(task.lower)
    q = random.randrange(n + 3)
    low, high = (task.lower[q], task.upper[q]) if q < n else (-1.0, 1.0)
    cut = random.choice([random.uniform(low, high), 2.0 * high + 1.0, 0.0])
    return [(CUT, q, cut), *_tree(random, task, depth - 1), *_tree(random, task, depth - 1)]


@pytest.fixture(scope="module")
def halved(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """A proof that had to halve boxes."""
    folder = tmp_path_factory.mktemp("halved")
    task = close(3, folder, Epsilon(Fraction(17, 100)), [3, 10, 10, 3], Fraction(1), 0.02)
    result, made = certify(task, folder, lp=False)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is None
    assert made.leaves > 3
    return made


@pytest.fixture(scope="module")
def contracted(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """A proof that contracted bounds under the violation, in several rounds."""
    folder = tmp_path_factory.mktemp("contracted")
    task = close(5, folder, Confidence(Fraction(8, 10)), [9, 12, 12, 3], Fraction(1), 0.08)
    result, made = certify(task, folder, lp=False)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is None
    assert made.rounds > 3
    return made


def refused(made: Certificate, tmp_path: Path, change: Callable[[Parts], object], more: bytes = b"") -> str:
    """Why the certificate, changed, is refused."""
    parts = unpack(made.path)
    change(parts)
    with pytest.raises(Refused) as reason:
        audit(pack(tmp_path / "changed", parts, more))
    return str(reason.value)


def _only(part: slice, parts: Parts) -> None:
    parts.tree = parts.tree[part]


def _set(part: int, number: int, parts: Parts) -> None:
    parts.rounds[0][part][0] = number


def _with(wrong: dict[str, Any], parts: Parts) -> None:
    parts.header.update(wrong)


def _filled(bad: float, multipliers: Any) -> Any:
    return np.full_like(multipliers, bad)


def test_unpacked_and_packed_again_it_holds(halved: Certificate, contracted: Certificate, tmp_path: Path) -> None:
    """Or the other tests would show nothing."""
    for made in (halved, contracted):
        assert audit(pack(tmp_path / "same", unpack(made.path))).verdict == "equivalent"


def test_a_node_for_its_leaves(halved: Certificate, tmp_path: Path) -> None:
    """A cut is left out: a leaf stands where two were needed. The search may have cut once too often, not often."""
    parts, held = unpack(halved.path), []
    kinds = parts.tree[:, 0]
    for at in np.flatnonzero((kinds[:-2] == CUT) & (kinds[1:-1] == LEAF) & (kinds[2:] == LEAF)):
        changed = parts.copy()
        changed.tree = np.delete(parts.tree, [at, at + 1], axis=0)
        held.append(holds(changed, tmp_path))
    assert len(held) > 3
    assert sum(held) <= 0.1 * len(held)


def test_a_leaf_dropped_or_added(halved: Certificate, tmp_path: Path) -> None:
    for slices in (slice(None, -1), slice(1, None), slice(0, 0)):
        assert refused(halved, tmp_path, partial(_only, slices))
    assert "not proved" in refused(halved, tmp_path, lambda p: setattr(p, "tree", p.tree[-1:]))
    assert "goes on" in refused(halved, tmp_path, lambda p: setattr(p, "tree", np.concatenate([p.tree, p.tree[-1:]])))
    assert "goes on" in refused(halved, tmp_path, lambda _: None, more=b"x")


def test_cuts_moved_to_the_side(halved: Certificate, tmp_path: Path) -> None:
    """Every cut, moved so far that one half is the whole box; a tree that still holds then had a leaf to spare."""
    parts, held = unpack(halved.path), []
    for at in np.flatnonzero(parts.tree[:, 0] == CUT):
        for far in (1e9, -1e9):
            changed = parts.copy()
            changed.tree[at, 2] = far
            held.append(holds(changed, tmp_path))
        for column, odd in ((2, np.nan), (2, np.inf), (1, -1.0), (1, 1e6), (1, np.nan)):
            changed.tree[at, column] = odd
            assert not holds(changed, tmp_path)
    assert held
    assert sum(held) <= 0.1 * len(held)


def test_cuts_shifted_cover_what_was_cut(halved: Certificate, tmp_path: Path) -> None:
    """A shift of all cuts leaves halves that are too large for what their leaves show."""
    parts = unpack(halved.path)
    parts.tree[parts.tree[:, 0] == CUT, 2] += 0.5
    assert not holds(parts, tmp_path)


def test_multipliers_changed(contracted: Certificate, tmp_path: Path) -> None:
    """Without its multipliers nothing is contradicted; nor with wrong ones, in other places, or bad ones."""
    rounds = range(len(unpack(contracted.path).rounds))

    def every(part: int, change: Callable[[Any], Any]) -> str:
        def apply(p: Parts) -> None:
            for n in rounds:
                p.rounds[n][part] = change(p.rounds[n][part])

        return refused(contracted, tmp_path, apply)

    assert "not proved" in every(2, np.zeros_like)
    assert every(2, lambda m: m[:, ::-1])
    assert every(1, lambda rows: rows[::-1])
    assert every(2, lambda m: m + 1.0)
    assert "negative" in every(2, lambda m: m - 1.0)
    assert "fit" in every(2, lambda m: m[:, 1:])
    assert "fit" in every(0, lambda wanted: np.append(wanted, 0))
    assert every(0, lambda wanted: wanted.astype(np.uint32) + np.uint32(2**31))
    for bad in (np.nan, np.inf):
        assert "finite" in every(2, partial(_filled, bad))


def test_facts_that_are_none(contracted: Certificate, tmp_path: Path) -> None:
    for part, odd in ((1, -1), (1, 10**7), (0, 10**7), (0, -(10**7))):
        assert refused(contracted, tmp_path, partial(_set, part, odd))


def test_a_fact_twice_is_no_more_than_once(contracted: Certificate, tmp_path: Path) -> None:
    """Halves of one row of a softmax would have more entropy than it has."""

    def twice(p: Parts) -> None:
        for n, (wanted, rows, multipliers) in enumerate(p.rounds):
            half = 0.5 * multipliers
            p.rounds[n] = [wanted, np.concatenate([rows, rows]), np.concatenate([half, half], axis=1)]

    assert "twice" in refused(contracted, tmp_path, twice)


def test_an_obligation_dropped(contracted: Certificate, tmp_path: Path) -> None:
    """The proof of an obligation is taken out of the tree; or it is left without any round."""
    parts = unpack(contracted.path)
    at = np.flatnonzero(parts.tree[:, 0] == ASSUME)
    assert len(at) > 1
    first = parts.tree[at[0] : at[1]]
    without = parts.copy()
    without.tree = np.delete(parts.tree, np.arange(at[0], at[1]), axis=0)
    without.rounds = parts.rounds[int((first[:, 0] == ROUND).sum()) :]
    assert not holds(without, tmp_path)
    bare = parts.copy()
    bare.tree, bare.rounds = parts.tree[parts.tree[:, 0] != ROUND], []
    assert not holds(bare, tmp_path)
    other = parts.copy()
    for odd in (-1.0, 1000.0, np.nan):
        other.tree[at[0], 1] = odd
        assert not holds(other, tmp_path)


def test_nothing_is_assumed_for_free(contracted: Certificate, tmp_path: Path) -> None:
    """Rounds stand only below an assumption, and what they show stays there."""
    parts = unpack(contracted.path)
    parts.tree = parts.tree[parts.tree[:, 0] != ASSUME]
    with pytest.raises(Refused, match="assumes nothing"):
        audit(pack(tmp_path / "changed", parts))


@pytest.mark.parametrize("which", ["halved", "contracted"])
def test_the_task_changed(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    made: Certificate = request.getfixturevalue(which)

    def changed(change: Callable[[dict[str, Any]], object]) -> str:
        return refused(made, tmp_path, lambda parts: change(parts.header["task"]))

    claim = "eps" if which == "halved" else "guard"
    stronger = "1/1000" if which == "halved" else {"kind": "confidence", "threshold": "3/10"}
    assert changed(lambda task: task["property"].update({claim: stronger}))
    assert changed(lambda task: task["region"].update(hi_exact=["2"] * len(task["region"]["hi_exact"])))
    assert changed(lambda task: task["region"].update(hi_exact=["2"]))
    assert changed(lambda task: task["property"].update(kind="anything"))
    assert changed(lambda task: task.pop("region"))
    assert changed(lambda task: task.update(arithmetic="float16"))
    assert changed(lambda task: task["candidate"].update(takes="raw", path="nowhere.onnx"))
    assert changed(lambda task: task["space"].update(outputs=["one"]))


def test_a_network_changed(halved: Certificate, tmp_path: Path) -> None:
    """Refused for its hash; and with the hash adapted, because it is another function."""
    other = write(tmp_path / "other.onnx", layers(np.random.default_rng(9), [3, 10, 10, 3]))

    def renamed(parts: Parts) -> None:
        parts.header["task"]["candidate"]["path"] = other.source

    def replaced(parts: Parts) -> None:
        parts.header["task"]["candidate"].update(path=other.source, sha256=other.sha256)

    assert "sha256" in refused(halved, tmp_path, renamed)
    assert "not proved" in refused(halved, tmp_path, replaced)


def _unpacked(packed: bytes) -> bytes | None:
    """None where gzip sees the damage."""
    try:
        return gzip.decompress(packed)
    except (EOFError, OSError, zlib.error):
        return None


@pytest.mark.parametrize(("which", "times"), [("halved", 20), ("contracted", len(some(range(3), 1)))])
def test_bytes_changed_or_missing(which: str, times: int, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Whatever the damage to the file: refused, with no other exception. Damage below gzip's sum proves no more."""
    made: Certificate = request.getfixturevalue(which)
    packed, random, changed = made.path.read_bytes(), Random(2), tmp_path / "changed"
    content = gzip.decompress(packed)
    for _ in range(times):
        at = random.randrange(len(packed) // 4, len(packed))  # behind the name in gzip's head
        flipped = packed[:at] + bytes([packed[at] ^ 1 << random.randrange(8)]) + packed[at + 1 :]
        changed.write_bytes(flipped)
        if _unpacked(flipped) != content:  # a repetition may be told in two ways
            with pytest.raises(Refused):
                audit(changed)
        changed.write_bytes(gzip.compress(content[: random.randrange(len(content))], 1))
        with pytest.raises(Refused):
            audit(changed)
    for cut in (0, 1, 20, len(packed) // 2, len(packed) - 1):
        changed.write_bytes(packed[:cut])
        with pytest.raises(Refused):
            audit(changed)
    for _ in range(times):
        at = random.randrange(len(content))
        damaged = content[:at] + random.randbytes(random.randrange(4)) + content[at + random.randrange(4) :]
        changed.write_bytes(gzip.compress(damaged, 1))
        with suppress(Refused):  # what it does to the proof is open; any other exception fails
            audit(changed)


@pytest.mark.parametrize(
    "claim",
    [Epsilon(Fraction(1, 100), norm) for norm in ("linf", "l1", "l2")]
    + [Top1(), Margin(Fraction(1, 100)), Confidence(Fraction(2, 5)), Confidence(Fraction(7, 20))]
    + [Linear((1, 0, 0), (-1, 0, 0), Fraction(1, 100))],
    ids=repr,
)
def test_witnesses_are_checked_exactly(claim: Property, tmp_path: Path) -> None:
    task = close(1, tmp_path, claim, [3, 8, 3], Fraction(2), 0.5)
    result, made = certify(task, tmp_path)
    assert result.verdict is Verdict.DIFFERENT
    assert made is not None
    assert made.reason is None
    outside = ["2/1", "2/1", "20000001/10000000"]
    assert "outside" in refused(made, tmp_path, lambda parts: parts.header.update(witness=outside))

    def harmless(parts: Parts) -> None:
        parts.header["task"]["candidate"] = parts.header["task"]["reference"]

    said = refused(made, tmp_path, harmless)  # whether a confidence is reached is not always known
    assert "cannot show that the claim breaks" in said if isinstance(claim, Confidence) else "holds" in said
    for wrong in ({"witness": ["0"]}, {"witness": None}, {"verdict": "unknown"}, {"verdict": "equivalent"}):
        assert refused(made, tmp_path, partial(_with, wrong))


def test_one_function_against_itself(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    same = layers(rng, [3, 30, 30, 4])
    reference, candidate = write(tmp_path / "a.onnx", same), write(tmp_path / "b.onnx", same)
    for claim in (Epsilon(0), Top1(), Confidence(Fraction(1, 2))):
        result, made = certify(task_of(reference, candidate, claim, space=space(3, 4)), tmp_path)
        assert result.verdict is Verdict.EQUIVALENT
        assert made is not None
        assert made.reason is None


def test_networks_that_moved(halved: Certificate, tmp_path: Path) -> None:
    """They are found beside the certificate, or in a folder that is named."""
    parts = unpack(halved.path)
    for role in ("reference", "candidate"):
        path = Path(parts.header["task"][role]["path"])
        (tmp_path / path.name).write_bytes(path.read_bytes())
        parts.header["task"][role]["path"] = f"elsewhere/{path.name}"
    elsewhere = tmp_path / "certificates"
    elsewhere.mkdir()
    assert audit(pack(tmp_path / "beside", parts)).verdict == "equivalent"
    moved = pack(elsewhere / "moved", parts)
    assert audit(moved, tmp_path).verdict == "equivalent"
    with pytest.raises(Refused, match="cannot read"):
        audit(moved)


def test_the_auditor_needs_nothing_else_of_eqspec(halved: Certificate, contracted: Certificate, tmp_path: Path) -> None:
    """In a process where `eqspec` cannot be imported at all."""
    (tmp_path / "eqspec.py").write_text("raise ImportError('not here')")
    folder = Path(eqspec.audit.__file__).parent
    arguments = [sys.executable, "-P", str(folder), str(halved.path), str(contracted.path)]
    done = subprocess.run(arguments, capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path)}, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": equivalent: ") == 2
    broken = tmp_path / "broken"
    broken.write_bytes(halved.path.read_bytes()[:-9])
    done = subprocess.run([*arguments, str(broken)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "refused" in done.stdout


def test_what_cannot_be_audited_has_no_certificate(tmp_path: Path) -> None:
    """The file of a network is gone when its certificate is written: no file appears, and the reason is given."""
    task = close(3, tmp_path, Epsilon(Fraction(1)), [3, 4, 3], Fraction(1), 0.01)
    gone = replace(task, candidate=replace(task.candidate, source=str(tmp_path / "gone.onnx")))
    folder = tmp_path / "made"
    result, made = certify(gone, folder)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is not None
    assert "gone.onnx" in made.reason
    assert not list(folder.iterdir()), "no file, and no record left behind"


def test_what_the_auditor_stumbles_over_has_no_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the verdict stands all the same."""

    def stumble(_: File) -> Any:
        raise IndexError("an operator with other axes")

    task = close(3, tmp_path, Epsilon(Fraction(1)), [3, 4, 3], Fraction(1), 0.01)
    monkeypatch.setattr(File, "steps", stumble)
    result, made = certify(task, tmp_path)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert "an operator with other axes" in (made.reason or "")


def test_the_format_is_named(tmp_path: Path) -> None:
    for content in (b"", b"eqspec-certificate/1\n", b"[]\n", b"{}\n", b'{"format": "eqspec-certificate/5"}\n'):
        path = tmp_path / "other"
        path.write_bytes(gzip.compress(content))
        with pytest.raises(Refused):
            audit(path)
    with Auditor() as auditor:
        assert auditor.ask(tmp_path / "other").refused
        assert auditor.ask(tmp_path / "missing").refused
