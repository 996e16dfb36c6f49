"""Proofs that start from earlier ones: of the same spec with other networks, and with hints that are worth nothing."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from eqspec.api import verify
from eqspec.audit import audit
from eqspec.cache import Store
from eqspec.certificates import Certifier
from eqspec.errors import InputError
from eqspec.networks.curves import Curves, clip
from eqspec.networks.network import Network
from eqspec.networks.readers.network_file import read_network
from eqspec.property import Epsilon
from eqspec.report.table import remark
from eqspec.run.earlier_proofs import EarlierProofs, kin
from eqspec.run.engine import Question, ThisMachine
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from moved_pairs import claimed, pair, wide


class Engine(ThisMachine):
    """Remembers what hints it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[bytes | None] = []

    def solve(self, question: Question, options: Options, **more: Any) -> Any:
        self.given.append(more.get("hints"))
        return super().solve(question, options, **more)


def run(what: Task, folder: Path | None, since: Path | None = None, engine: Engine | None = None) -> Result:
    results = None if folder is None else ResultCache(Store(folder))
    return Runner(Options(threads=1, boxes=20_000, since=since), results, engine).run(what)


def _clipped(network: Network) -> Network:
    """With a clip far above in place of ReLU, so that it is no chain of ReLU any more."""
    steps = (replace(s, function=Curves.all(clip(0.0, 50.0))) if s.function == "relu" else s for s in network.steps)
    return replace(network, steps=tuple(steps), sha256=network.sha256[::-1])


def test_a_proof_that_is_kept_for_the_next_one_is_the_same_proof(tmp_path: Path) -> None:
    """Only a record for an auditor goes without the bounds that the auditor does not know."""
    reference, candidate = pair(0.0)
    for other in (candidate, _clipped(candidate)):
        what = replace(claimed(0.0), reference=reference, candidate=other)
        kept, alone = run(what, tmp_path / other.sha256), run(what, None)
        assert (kept.verdict, kept.boxes, kept.initial_bound) == (alone.verdict, alone.boxes, alone.initial_bound)
        assert kept.boxes > 20


@pytest.mark.parametrize("made", [claimed, wide])
def test_the_next_proof_takes_up_the_last_one(tmp_path: Path, made: Any) -> None:
    last, cold = run(made(0.0), tmp_path / "cache"), run(made(1e-4), None)
    assert (last.verdict, cold.verdict) == (Verdict.EQUIVALENT, Verdict.EQUIVALENT)
    assert last.boxes > 20
    # By itself, where the cache is the same; and from a folder that is named, beside another cache or without one.
    for folder, since in (
        (tmp_path / "cache", None),
        (tmp_path / "other", tmp_path / "cache"),
        (None, tmp_path / "cache"),
    ):
        warm = run(made(1e-4 if since is None else 2e-4), folder, since)
        assert warm.verdict is Verdict.EQUIVALENT
        assert not warm.cached
        assert warm.boxes < 0.9 * cold.boxes
        assert warm.reused is not None
        assert warm.reused.source == ("cache" if since is None else str(since))
        assert 0.5 * warm.reused.steps < warm.reused.taken_up <= warm.reused.steps
        assert "from an earlier proof" in remark(warm).plain
        assert Result.from_json(warm.to_json()).reused == warm.reused
    assert last.reused is cold.reused is None


def test_a_difference_is_found_whatever_was_proved_before(tmp_path: Path) -> None:
    assert run(claimed(0.0), tmp_path).verdict is Verdict.EQUIVALENT
    engine = Engine()
    assert run(claimed(0.5), tmp_path, engine=engine).verdict is Verdict.DIFFERENT
    assert engine.given[0]


@pytest.mark.parametrize("made", [claimed, wide])
def test_hints_that_are_worth_nothing_cost_time_alone(tmp_path: Path, made: Any) -> None:
    """Damaged hints, and those of another pair, region and claim: every verdict is the one without them."""
    random = np.random.default_rng(0)
    proofs = EarlierProofs(None, Store(tmp_path))
    trails = []
    for one in (claimed(0.0), claimed(0.0, Epsilon("0.8")), wide(0.0)):
        run(one, tmp_path)
        trails.append(proofs.hints(one))
    known = [trail.trail for trail in trails if trail]
    assert len(known) == 3
    noise = [bytes(random.integers(0, 256, 300, dtype=np.uint8)), b"", b"Z"]
    for base in known:
        data = bytearray(base)
        for place in random.integers(0, len(data), 3):
            data[place] = random.integers(0, 256)
        noise += [bytes(data), base[: len(base) // 2]]
    for one, hints, expected in [
        *((made(0.0), hints, Verdict.EQUIVALENT) for hints in [*known, *noise][: None if made is claimed else 7]),
        (made(2.0), known[-1], Verdict.DIFFERENT),
    ]:
        for entry in tmp_path.rglob("*.result"):
            entry.unlink()
        Store(tmp_path).write("trail", kin(one), hints)
        engine = Engine()
        assert run(one, tmp_path, engine=engine).verdict is expected
        assert engine.given == [hints]


def test_what_is_alike() -> None:
    one = claimed(0.0)
    assert kin(one) == kin(claimed(0.1))
    assert kin(one) == kin(replace(one, expected="different"))
    assert kin(one) != kin(claimed(0.0, Epsilon("1.4")))
    assert kin(one) != kin(claimed(0.0, hidden=9))
    assert kin(one) != kin(replace(one, id="other"))


def write(path: Path, net: Network) -> Path:
    """A chain of layers as a file, in float32."""
    nodes, stored, last = [], [], "x"
    for number, layer in enumerate(net.layers):
        names = [f"w{number}", f"b{number}"]
        stored += [
            numpy_helper.from_array(one.astype(np.float32), name)
            for one, name in zip((layer.weight, layer.bias), names, strict=True)
        ]
        ends = number == len(net.layers) - 1
        nodes.append(helper.make_node("Gemm", [last, *names], ["y" if ends else f"z{number}"], transB=1))
        if not ends:
            nodes.append(helper.make_node("Relu", [f"z{number}"], [last := f"r{number}"]))
    shapes = [("x", net.input_size), ("y", net.output_size)]
    ends_of = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size]) for name, size in shapes]
    graph = helper.make_graph(nodes, "chain", ends_of[:1], ends_of[1:], stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def test_the_tree_of_a_certificate_is_a_hint(tmp_path: Path) -> None:
    (first, last), (_, new) = pair(0.0), pair(1e-4)
    files = [write(tmp_path / f"{name}.onnx", net) for name, net in (("f", first), ("g", last), ("h", new))]
    box, claim = ([-1.0] * 3, [1.0] * 3), Epsilon("0.6")
    with Certifier(tmp_path) as certifier:
        assert verify(files[0], files[1], *box, claim, options=Options(threads=1, certifier=certifier)).certificate
    cold = verify(files[0], files[2], *box, claim, threads=1)
    warm = verify(files[0], files[2], *box, claim, threads=1, since=tmp_path)
    assert (cold.verdict, warm.verdict) == (Verdict.EQUIVALENT, Verdict.EQUIVALENT)
    assert warm.boxes != cold.boxes
    # Of another claim it is none, and a file that is cut off is none.
    easier = Epsilon("0.7")
    same = [verify(files[0], files[2], *box, easier, threads=1, since=one).boxes for one in (None, tmp_path)]
    assert same[0] == same[1]
    (made,) = tmp_path.glob("*.eqcert")
    made.write_bytes(made.read_bytes()[:-200])
    assert verify(files[0], files[2], *box, claim, threads=1, since=tmp_path).verdict is Verdict.EQUIVALENT


def _moved_cuts(trail: bytes) -> bytes:
    """The cut of the first box elsewhere: a label, an input and the cut follow the first letter."""
    return trail[:13] + struct.pack("<d", 0.3) + trail[21:]


def test_a_proof_that_took_up_an_earlier_one_has_a_certificate(tmp_path: Path) -> None:
    """By halvings and by contractions, from trails that serve and from those that were damaged."""
    for name, made in (("halved", claimed), ("contracted", wide)):
        files = [tmp_path / f"{name}-{end}.onnx" for end in ("f", "g")]
        old, new = made(0.0), made(1e-4)
        for path, net in zip(files, (new.reference, new.candidate), strict=True):
            write(path, net)
        asked = replace(new, reference=read_network(files[0]), candidate=read_network(files[1]))
        run(old, tmp_path / name)
        kept = Store(tmp_path / name)
        trail = kept.read("trail", kin(old))
        assert trail
        damaged = [trail[: len(trail) // 2] + b"Z", _moved_cuts(trail)] if name == "halved" else []
        for number, hints in enumerate([trail, *damaged]):
            kept.write("trail", kin(asked), hints)
            folder = tmp_path / f"{name}-{number}"
            with Certifier(folder) as certifier:
                options = Options(threads=1, certifier=certifier, since=tmp_path / name)
                result = Runner(options, None).run(asked)
            assert result.verdict is Verdict.EQUIVALENT
            if number == 0:
                assert result.reused is not None
                assert result.reused.taken_up > 0
            (certificate,) = folder.glob("*.eqcert")
            assert audit(certificate).verdict == "equivalent"


def test_hints_of_another_key_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EQSPEC_CACHE_KEY", "a secret that is long enough to be one, or two")
    run(claimed(0.0), tmp_path)
    entries = list(tmp_path.rglob("*.trail"))
    assert len(entries) == 1
    entries[0].write_bytes(entries[0].read_bytes() + b"x")
    engine = Engine()
    assert run(claimed(1e-4), tmp_path, engine=engine).verdict is Verdict.EQUIVALENT
    assert engine.given == [None]


def test_a_folder_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no such folder"):
        Options(since=Path("nowhere"))
