"""Files in random styles hold the function of their layers, use what they are meant to, and find readers that err."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from breadth import some
from eqspec.networks import align, read_network, share
from eqspec.networks.affine import Affine
from eqspec.networks.program import Step, Term, Tile
from eqspec.networks.readers import onnx_reader
from eqspec.networks.readers.steps import Steps, steps_of
from eqspec.networks.units import Units
from hunt.cases import THROUGH_FILES
from hunt.hunting import Catch, cases, hunt
from hunt.judging import judge
from hunt.onnx_styles import write_styled
from hunt.pairs import random_pair
from oracle.evaluate import outputs

SLICE, SLICES = len(some(range(2), 1)), 1
FILES = len(some(range(80), 50))


@pytest.fixture(scope="module")
def catch() -> Catch:
    """What all slices together saw."""
    return Catch()


@pytest.mark.parametrize("number", range(SLICES))
def test_no_verdict_about_files_is_wrong(number: int, catch: Catch) -> None:
    found = hunt(1000 + number * SLICE, SLICE, THROUGH_FILES)
    catch.add(found)
    assert not found.wrong, found.wrong[0]


def test_files_in_styles_lead_to_every_verdict(catch: Catch) -> None:
    if catch.cases < SLICES * SLICE * 20:
        pytest.skip("only some of the slices ran")
    assert catch.seen["styled"] > catch.cases / 2
    assert min(catch.seen[word] for word in ("equivalent", "different", "unknown", "audited")) > catch.cases / 50


def test_a_file_holds_its_layers(tmp_path: Path) -> None:
    """The exact outputs lie in what our reader makes of the file; and every operator and opset was used."""
    used: Counter[str] = Counter()
    for seed in range(FILES):
        layers, rng = random_pair(seed)[0].reference, np.random.default_rng(seed)
        path = tmp_path / "styled.onnx"
        write_styled(path, layers, rng)
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
        used.update([node.op_type for node in model.graph.node] + [f"opset {model.opset_import[0].version}"])
        network = read_network(path)
        for _ in range(3):
            point = [Fraction(int(rng.integers(-20, 21)), 7) for _ in range(layers[0][0].shape[1])]
            for true, (low, high) in zip(outputs(layers, point), network.evaluate_exact(tuple(point)), strict=True):
                assert low <= true <= high, seed
    assert len([name for name in used if name.startswith("opset")]) == 14
    kinds = {"Gemm", "MatMul", "Add", "Sub", "Sum", "Neg", "Mul", "Div", "Concat", "Split", "Slice", "Gather", "Cast"}
    kinds |= {"BatchNormalization", "Constant", "Identity", "Dropout", "Flatten", "Reshape", "Squeeze", "Transpose"}
    assert kinds <= set(used)


def test_files_with_the_same_roots_share_rows_that_no_float_holds(tmp_path: Path) -> None:
    """Or else the hunt would not try what is proved of such rows; and their exact values are what they were."""
    rows = 0
    for seed in range(FILES // 3):
        pair, rng = random_pair(seed)[0], np.random.default_rng(seed)
        networks = []
        for name, layers in (("f", pair.reference), ("g", pair.candidate)):
            write_styled(tmp_path / f"{name}.onnx", layers, rng, root=3.0)
            networks.append(read_network(tmp_path / f"{name}.onnx"))
            point = [Fraction(int(rng.integers(-20, 21)), 7) for _ in range(layers[0][0].shape[1])]
            enclosed = networks[-1].evaluate_exact(tuple(point))
            assert all(a <= y <= b for y, (a, b) in zip(outputs(layers, point), enclosed, strict=True))
        _, shared = share(*align(*networks))
        rows += sum(map(sum, shared))
    assert rows > FILES / 3


def test_onnxruntime_computes_the_same_where_nothing_cancels(tmp_path: Path) -> None:
    """An answer that does not come from our reader; files in which large numbers cancel say nothing in floats."""
    compared = 0
    for seed in range(FILES):
        layers, rng = random_pair(seed)[0].reference, np.random.default_rng(seed)
        path = tmp_path / "styled.onnx"
        write_styled(path, layers, rng)
        model = onnx.load(path)
        numbers = [onnx.numpy_helper.to_array(t) for t in model.graph.initializer]
        numbers += [onnx.numpy_helper.to_array(a.t) for n in model.graph.node for a in n.attribute if a.name == "value"]
        if any(np.abs(a).max(initial=0) > 2**12 for a in numbers if a.dtype.kind == "f"):
            continue
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(str(path), options)
        (given,) = [i for i in session.get_inputs() if i.name == "x"]
        kind = np.float32 if given.type == "tensor(float)" else np.float64
        point = [int(rng.integers(-16, 17)) / 8 for _ in range(layers[0][0].shape[1])]
        shape = [size if isinstance(size, int) else 1 for size in given.shape]
        answer = session.run(None, {"x": np.array(point, kind).reshape(shape)})[0].reshape(-1)
        true = np.array([float(y) for y in outputs(layers, [Fraction(x) for x in point])])
        assert answer == pytest.approx(true, rel=1e-3, abs=1e-3 * max(1.0, np.abs(true).max())), seed
        compared += 1
    assert compared > FILES / 5


def test_a_reader_that_drops_its_rounding_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = steps_of

    def without_rounding(inputs: Units, result: Affine) -> Steps:
        made = right(inputs, result)
        return replace(made, steps=tuple(exact(step) for step in made.steps))

    def exact(step: Step) -> Step:
        terms = (Term(t.source, Tile(t.tile.index, t.tile.weight)) for t in step.terms)
        return replace(step, terms=tuple(terms), bias_error=None)

    monkeypatch.setattr(onnx_reader, "steps_of", without_rounding)
    wrong = {"proved, but it breaks", "refuted, but it holds", "the witness is none"}
    assert any(judge(case).complaint in wrong for seed in range(1000, 1020) for case, _ in cases(seed, ("spec",)))
