"""Classifiers and regressors of scikit-learn as skl2onnx writes them, and operators that onnxruntime fuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from eqspec.errors import NetworkError, UnsupportedOperatorError
from eqspec.networks import read_network
from eqspec.networks.operators import OPERATORS
from unit.networks.exported import FLOAT, INT64, read_and_compared, several, value
from unit.networks.models import node, save

RANDOM = np.random.default_rng(5)
FED = [("float_input", np.float32, (1, 4))]
W1, B1 = RANDOM.normal(size=(4, 5)).astype(np.float32), RANDOM.normal(size=5).astype(np.float32)


def ml(kind: str, inputs: list[str], outputs: list[str], **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(kind, inputs, outputs, name=kind, domain="ai.onnx.ml", **attributes)


def ends(last: list[onnx.NodeProto], scores: str, classes: int) -> tuple[list[onnx.NodeProto], list[Any]]:
    """Label and dictionary of probabilities, as skl2onnx adds them to a classifier."""
    nodes = [
        *last,
        node("ArgMax", [scores], "argmax", axis=1),
        ml("ArrayFeatureExtractor", ["classes", "argmax"], ["array"]),
        node("Cast", ["array"], "label_cast", to=INT64),
        node("Reshape", ["label_cast", "shape"], "output_label"),
        ml("ZipMap", [scores], ["output_probability"], classlabels_int64s=list(range(classes))),
    ]
    of_label = value("output_label", INT64, ("n",))
    of_scores = helper.make_tensor_value_info("output_probability", FLOAT, None)
    inner = helper.make_map_type_proto(INT64, helper.make_tensor_type_proto(FLOAT, ()))
    of_scores.type.CopyFrom(helper.make_sequence_type_proto(inner))
    return nodes, [of_label, of_scores]


def perceptron(classes: int, *, zipped: bool = True) -> onnx.ModelProto:
    """An MLPClassifier in the style of skl2onnx."""
    size = 1 if classes == 2 else classes
    weight, bias = RANDOM.normal(size=(5, size)).astype(np.float32), RANDOM.normal(size=(1, size)).astype(np.float32)
    layers = [
        node("Cast", ["float_input"], "cast_input", to=FLOAT),
        node("MatMul", ["cast_input", "coefficient"], "mul_result"),
        node("Add", ["mul_result", "intercepts"], "add_result"),
        node("Relu", ["add_result"], "next_activations"),
        node("MatMul", ["next_activations", "coefficient1"], "mul_result1"),
        node("Add", ["mul_result1", "intercepts1"], "add_result1"),
    ]
    if classes == 2:
        layers += [
            node("Sigmoid", ["add_result1"], "out_activations_result"),
            node("Sub", ["unity", "out_activations_result"], "negative_class_proba"),
            node("Concat", ["negative_class_proba", "out_activations_result"], "probabilities", axis=1),
        ]
    else:
        layers += [node("Softmax", ["add_result1"], "probabilities", axis=1)]
    constants: dict[str, Any] = {
        "coefficient": W1,
        "intercepts": B1[None],
        "coefficient1": weight,
        "intercepts1": bias,
        "unity": np.ones(1, np.float32),
        "classes": np.arange(classes, dtype=np.int32),
        "shape": np.array([-1], np.int64),
    }
    nodes, outputs = ends(layers, "probabilities", classes)
    if not zipped:
        nodes, outputs = nodes[:-1], [outputs[0], value("probabilities", FLOAT, ("n", classes))]
    return several(nodes, constants, [value("float_input", FLOAT, (None, 4))], outputs, opset=15, ml=1)


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_perceptron_with_label_and_probabilities(classes: int, zipped: bool, tmp_path: Path) -> None:
    asked = "output_probability" if zipped else "probabilities"
    network = read_and_compared(perceptron(classes, zipped=zipped), tmp_path, FED, asked=asked)
    assert network.stripped == "softmax"
    assert network.is_chain
    assert [step.rows for step in network.steps] == [5, classes]
    said = " ".join(network.notes)
    assert "'output_label' is left alone" in said
    assert ("dictionary by class" in said) == zipped
    if classes == 2:
        assert not network.steps[-1].terms[0].tile.weight[0][0].any()
        assert "read as a Softmax of two scores" in said


def test_several_sigmoids_are_no_pair(tmp_path: Path) -> None:
    """(1 - p, p) of two labels are four probabilities, and no softmax."""
    proto = perceptron(2, zipped=False)
    wide = {"coefficient1": (5, 2), "intercepts1": (1, 2)}
    for tensor in proto.graph.initializer:
        if tensor.name in wide:
            numbers = RANDOM.normal(size=wide[tensor.name]).astype(np.float32)
            tensor.CopyFrom(onnx.numpy_helper.from_array(numbers, tensor.name))
    proto.graph.output[1].ClearField("type")
    network = read_network(save(tmp_path, proto))
    assert (network.output_size, network.stripped) == (4, None)


def linear(transform: str, weights: Any, offsets: Any, *, normalised: bool = True) -> onnx.ModelProto:
    """A LogisticRegression or a LinearSVC in the style of skl2onnx."""
    classes = len(offsets)
    given = {
        "coefficients": [float(w) for w in np.asarray(weights, np.float32).ravel()],
        "intercepts": [float(b) for b in np.asarray(offsets, np.float32)],
        "classlabels_ints": list(range(classes)),
        "multi_class": 1,
        "post_transform": transform,
    }
    last = [ml("LinearClassifier", ["float_input"], ["label", "scores"], **given)]
    scores = "scores"
    if normalised:
        last.append(ml("Normalizer", ["scores"], ["probabilities"], norm="L1"))
        scores = "probabilities"
    zipped = ml("ZipMap", [scores], ["output_probability"], classlabels_int64s=list(range(classes)))
    nodes, outputs = ends([], scores, classes)
    outputs[0] = value("label", INT64, ("n",))
    del nodes
    return several([*last, zipped], {}, [value("float_input", FLOAT, (None, 4))], outputs, opset=15, ml=1)


@pytest.mark.parametrize("transform", ["SOFTMAX", "NONE"])
def test_a_linear_classifier(transform: str, tmp_path: Path) -> None:
    weights, offsets = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=3)
    proto = linear(transform, weights, offsets, normalised=transform == "SOFTMAX")
    network = read_and_compared(proto, tmp_path, FED, asked="output_probability")
    assert (network.input_size, network.output_size) == (4, 3)
    assert (network.stripped is not None) == (transform == "SOFTMAX")


def test_a_logistic_regression_of_two_classes(tmp_path: Path) -> None:
    weight = RANDOM.normal(size=4).astype(np.float32)
    proto = linear("LOGISTIC", [-weight, weight], [-0.25, 0.25])
    network = read_and_compared(proto, tmp_path, FED, asked="output_probability")
    assert network.stripped == "softmax"
    assert network.layers[-1].weight[0].tolist() == [0.0] * 4
    assert np.array_equal(network.layers[-1].weight[1], weight.astype(np.float64))


@pytest.mark.parametrize(
    ("transform", "offsets", "words"),
    [("PROBIT", [0.0, 1.0, 2.0], "post_transform 'PROBIT'"), ("SOFTMAX_ZERO", [0.0, 1.0, 2.0], "SOFTMAX_ZERO")],
)
def test_other_endings_of_a_linear_classifier(transform: str, offsets: Any, words: str, tmp_path: Path) -> None:
    proto = linear(transform, np.ones((3, 4)), offsets, normalised=False)
    with pytest.raises(NetworkError, match=words) as caught:
        read_network(save(tmp_path, proto))
    assert caught.value.operator == "LinearClassifier"


def pipeline(steps: list[onnx.NodeProto], constants: dict[str, Any], inputs: Any = None) -> onnx.ModelProto:
    given = [value("float_input", FLOAT, (None, 4))] if inputs is None else inputs
    return several(steps, constants, given, [value("variable", FLOAT, (None, 2))], opset=15, ml=1)


REGRESSOR = {"coefficients": [1.0, 0.5, -1, 2, 0, 1, 0, -0.25], "intercepts": [0.1, 0.2], "targets": 2}


def test_a_scaler_in_front_of_a_regressor(tmp_path: Path) -> None:
    steps = [
        ml("Scaler", ["float_input"], ["scaled"], offset=[0.5, 1, 2, -1.5], scale=[2.0, 0.5, 0.1, 1]),
        ml("LinearRegressor", ["scaled"], ["variable"], **REGRESSOR),
    ]
    network = read_and_compared(pipeline(steps, {}), tmp_path, FED)
    assert network.output_size == 2


def test_columns_that_are_inputs_by_themselves(tmp_path: Path) -> None:
    """A ColumnTransformer takes every column as an input, and some as integers."""
    steps = [
        node("Cast", ["count"], "count_cast", to=FLOAT),
        node("Concat", ["a", "b"], "merged", axis=1),
        ml("Scaler", ["merged"], ["scaled"], offset=[0.5, 1.0], scale=[2.0, 0.5]),
        node("Concat", ["scaled", "count_cast", "c"], "joined", axis=1),
        ml("ArrayFeatureExtractor", ["joined", "columns"], ["chosen"]),
        ml("LinearRegressor", ["chosen"], ["variable"], **REGRESSOR),
    ]
    inputs = [value("a", FLOAT, (None, 1)), value("b", FLOAT, (None, 1)), value("c", FLOAT, (None, 1))]
    inputs.insert(1, value("count", INT64, (None, 1)))
    fed = [("a", np.float32, (1, 1)), ("count", np.int64, (1, 1))]
    fed += [("b", np.float32, (1, 1)), ("c", np.float32, (1, 1))]
    proto = pipeline(steps, {"columns": np.array([[3, 0, 2, 1]])}, inputs)
    network = read_and_compared(proto, tmp_path, fed, whole=True)
    assert [port.name for port in network.ports] == ["a", "count", "b", "c"]


def test_features_of_several_types_in_one_vector(tmp_path: Path) -> None:
    steps = [
        ml("FeatureVectorizer", ["a", "b"], ["joined"], inputdimensions=[3, 1]),
        ml("LinearRegressor", ["joined"], ["variable"], **REGRESSOR),
    ]
    inputs = [value("a", FLOAT, (None, 3)), value("b", FLOAT, (None, 1))]
    fed = [("a", np.float32, (1, 3)), ("b", np.float32, (1, 1))]
    assert read_and_compared(pipeline(steps, {}, inputs), tmp_path, fed).input_size == 4


@pytest.mark.parametrize("sizes", [[2, 1], [1, 1], [4, 1], [3, 2], [3]])
def test_inputs_of_other_sizes_than_a_vector_says_are_refused(sizes: list[int], tmp_path: Path) -> None:
    """onnxruntime leaves columns out, or fills up with zeros; all columns were read."""
    step = ml("FeatureVectorizer", ["a", "b"], ["variable"], inputdimensions=sizes)
    inputs = [value("a", FLOAT, (None, 3)), value("b", FLOAT, (None, 1))]
    with pytest.raises(NetworkError, match=r"cannot be split into|sizes of 2 inputs"):
        read_network(save(tmp_path, pipeline([step], {}, inputs)))


@pytest.mark.parametrize("axes", [(4,), (1, 4), (1, 2, 4)], ids=lambda axes: f"{len(axes)}-axes")
def test_features_are_taken_along_the_last_axis(axes: tuple[int, ...], tmp_path: Path) -> None:
    """As onnxruntime takes them; they were taken along the second one."""
    step = ml("ArrayFeatureExtractor", ["float_input", "columns"], ["variable"])
    proto = several(
        [step], {"columns": np.array([[2], [0], [1]])}, [value("float_input", FLOAT, axes)],
        [value("variable", FLOAT, None)], ml=1,
    )  # fmt: skip
    network = read_and_compared(proto, tmp_path, [("float_input", np.float32, axes)])
    assert network.output_size == 3 * int(np.prod(axes)) // 4


@pytest.mark.parametrize("stored", [True, False], ids=["of-a-table", "of-the-input"])
def test_features_at_places_that_are_computed(stored: bool, tmp_path: Path) -> None:
    """As the label of a classifier is: what a table has at the place of the largest score."""
    steps = [
        helper.make_node("ArgMax", ["float_input"], ["place"], axis=1),
        ml("ArrayFeatureExtractor", ["table" if stored else "float_input", "place"], ["variable"]),
    ]
    table = {"table": np.array([3, -1, 0.5, 7], np.float32)}  # of several samples all would be asked about all places
    proto = several(steps, table, [value("float_input", FLOAT, (1, 4))], [value("variable", FLOAT, None)], ml=1)
    network = read_and_compared(proto, tmp_path, [("float_input", np.float32, (1, 4))])
    assert network.output_size == 1


def test_a_column_that_counts_from_the_end_is_refused(tmp_path: Path) -> None:
    """As onnxruntime does; the last column was read."""
    step = ml("ArrayFeatureExtractor", ["float_input", "columns"], ["variable"])
    with pytest.raises(NetworkError, match="the place -1"):
        read_network(save(tmp_path, pipeline([step], {"columns": np.array([[0, -1]])})))


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID", "weights"])
def test_regression_by_support_vectors(kernel: str, tmp_path: Path) -> None:
    vectors = numbers_of(3, 4)
    of_kernel: dict[str, Any] = {"kernel_type": kernel, "n_supports": 3, "support_vectors": vectors.ravel().tolist()}
    of_kernel["kernel_params"] = [0.5, 0.25, 3.0]
    weighted = {"kernel_type": "LINEAR", "kernel_params": [0.5, 0.25, 3.0]}
    given = weighted if kernel == "weights" else of_kernel
    weights = numbers_of(4 if kernel == "weights" else 3).tolist()
    step = ml("SVMRegressor", ["float_input"], ["variable"], coefficients=weights, rho=[0.5], **given)
    network = read_and_compared(pipeline([step], {}), tmp_path, [("float_input", np.float32, (1, 4))])
    assert (network.input_size, network.output_size) == (4, 1)


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
@pytest.mark.parametrize("sizes", [(2, 3), (1, 3, 2), (2, 0, 1, 2)])
def test_classification_by_support_vectors(kernel: str, sizes: tuple[int, ...], tmp_path: Path) -> None:
    """A score for each pair of classes, of two classes the score and its negative; the label is left out."""
    classes, count = len(sizes), sum(sizes)
    pairs = classes * (classes - 1) // 2
    step = ml(
        "SVMClassifier", ["float_input"], ["label", "variable"],
        classlabels_ints=list(range(classes)), vectors_per_class=list(sizes), rho=numbers_of(pairs).tolist(),
        coefficients=numbers_of(classes - 1, count).ravel().tolist(), kernel_type=kernel,
        kernel_params=[0.5, 0.25, 3.0], support_vectors=numbers_of(count, 4).ravel().tolist(),
    )  # fmt: skip
    network = read_and_compared(pipeline([step], {}), tmp_path, [("float_input", np.float32, (1, 4))])
    assert network.output_size == max(2, pairs)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"prob_a": [1.0], "prob_b": [0.0]}, "by an iteration"),
        ({"post_transform": "LOGISTIC"}, "post_transform 'LOGISTIC'"),
        ({"rho": [0.5, 0.5]}, "2 offsets for 3 vectors of 2 classes"),
        ({"coefficients": [1.0] * 3}, "without a negative coefficient"),
        ({"vectors_per_class": [3]}, "of 1 classes"),
    ],
)
def test_classifiers_by_support_vectors_that_are_refused(more: dict[str, Any], words: str, tmp_path: Path) -> None:
    given = {"kernel_type": "RBF", "support_vectors": [0.5] * 12, "kernel_params": [0.5, 0.0, 3.0], "rho": [0.5]}
    given |= {"classlabels_ints": [0, 1], "vectors_per_class": [1, 2], "coefficients": [1.0, -1.0, 0.5]}
    step = ml("SVMClassifier", ["float_input"], ["label", "variable"], **(given | more))
    with pytest.raises(NetworkError, match=words):
        read_network(save(tmp_path, pipeline([step], {})))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"one_class": 1}, "a sign"),
        ({"n_supports": 2}, "for 2 vectors"),
        ({"kernel_type": "COSINE"}, "'COSINE'"),
        ({"kernel_params": [0.5]}, "with 1 parameters"),
    ],
)
def test_support_vectors_that_are_refused(more: dict[str, Any], words: str, tmp_path: Path) -> None:
    given = {"kernel_type": "RBF", "n_supports": 3, "support_vectors": [0.5] * 12, "kernel_params": [0.5, 0.0, 3.0]}
    step = ml("SVMRegressor", ["float_input"], ["variable"], coefficients=[1.0] * 3, rho=[0.5], **(given | more))
    with pytest.raises(NetworkError, match=words):
        read_network(save(tmp_path, pipeline([step], {})))


def test_what_fills_gaps_is_left_out_and_thresholds_are_steps(tmp_path: Path) -> None:
    steps = [
        ml("Imputer", ["float_input"], ["h"], imputed_value_floats=[0.0] * 4, replaced_value_float=float("nan")),
        ml("Binarizer", ["h"], ["b"], threshold=0.25),
        ml("LinearRegressor", ["b"], ["variable"], **REGRESSOR),
    ]
    network = read_and_compared(pipeline(steps, {}), tmp_path, [("float_input", np.float32, (1, 4))])
    assert any("no real number is" in note for note in network.notes)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (ml("Normalizer", ["float_input"], ["h"], norm="MAX"), "largest size for others"),
        (ml("Imputer", ["float_input"], ["h"], imputed_value_floats=[0.0]), "replaces the number 0"),
        (ml("Imputer", ["float_input"], ["h"], imputed_value_int64s=[1], replaced_value_int64=7), "replaces integers"),
        (ml("Binarizer", ["float_input"], ["h"], threshold=0.5, other=1), "'other'"),
        (ml("Scaler", ["float_input"], ["h"], offset=[0.0], scale=[1.0], other=1), "'other'"),
        (ml("Scaler", ["float_input"], ["h"], offset=[0.0], scale=[1.0, 2.0]), "1 offsets beside 2 scales"),
    ],
)
def test_steps_that_are_refused_by_their_name(step: onnx.NodeProto, words: str, tmp_path: Path) -> None:
    proto = pipeline([step, ml("LinearRegressor", ["h"], ["variable"], **REGRESSOR)], {})
    with pytest.raises(NetworkError, match=words) as caught:
        read_network(save(tmp_path, proto))
    assert caught.value.operator == step.op_type
    assert caught.value.fix


@pytest.mark.parametrize("kind", ["TreeEnsembleClassifier", "TreeEnsembleRegressor", "LabelEncoder"])
def test_models_of_other_kinds_are_refused_by_their_name(kind: str, tmp_path: Path) -> None:
    proto = pipeline([ml(kind, ["float_input"], ["variable"])], {})
    with pytest.raises(UnsupportedOperatorError, match=kind) as caught:
        read_network(save(tmp_path, proto))
    assert "these are read" not in (caught.value.fix or "")


def fused(nodes: list[onnx.NodeProto], constants: dict[str, Any], shape: Any = (None, 4)) -> onnx.ModelProto:
    given, made = [value("float_input", FLOAT, shape)], [value("y", FLOAT, None)]
    return several(nodes, constants, given, made, opset=15, others=[("com.microsoft", 1)])


def numbers_of(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype(np.float32)


def ms(kind: str, inputs: list[str], output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(kind, inputs, [output], name=kind, domain="com.microsoft", **attributes)


@pytest.mark.parametrize(
    ("nodes", "constants", "shape"),
    [
        ([ms("FusedMatMul", ["float_input", "w"], "y", alpha=0.5)], {"w": W1}, (1, 4)),
        ([ms("FusedMatMul", ["float_input", "w"], "y", transB=1)], {"w": W1.T.copy()}, (1, 4)),
        ([ms("FusedGemm", ["float_input", "w", "b"], "y", activation="Relu")], {"w": W1, "b": B1}, (1, 4)),
        (
            [ms("FusedGemm", ["float_input", "w", "b"], "y", activation="LeakyRelu", activation_alpha=0.25)],
            {"w": W1, "b": B1},
            (1, 4),
        ),
        (
            [ms("FusedConv", ["float_input", "k", "c"], "y", activation="Relu", pads=[1, 1, 1, 1])],
            {"k": RANDOM.normal(size=(2, 1, 3, 3)).astype(np.float32), "c": np.ones(2, np.float32)},
            (1, 1, 3, 3),
        ),
        (
            [ms("FusedConv", ["float_input", "k"], "y", activation="Clip", activation_params=[0.0, 0.5])],
            {"k": RANDOM.normal(size=(2, 1, 2, 2)).astype(np.float32)},
            (1, 1, 3, 3),
        ),
    ],
)
def test_fused_operators(nodes: Any, constants: Any, shape: Any, tmp_path: Path) -> None:
    read_and_compared(fused(nodes, constants, shape), tmp_path, [("float_input", np.float32, shape)])


@pytest.mark.parametrize("added", [False, True])
def test_a_fused_convolution_with_channels_last_is_the_plain_one_turned_round(added: bool, tmp_path: Path) -> None:
    """onnxruntime has NhwcFusedConv for float16 on some processors alone, so FusedConv between Transposes is asked."""
    kernel, shape = RANDOM.normal(size=(2, 3, 2, 2)).astype(np.float32), (1, 4, 3, 3)
    stored = {"k": kernel, "c": np.ones(2, np.float32), "z": RANDOM.normal(size=(1, 3, 2, 2)).astype(np.float32)}
    also, chosen = (["z"] if added else []), {"activation": "Relu", "strides": [1, 1]}
    turned = [
        helper.make_node("Transpose", ["float_input"], ["t"], perm=[0, 3, 1, 2]),
        *(helper.make_node("Transpose", ["z"], ["a"], perm=[0, 3, 1, 2]) for _ in also),
        ms("FusedConv", ["t", "k", "c", *("a" for _ in also)], "f", **chosen),
        helper.make_node("Transpose", ["f"], ["y"], perm=[0, 2, 3, 1]),
    ]
    last = [ms("NhwcFusedConv", ["float_input", "k", "c", *also], "y", **chosen)]
    given = {name: array for name, array in stored.items() if added or name != "z"}
    plain, read = (tmp_path / name for name in ("plain.onnx", "last.onnx"))
    for path, nodes in ((plain, turned), (read, last)):
        onnx.save(fused(nodes, given, shape), path)
    x = RANDOM.normal(size=(20, 36))
    np.testing.assert_array_equal(read_network(read).evaluate(x), read_network(plain).evaluate(x))


SMOOTH = pytest.mark.skipif("Sigmoid" not in OPERATORS, reason="functions that are not piecewise linear are not read")


@SMOOTH
@pytest.mark.parametrize(
    ("nodes", "constants"),
    [
        ([ms("Gelu", ["float_input"], "y")], {}),
        ([ms("BiasGelu", ["float_input", "b"], "y")], {"b": numbers_of(4)}),
        ([ms("FastGelu", ["float_input", "b"], "y")], {"b": numbers_of(4)}),
        ([ms("FastGelu", ["float_input"], "y")], {}),
        ([ms("QuickGelu", ["float_input"], "y", alpha=1.5)], {}),
        ([ms("FusedGemm", ["float_input", "w", "b"], "y", activation="Tanh")], {"w": W1, "b": B1}),
    ],
)
def test_fused_functions(nodes: Any, constants: Any, tmp_path: Path) -> None:
    read_and_compared(fused(nodes, constants), tmp_path, [("float_input", np.float32, (1, 4))])


@SMOOTH
def test_a_classifier_of_one_sigmoid_for_each_class(tmp_path: Path) -> None:
    proto = linear("LOGISTIC", RANDOM.normal(size=(3, 4)), RANDOM.normal(size=3), normalised=False)
    network = read_and_compared(proto, tmp_path, FED, asked="output_probability")
    assert network.stripped is None
    assert network.output_size == 3


@SMOOTH
def test_one_probability_is_one_output(tmp_path: Path) -> None:
    """A last Sigmoid over one score is a function like others; only (1 - p, p) is a Softmax of two scores."""
    nodes = [node("MatMul", ["float_input", "w"], "s"), node("Sigmoid", ["s"], "variable")]
    network = read_and_compared(pipeline(nodes, {"w": W1[:, :1].copy()}), tmp_path, FED)
    assert (network.output_size, network.stripped) == (1, None)
