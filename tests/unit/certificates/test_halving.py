"""Cuts that exclude a violation which the enclosure of a whole node narrowly does not exclude."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from eqspec.audit.proof import CUT, LEAF, Proof
from eqspec.certificates.cached_proof import CachedProof, with_room
from eqspec.certificates.halving import CUTS, missing, parts
from eqspec.property import Epsilon, Norm, Property
from eqspec.tasks import serialisation
from unit.certificates.proofs import close


def _reach(folder: Path, seed: int, norm: Norm = "linf") -> tuple[CachedProof, float]:
    """A proof of a distance at most 0, and the distance that the enclosure of the whole region shows."""
    proof = _proof(folder, seed, Epsilon(Fraction(0), norm=norm))
    return proof, float(missing(proof, with_room(proof.reach(proof.under(proof.root(), 0))), 0)[0])


def _proof(folder: Path, seed: int, claim: Property) -> CachedProof:
    task = close(seed, folder, claim, [3, 8, 8, 2], Fraction(1, 2), 0.05)
    return CachedProof(serialisation.to_json(task), Path.cwd())


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_every_leaf_is_excluded_by_the_auditor(norm: Norm, tmp_path: Path) -> None:
    """The auditor encloses each leaf by itself, bounds and all, and it is the auditor's own class that is asked."""
    found = 0
    for seed in range(6):
        _, far = _reach(tmp_path, seed, norm)
        proof = _proof(tmp_path, seed, Epsilon(Fraction(0.97 * far), norm=norm))
        node = proof.under(proof.root(), 0)
        assert missing(proof, with_room(proof.reach(node)), 0)[0] > 0.0
        (tree,) = parts(proof, [node])
        if tree is None:
            continue
        found += 1
        todo = [node]
        for kind, quantity, place in tree:
            one = todo.pop()
            if kind == CUT:
                todo += reversed(Proof.halves(proof, one, int(quantity), place))
            else:
                assert kind == LEAF
                assert one.infeasible or Proof.excluded(proof, Proof.reach(proof, one, bounds_alone=True), 0)[0]
        assert not todo
        assert len(tree) <= 2 * CUTS + 1
    assert found >= 3


def test_what_is_false_has_no_tree(tmp_path: Path) -> None:
    """The networks differ at the centre, by more than is claimed."""
    for seed in range(4):
        proof = _proof(tmp_path, seed, Epsilon(Fraction(0)))
        assert parts(proof, [proof.under(proof.root(), 0)]) == [None]


def test_a_single_point_is_a_leaf_or_cannot_be_cut(tmp_path: Path) -> None:
    """There the first output differs upwards or downwards, and the claim that it does neither is half true."""
    proof = _proof(tmp_path, 1, Epsilon(Fraction(0)))
    root = proof.root()
    root.low[:3] = root.high[:3] = np.full(3, 0.25)
    trees = parts(proof, [proof.under(root, o) for o in (0, 1)])
    assert sorted(trees, key=lambda tree: tree is not None) == [None, [(LEAF, 0, 0)]]


def test_a_box_is_enclosed_once_whatever_is_assumed_of_the_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the auditor encloses it, who does so for every assumption."""
    proof = _proof(tmp_path, 2, Epsilon(Fraction(1, 50)))
    half = proof.halves(proof.root(), 0, 0.25)[0]
    nodes = [proof.under(proof.root(), o) for o in range(len(proof.obligations))]
    theirs, alone = [Proof.reach(proof, node) for node in nodes], Proof.reach(proof, half)
    made = Mock(side_effect=Proof.reach)
    monkeypatch.setattr(Proof, "reach", lambda *given, **more: made(*given, **more))
    for o, (node, other) in enumerate(zip(nodes, theirs, strict=True)):
        ours = proof.reach(node)
        assert np.allclose(ours.low, other.low, rtol=1e-12)
        assert np.allclose(ours.high, other.high, rtol=1e-12)
        assert ours.empty == other.empty
        assert proof.surely_excluded(ours, o) == proof.surely_excluded(other, o)
        for one, its in zip(ours.stated(1), other.stated(1), strict=True):
            assert np.allclose(one, its)
    assert made.call_count == 1
    assert np.allclose(proof.reach(half).high, alone.high)
