"""Certificates of all kinds are written and hold; whatever is changed in one, it holds no longer."""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import eqspec.audit
from eqspec.audit import Refused, audit
from eqspec.audit.certificate import MAGIC
from eqspec.certificates import Auditor, Certificate
from eqspec.tasks.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.tasks.result import Verdict
from eqspec.tasks.task import Task
from oracle.queries import CLAIMS, Claim, query
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.files import Layers, in_files, write
from unit.certificates.proofs import certify, pack, pieces, unpack


@pytest.mark.parametrize("kind", CLAIMS)
def test_what_is_decided_is_certified(kind: Claim, tmp_path: Path) -> None:
    """Random queries on either side of where they turn, in every domain, with constraints, of different depths."""
    decided = 0
    for seed in range(8):
        asked = query(seed, kind, 0)
        folder = tmp_path / str(seed)
        folder.mkdir()
        result, made = certify(in_files(asked.task(), folder), folder, domain=asked.domain, lp=asked.lp, timeout=20)
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
    assert decided >= 6


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
        result, made = certify(task, folder, timeout=20)
        if result.verdict is not Verdict.DIFFERENT:
            continue
        assert made is not None
        header = unpack(made.path)[0] | {"verdict": "equivalent"}
        free = int((task.lower < task.upper).sum())
        for _ in range(6):
            forged = pack(tmp_path / "forged", header, _tree(random, task, free, random.randint(0, 5)))
            with pytest.raises(Refused):
                audit(forged)
            tried += 1
    assert tried > 24


def _tree(random: Random, task: Task, free: int, depth: int) -> bytes:
    if depth == 0 or not free:
        return b"l"
    i = random.randrange(free)
    at = np.flatnonzero(task.lower < task.upper)[i]
    cut = random.choice([random.uniform(task.lower[at], task.upper[at]), 2.0 * task.upper[at] + 1.0, 0.0])
    halves = [_tree(random, task, free, depth - 1) for _ in range(2)]
    return struct.pack("<cId", b"i", i, cut) + b"".join(halves)


def layers(rng: np.random.Generator, sizes: list[int]) -> Layers:
    return [(rng.normal(size=(m, n)) / np.sqrt(n), 0.3 * rng.normal(size=m)) for n, m in pairwise(sizes)]


def close(seed: int, folder: Path, claim: Property, sizes: list[int], radius: Fraction, off: float) -> Task:
    """A network and the same with other weights by about `off`, on a box around 0."""
    rng = np.random.default_rng(seed)
    first = layers(rng, sizes)
    second = [(w + off * rng.normal(size=w.shape), b) for w, b in first]
    reference, candidate = write(folder / "a.onnx", first), write(folder / "b.onnx", second)
    given: dict[str, Any] = {"lower": [-radius] * sizes[0], "upper": [radius] * sizes[0]}
    return task_of(reference, candidate, claim, space=space(sizes[0], sizes[-1]), **given)


@pytest.fixture(scope="module")
def halved(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """A proof that had to halve boxes."""
    folder = tmp_path_factory.mktemp("halved")
    task = close(3, folder, Epsilon(Fraction(16, 100)), [3, 10, 10, 3], Fraction(1), 0.02)
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
    task = close(5, folder, Confidence(Fraction(8, 10)), [10, 16, 16, 4], Fraction(3, 4), 0.08)
    result, made = certify(task, folder, lp=False)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is None
    assert made.rounds > 3
    return made


def refused(made: Certificate, tmp_path: Path, header: dict[str, Any] | None = None, tree: bytes | None = None) -> str:
    """Why the certificate with these parts is refused."""
    old_header, old_tree = unpack(made.path)
    changed = pack(tmp_path / "changed", header or old_header, old_tree if tree is None else tree)
    with pytest.raises(Refused) as reason:
        audit(changed)
    return str(reason.value)


def test_unpacked_and_packed_again_it_holds(halved: Certificate, contracted: Certificate, tmp_path: Path) -> None:
    """Or the other tests would show nothing."""
    for made in (halved, contracted):
        assert audit(pack(tmp_path / "same", *unpack(made.path))).verdict == "equivalent"


def test_a_node_for_its_leaves(halved: Certificate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cut is left out: a leaf stands where two were needed. The search may have cut once too often, not often."""
    tree, found, reasons = unpack(halved.path)[1], pieces(halved.path, monkeypatch), []
    header = unpack(halved.path)[0]
    for cut, below, above in zip(found[1:], found[2:], found[3:], strict=False):
        letters = tree[below.start : below.start + 1] + tree[above.start : above.start + 1]
        if cut.kind == "Id" and letters == b"ll":
            forged = pack(tmp_path / "forged", header, tree[: cut.start - 1] + b"l" + tree[above.start + 1 :])
            try:
                audit(forged)
                reasons.append("")
            except Refused as reason:
                reasons.append(str(reason))
    assert len(reasons) > 3
    assert sum("not proved" in reason for reason in reasons) >= 0.9 * len(reasons)


def test_a_leaf_dropped(halved: Certificate, tmp_path: Path) -> None:
    tree = unpack(halved.path)[1]
    for changed in (tree[:-1], b"l", b"", tree[1:]):
        assert refused(halved, tmp_path, tree=changed)


def test_a_leaf_too_many(halved: Certificate, tmp_path: Path) -> None:
    assert "changed" in refused(halved, tmp_path, tree=unpack(halved.path)[1] + b"l")


def test_cuts_moved_to_the_side(halved: Certificate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cut, moved so far that one half is the whole box; a tree that still holds then had a leaf to spare."""
    tree, total, refusals = unpack(halved.path)[1], 0, 0
    for piece in pieces(halved.path, monkeypatch):
        if piece.kind != "Id":
            continue
        index = tree[piece.start : piece.start + 4]
        for far in (1e9, -1e9):
            total += 1
            moved = tree[: piece.start] + index + struct.pack("<d", far) + tree[piece.start + 12 :]
            try:
                audit(pack(tmp_path / "moved", unpack(halved.path)[0], moved))
            except Refused:
                refusals += 1
        for odd in (float("nan"), float("inf")):
            moved = tree[: piece.start] + index + struct.pack("<d", odd) + tree[piece.start + 12 :]
            assert refused(halved, tmp_path, tree=moved)
    assert refusals >= 0.9 * total > 0


def test_multipliers_changed(contracted: Certificate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the multipliers of guard and violation, the links and the slopes, nothing is contradicted."""
    tree = unpack(contracted.path)[1]
    found = [piece for piece in pieces(contracted.path, monkeypatch) if piece.size]
    for kind in ("f4", "i2", "u1"):
        blank = bytearray(tree)
        for piece in (p for p in found if p.kind == kind):
            blank[piece.start : piece.start + piece.size] = bytes(piece.size)
        reason = refused(contracted, tmp_path, tree=bytes(blank))
        assert any(words in reason for words in ("not contradicted", "a bound of nothing")), (kind, reason)
    lam = next(p for p in found if p.kind == "f4")
    for bad, words in ((-1.0, "negative"), (float("nan"), "finite"), (float("inf"), "finite")):
        changed = tree[: lam.start] + struct.pack("<f", bad) + tree[lam.start + 4 :]
        assert words in refused(contracted, tmp_path, tree=changed)


def test_slopes_beyond_one(contracted: Certificate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, found = unpack(contracted.path)[1], pieces(contracted.path, monkeypatch)
    at = max((p for p in found if p.kind == "u1"), key=lambda p: p.size)
    assert "slope" in refused(
        contracted, tmp_path, tree=tree[: at.start] + b"\xff" * at.size + tree[at.start + at.size :]
    )


def test_an_obligation_dropped(contracted: Certificate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The contradiction of the last obligation is taken out of the tree; or it is left without any round."""
    tree, found = unpack(contracted.path)[1], pieces(contracted.path, monkeypatch)
    ends = [p for p in found if p.kind == "record" and tree[p.start : p.start + 1] == b"v"]
    assert len(ends) > 1
    assert refused(contracted, tmp_path, tree=tree[: ends[-2].start + 1])
    bare = tree[: ends[-2].start + 1] + struct.pack("<I", 0) + b"v"
    assert refused(contracted, tmp_path, tree=bare)


@pytest.mark.parametrize("which", ["halved", "contracted"])
def test_the_task_changed(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    made: Certificate = request.getfixturevalue(which)
    header = unpack(made.path)[0]

    def changed(change: Callable[[dict[str, Any]], object]) -> str:
        other = json.loads(json.dumps(header))
        change(other["task"])
        return refused(made, tmp_path, header=other)

    claim = "eps" if which == "halved" else "guard"
    stronger = "1/1000" if which == "halved" else {"kind": "confidence", "threshold": "3/10"}
    assert changed(lambda task: task["property"].update({claim: stronger}))
    assert changed(lambda task: task["region"].update(hi_exact=["2"] * len(task["region"]["hi_exact"])))
    assert changed(lambda task: task["region"].update(hi_exact=["2"]))
    assert changed(lambda task: task["property"].update(kind="anything"))
    assert changed(lambda task: task.pop("region"))
    assert "exact arithmetic" in changed(lambda task: task.update(arithmetic="float32"))
    assert changed(lambda task: task["candidate"].update(takes="raw", path="nowhere.onnx"))
    assert changed(lambda task: task["space"].update(outputs=["one"]))


def test_a_network_changed(halved: Certificate, tmp_path: Path) -> None:
    """Refused for its hash; and with the hash adapted, because it is another function."""
    header, tree = unpack(halved.path)
    rng = np.random.default_rng(9)
    other = write(tmp_path / "other.onnx", layers(rng, [3, 10, 10, 3]))
    header["task"]["candidate"]["path"] = other.source
    assert "sha256" in refused(halved, tmp_path, header=header)
    header["task"]["candidate"]["sha256"] = other.sha256
    assert "not proved" in refused(halved, tmp_path, header=header, tree=tree)


@pytest.mark.parametrize("which", ["halved", "contracted"])
def test_bytes_changed_or_missing(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Whatever the damage: refused, with no other exception; also where the sum at the end is made to fit."""
    made: Certificate = request.getfixturevalue(which)
    content, random = gzip.decompress(made.path.read_bytes()), Random(2)
    changed = tmp_path / "changed"
    for _ in range(40):
        at = random.randrange(len(content))
        changed.write_bytes(
            gzip.compress(content[:at] + bytes([content[at] ^ 1 << random.randrange(8)]) + content[at + 1 :], 1)
        )
        with pytest.raises(Refused):
            audit(changed)
        changed.write_bytes(gzip.compress(content[:at], 1))
        with pytest.raises(Refused):
            audit(changed)
    packed = made.path.read_bytes()
    for cut in (0, 1, 20, len(packed) // 2, len(packed) - 1):
        changed.write_bytes(packed[:cut])
        with pytest.raises(Refused):
            audit(changed)
    header, tree = unpack(made.path)
    for _ in range(40):
        at = random.randrange(len(tree))
        damaged = tree[:at] + random.randbytes(random.randrange(4)) + tree[at + random.randrange(4) :]
        with suppress(Refused):  # what it does to the proof is open; any other exception fails
            audit(pack(changed, header, damaged))


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
    header, tree = unpack(made.path)
    outside = header | {"witness": ["2/1", "2/1", "20000001/10000000"]}
    assert "outside" in refused(made, tmp_path, header=outside)
    harmless = json.loads(json.dumps(header))
    harmless["task"]["candidate"] = harmless["task"]["reference"]
    assert "holds" in refused(made, tmp_path, header=harmless)
    for wrong in ({"witness": ["0"]}, {"witness": None}, {"verdict": "unknown"}, {"verdict": "equivalent"}):
        assert refused(made, tmp_path, header=header | wrong, tree=tree)


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
    header, tree = unpack(halved.path)
    for role in ("reference", "candidate"):
        path = Path(header["task"][role]["path"])
        (tmp_path / path.name).write_bytes(path.read_bytes())
        header["task"][role]["path"] = f"elsewhere/{path.name}"
    elsewhere = tmp_path / "certificates"
    elsewhere.mkdir()
    assert audit(pack(tmp_path / "beside", header, tree)).verdict == "equivalent"
    moved = pack(elsewhere / "moved", header, tree)
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


def test_the_format_is_named(tmp_path: Path) -> None:
    for content in (b"", b"eqspec-certificate/2\n", MAGIC, MAGIC + b"[]\n", MAGIC + b"{}\n"):
        path = tmp_path / "other"
        path.write_bytes(gzip.compress(content))
        with pytest.raises(Refused):
            audit(path)
    with Auditor() as auditor:
        assert auditor.ask(tmp_path / "other").refused
        assert auditor.ask(tmp_path / "missing").refused
