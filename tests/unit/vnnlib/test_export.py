"""What is written for other verifiers says what the task says, at every point, and comes back as the same task."""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.compile import loads
from eqspec.errors import InputError
from eqspec.networks import Network, read_network
from eqspec.replay.replay import contains, raw_point
from eqspec.replay.violation import violation
from eqspec.tasks import serialisation
from eqspec.tasks.task import Task
from eqspec.vnnlib import decimals
from eqspec.vnnlib.exporting import Target, deviation, export
from eqspec.vnnlib.importing import import_query
from eqspec.vnnlib.product import product
from eqspec.vnnlib.reading import read_file, read_text
from unit.networks.models import model, node
from unit.vnnlib.pairs import pair, points, scores
from vnnlib_text import declared, entries, satisfied

HEADER = """eqspec 1
space s {{ shape [2] normalise {normalise} outputs a, b, c decide {decide} }}
network ref  = "f.onnx" in s {ref}
network cand = "g.onnx" in s {cand}
region all_of in s = {region}
check c {{ prove {claim} on all_of }}
"""
CLAIMS = {
    "linf": "cand stays within 1.5 of ref",
    "linf of some": "cand stays within 1/3 of ref comparing [c, a]",
    "l1": "cand stays within 2.5 of ref in l1",
    "l2": "cand stays within 1.5 of ref in l2",
    "l2 without end": "cand stays within 4/3 of ref in l2",
    "top1": "cand keeps top1 of ref",
    "margin": "cand keeps top1 of ref when margin >= 0.5",
    "linear": "cand satisfies 1/3*cand[a] - 2*ref[b] <= 0.25",
    "strict": "cand satisfies cand[a] - cand[b] < 0.5",
}
BOX = "box { x0: -1 .. 0.75  x1: -0.5 .. 1 } and where { x0 + 3*x1 <= 2 }"


def spec(claim: str, decide: str = "max", **changed: str) -> str:
    fields = {"normalise": "none", "ref": "", "cand": "", "region": BOX} | changed
    return HEADER.format(claim=claim, decide=decide, **fields)


def the_task(text: str, folder: Path) -> Task:
    (task,) = loads(text, directory=folder).tasks
    return task


def at(
    text: str, task: Task, networks: Sequence[Network], raw: Sequence[bool], point: Sequence[Fraction]
) -> dict[str, Fraction]:
    """The values of all words of a 2.0 file, at a point in network units; `networks` are the files as they are."""
    found: dict[str, Fraction] = {}
    tensors = list(declared(text).items())
    for number, network in enumerate(networks):
        given_point = raw_point(task, point) if raw[number] else point
        for (name, (_, sizes)), numbers in zip(
            tensors[2 * number :], (given_point, scores(network, given_point)), strict=False
        ):
            found |= dict(zip(entries(name, sizes), numbers, strict=True))
    return found


def breaks(task: Task, point: Sequence[Fraction]) -> bool:
    f, g = (n.evaluate_exact(point) for n in (task.reference, task.candidate))
    found = violation(task.property, f, g, lowest_wins=task.space.decide == "min")
    return contains(task, point) and found is not None


@pytest.mark.part(9)
@pytest.mark.parametrize("decide", ["max", "min"])
@pytest.mark.parametrize("claim", CLAIMS)
def test_two_networks(claim: str, decide: str, tmp_path: Path) -> None:
    answers = set()
    for seed in range(2):
        networks = pair(tmp_path, seed)[1 if claim == "strict" else 0 :]
        task = the_task(spec(CLAIMS[claim], decide), tmp_path)
        (made,) = export([task], "vnnlib2", tmp_path / "out")
        text = made.property.read_text(encoding="utf-8")
        assert "(different)" in text  # nothing was rounded, so sat needs no second look
        assert not without_point(text)
        for point in points(seed, 2):
            expected = breaks(task, point)
            assert satisfied(text, at(text, task, networks, (False, False), point)) is expected
            answers.add(expected)
        named = (
            {"ref": made.networks[0], "cand": made.networks[-1]} if claim != "strict" else {"cand": made.networks[0]}
        )
        (again,) = loads(import_query(read_file(made.property), named, tmp_path).text, directory=tmp_path).tasks
        assert deciding(again) == deciding(task)
    assert answers == {True, False}


def without_point(text: str) -> list[str]:
    """Numbers of a file, but for indices and comments, that the standard takes for integers."""
    bare = re.sub(r";[^\n]*|\[[^\]]*\]", "", text)
    return re.findall(r"(?<![\w.])-?\d+(?![\w.])", bare)


def deciding(task: Task) -> object:
    """What a verdict depends on, with the order of compared outputs and the spelling of a bound put aside."""
    data = serialisation.to_json(task)
    claim = dict(data["property"])
    if claim["kind"] == "epsilon":
        claim["outputs"] = sorted(claim["outputs"] or range(3))
    if claim["kind"] == "linear":
        numbers = [Fraction(x) for x in (*claim["candidate"], *claim["reference"], claim["bound"])]
        size = next(abs(x) for x in (*numbers[3:6], *numbers[:3]) if x)
        claim = {"kind": "linear", "row": [x / size for x in numbers], "strict": claim["strict"]}
    if claim["kind"] != "top1":
        claim.pop("decide", None)
    region = [data["region"][key] for key in ("lo_exact", "hi_exact")]
    rows = [
        [Fraction(x) / max(abs(Fraction(x)) for x in a) for x in (*a, b)]
        for a, b in zip(data["region"]["A"], data["region"]["b"], strict=True)
    ]
    return claim, region, rows, data["reference"]["sha256"], data["candidate"]["sha256"]


@pytest.mark.parametrize("takes", [("takes raw", ""), ("", "takes raw"), ("takes raw", "takes raw")])
def test_normalisation_inside_a_file(takes: tuple[str, str], tmp_path: Path) -> None:
    networks = pair(tmp_path, 5)
    normalise = "zscore mean [0.5, -0.25] std [2, 0.5]"
    box = "box { x0: -1 .. 2 x1: -0.5 .. 0.25 } and where { x0 + x1 <= 1.5 }"
    text = spec(CLAIMS["linf"], normalise=normalise, ref=takes[0], cand=takes[1], region=box)
    task = the_task(text, tmp_path)
    (made,) = export([task], "vnnlib2", tmp_path / "out")
    written = made.property.read_text(encoding="utf-8")
    raw = (bool(takes[0]), bool(takes[1]))
    answers = set()
    for point in points(5, 2, 200):
        expected = breaks(task, point)
        assert satisfied(written, at(written, task, networks, raw, point)) is expected
        answers.add(expected)
    assert answers == {True, False}
    back = import_query(read_file(made.property), {"ref": made.networks[0], "cand": made.networks[1]}, tmp_path)
    (again,) = loads(back.text, directory=tmp_path).tasks
    assert raw_point(again, again.lower_exact) in (raw_point(task, task.lower_exact), task.lower_exact)


@pytest.mark.part(8)
@pytest.mark.parametrize("decide", ["max", "min"])
@pytest.mark.parametrize("claim", [name for name in CLAIMS if not name.startswith("l2")])
def test_one_network(claim: str, decide: str, tmp_path: Path) -> None:
    """The product in onnxruntime and the 1.0 text: unsafe wherever the claim breaks, and else only where sides tie."""
    answers = set()
    for seed in range(2):
        pair(tmp_path, seed)
        task = the_task(spec(CLAIMS[claim], decide), tmp_path)
        (made,) = export([task], "product-onnx", tmp_path / "out")
        text = made.property.read_text(encoding="utf-8")
        assert made.deviation is not None
        assert made.deviation < 1e-5
        session = onnxruntime.InferenceSession(str(made.networks[0]), providers=["CPUExecutionProvider"])
        exact = read_network(str(made.networks[0]))
        for point in points(seed, 2):
            (found,) = session.run(None, {"X": np.array([[float(x) for x in point]], np.float32)})
            at_point = {f"X_{i}": x for i, x in enumerate(point)}
            at_point |= {f"Y_{i}": Fraction(float(y)) for i, y in enumerate(found[0])}
            assert [Fraction(float(y)) for y in found[0]] == scores(exact, point)
            unsafe, broken = satisfied(text, at_point), breaks(task, point)
            strictly = satisfied(text.replace("<=", "<").replace(">=", ">"), at_point)
            assert not broken or unsafe
            assert broken or not strictly
            answers.add(broken)
    assert answers == {True, False}


def test_a_product_comes_back_as_the_same_question(tmp_path: Path) -> None:
    """The distance of a pair is bounds on the outputs of the product, one for each side."""
    pair(tmp_path, 0)
    task = the_task(spec(CLAIMS["linf"], region="box { x0: -1 .. 0.75  x1: -0.5 .. 1 }"), tmp_path)
    (made,) = export([task], "product-onnx", tmp_path / "out")
    tasks = loads(
        import_query(read_file(made.property), {"p": made.networks[0]}, tmp_path).text, directory=tmp_path
    ).tasks
    assert len(tasks) == 6
    for point in points(1, 2):
        broken = [
            contains(t, point)
            and violation(t.property, t.reference.evaluate_exact(point), t.candidate.evaluate_exact(point)) is not None
            for t in tasks
        ]
        f, g = scores(task.reference, point), scores(task.candidate, point)
        far = contains(task, point) and max(abs(a - b) for a, b in zip(f, g, strict=True)) >= Fraction(3, 2)
        assert any(broken) is far  # 1.0 has no strict comparison, so the bound itself is unsafe too


def test_confidence_covers_more_and_says_so(tmp_path: Path) -> None:
    answers = set()
    for seed in range(4):
        networks = pair(tmp_path, seed)
        task = the_task(spec("cand keeps top1 of ref when confidence >= 0.8"), tmp_path)
        (made,) = export([task], "vnnlib2", tmp_path / "out")
        text = made.property.read_text(encoding="utf-8")
        assert "(different)" not in text
        assert "0.666667" in text  # 0.8 / (0.8 (2 - 3) + 3 - 1)
        for point in points(seed, 2):
            unsafe = satisfied(text, at(text, task, networks, (False, False), point))
            assert unsafe or not breaks(task, point)
            answers.add(unsafe)
    assert answers == {True, False}


def test_a_softmax_is_left_out_where_scores_count(tmp_path: Path) -> None:
    pair(tmp_path, 2, tail="Softmax")
    top1, far = (the_task(spec(CLAIMS[name]), tmp_path) for name in ("top1", "linf"))
    as_is, written = export([top1, far], "vnnlib2", tmp_path / "out")
    assert [p.name for p in as_is.networks] == ["f.onnx", "g.onnx"]
    assert all(p.parent == tmp_path / "out" / "onnx" for p in written.networks)
    assert written.deviation is not None
    assert written.deviation < 1e-5
    for path, network in zip(written.networks, (far.reference, far.candidate), strict=True):
        assert [n.op_type for n in onnx.load(path).graph.node] == ["Gemm", "Relu", "Gemm"]
        point = (Fraction(1, 4), Fraction(-1, 2))
        assert scores(read_network(str(path)), point) == scores(network, point)


def test_likeness_is_of_files(tmp_path: Path) -> None:
    """Other weights: isomorphic. The same file: equal. Another width: neither."""
    pair(tmp_path, 0)
    text = {"f.onnx": "(isomorphic-to", "same": "(equal-to", "wider": "(declare-network cand (declare-input"}
    for kind, expected in text.items():
        if kind == "same":
            (tmp_path / "g.onnx").write_bytes((tmp_path / "f.onnx").read_bytes())
        if kind == "wider":
            wider = onnx.load(tmp_path / "f.onnx")
            added: dict[str, Any] = {"W": ((0, 1), (0, 0)), "b": (0, 1), "V": ((0, 0), (0, 1)), "c": (0, 0)}
            for tensor in wider.graph.initializer:
                grown = np.pad(onnx.numpy_helper.to_array(tensor), added[tensor.name])
                tensor.CopyFrom(onnx.numpy_helper.from_array(grown, tensor.name))
            onnx.save(wider, tmp_path / "g.onnx")
        (made,) = export([the_task(spec(CLAIMS["linf"]), tmp_path)], "vnnlib2", tmp_path / f"out_{kind}")
        assert expected in made.property.read_text(encoding="utf-8")


def instances(folder: Path) -> list[list[str]]:
    return list(csv.reader((folder / "instances.csv").read_text(encoding="utf-8").splitlines()))


def test_the_list_of_instances(tmp_path: Path) -> None:
    """Commas stay inside their fields, paths lead to the files, tasks are written beside them."""
    pair(tmp_path, 0)
    swept = (
        spec(CLAIMS["linf"])
        .replace("1.5", "e")
        .replace(" on all_of }", " on all_of for e in [1, 3/2] budget { timeout 20s } }")
    )
    tasks = loads(swept, directory=tmp_path).tasks
    out = tmp_path / "out"
    done = export(tasks, "vnnlib2", out)
    rows = instances(out)
    assert [len(row) for row in rows] == [3, 3]
    for row, made, task in zip(rows, done, tasks, strict=True):
        assert row[2] == "20"
        assert (out / row[1]).samefile(made.property)
        named = ast.literal_eval(row[0])
        assert [name for name, _ in named] == ["ref", "cand"]
        assert [(out / path).resolve() for _, path in named] == [p.resolve() for p in made.networks]
        sidecar = json.loads((made.property.parent / f"{made.property.stem}.task.json").read_text(encoding="utf-8"))
        assert (
            serialisation.to_json(serialisation.from_json(sidecar))["sha256"] == serialisation.to_json(task)["sha256"]
        )
    single = export(tasks, "product-onnx", tmp_path / "single")
    rows = instances(tmp_path / "single")
    assert [(tmp_path / "single" / row[0]).resolve() for row in rows] == [m.networks[0].resolve() for m in single]


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    pair(tmp_path, 0)
    with pytest.raises(InputError, match="l2 distance is not a linear query"):
        export([the_task(spec(CLAIMS["l2"]), tmp_path)], "product-onnx", tmp_path / "out")
    pair(tmp_path, 0, 2, 11)
    many = spec(CLAIMS["l1"]).replace("outputs a, b, c", "outputs 11")
    with pytest.raises(InputError, match=r"2\^11 alternatives"):
        export([the_task(many, tmp_path)], "vnnlib2", tmp_path / "out")


def test_a_written_network_that_differs_is_noticed(tmp_path: Path) -> None:
    networks = pair(tmp_path, 0)
    task = the_task(spec(CLAIMS["linf"]), tmp_path)
    (made,) = export([task], "product-onnx", tmp_path / "out")
    rows = product(task).rows
    assert rows is not None
    assert (deviation(made.networks[0], networks, rows, task) or 0.0) < 1e-5
    written = onnx.load(made.networks[0])
    bias = next(t for t in written.graph.initializer if t.name == "b_1")
    moved = onnx.numpy_helper.to_array(bias) + np.array([0.125, 0, 0, 0, 0, 0], np.float32)
    bias.CopyFrom(onnx.numpy_helper.from_array(moved, "b_1"))
    onnx.save(written, made.networks[0])
    with pytest.raises(RuntimeError, match="something else"):
        deviation(made.networks[0], networks, rows, task)


numbers = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**9)


@given(numbers, st.integers(-30, 30))
def test_decimals_enclose(number: Fraction, places: int) -> None:
    number *= Fraction(10) ** places
    below, above = decimals.below(number), decimals.above(number)
    for text in (below, above):
        assert "e" not in text.lower()
        assert set(text) <= set("-.0123456789")
    assert Fraction(below) <= number <= Fraction(above)
    assert Fraction(above) - Fraction(below) <= abs(number) / 10**20
    exact = decimals.plain(number)
    assert exact is None or Fraction(exact) == number
    assert (exact is None) == (Fraction(below) < number or Fraction(above) > number)


def test_regions_are_rounded_outward(tmp_path: Path) -> None:
    pair(tmp_path, 0)
    text = spec(CLAIMS["linf"], normalise="zscore mean [0.1, 0] std [3, 7]", region="box { x0: -1 .. 2  x1: 0 .. 1 }")
    task = the_task(text, tmp_path)
    (made,) = export([task], "vnnlib2", tmp_path / "out")
    written = made.property.read_text(encoding="utf-8")
    assert "rounded outward" in written
    back = import_query(
        read_text(written), {n: tmp_path / f"{m}.onnx" for n, m in (("ref", "f"), ("cand", "g"))}, tmp_path
    )
    (again,) = loads(back.text, directory=tmp_path).tasks
    for wide, exact in zip(again.lower_exact, task.lower_exact, strict=True):
        assert exact - Fraction(1, 10**20) <= wide <= exact
    for wide, exact in zip(again.upper_exact, task.upper_exact, strict=True):
        assert exact <= wide <= exact + Fraction(1, 10**20)


def test_networks_that_overflow_in_floats_are_written(tmp_path: Path) -> None:
    """Where neither file nor networks give a number there is nothing to compare, and nothing is wrong."""
    for name in "fg":
        large = {"w": np.eye(2) * 1e200, "v": np.ones((2, 3)) * 1e200}
        nodes = [node("MatMul", ["x", "w"], "h"), node("Relu", ["h"], "r"), node("MatMul", ["r", "v"], "y")]
        onnx.save(model(nodes, large, [1, 2], kind=onnx.TensorProto.DOUBLE), tmp_path / f"{name}.onnx")
    region = "box { x0: 0.5 .. 0.75  x1: 0.5 .. 1 }"
    (made,) = export([the_task(spec(CLAIMS["linf"], region=region), tmp_path)], "product-onnx", tmp_path / "out")
    assert made.deviation is None
    wide = "box { x0: -1e308 .. 1e308  x1: 0 .. 1 }"
    pair(tmp_path, 0)
    (made,) = export([the_task(spec(CLAIMS["linf"], region=wide), tmp_path)], "product-onnx", tmp_path / "out")
    assert made.networks[0].is_file()


def folded(path: Path, tail: str | None = None) -> None:
    """Two products in a row, 2^60 + 1 - 2^60 times x0 of them: what float64 cannot fold exactly."""
    first = np.array([[1.0, 0], [1, 0], [1, 1]])
    second = np.array([[2.0**60, 1, -(2.0**60)], [0, 1, 1], [1, 0, 0]])
    nodes = [node("MatMul", ["x", "w"], "h"), node("MatMul", ["h", "v"], "y" if tail is None else "z")]
    if tail is not None:
        nodes.append(node(tail, ["z"], "y", axis=1))
    constants = {"w": first.T.copy(), "v": second.T.copy()}
    onnx.save(model(nodes, constants, [1, 2], kind=onnx.TensorProto.DOUBLE), path)


@pytest.mark.parametrize("target", ["vnnlib2", "product-onnx"])
def test_layers_that_folding_rounded_are_not_written(target: Target, tmp_path: Path) -> None:
    """The file would be another network than the one that is asked about."""
    tail = "Softmax" if target == "vnnlib2" else None
    for name in "fg":
        folded(tmp_path / f"{name}.onnx", tail)
    with pytest.raises(InputError, match=r"layer 0 of .* was folded from several operators and rounded"):
        export([the_task(spec(CLAIMS["linf"]), tmp_path)], target, tmp_path / "out")


def test_a_folded_file_is_named_as_it_is(tmp_path: Path) -> None:
    for name in "fg":
        folded(tmp_path / f"{name}.onnx")
    (made,) = export([the_task(spec(CLAIMS["linf"]), tmp_path)], "vnnlib2", tmp_path / "out")
    assert [path.name for path in made.networks] == ["f.onnx", "g.onnx"]
