"""Networks from models in memory: ONNX models and scikit-learn's MLPs, compared with what the model itself answers."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler

import eqspec
from eqspec import Confidence, Epsilon, InputError, NetworkError, Top1, Verdict, as_network
from eqspec.networks.frameworks import sklearn_model
from eqspec.networks.operators import OPERATORS
from small_specs import write_onnx
from small_tasks import identity

RNG = np.random.default_rng(1)
ROWS = RNG.normal(size=(60, 3)) * [1.0, 20.0, 0.1] + [0.0, 300.0, 5.0]


def fitted(mlp: Any, targets: NDArray[Any], rows: NDArray[Any] = ROWS) -> Any:
    with warnings.catch_warnings():
        # How well it trains is not what is tested: a few steps do not converge, and unscaled rows may overflow.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        return mlp.fit(rows, targets)


def classifier(classes: int, **settings: Any) -> Any:
    given = {"hidden_layer_sizes": (6, 5), "max_iter": 5, "random_state": 0} | settings
    return fitted(MLPClassifier(**given), RNG.integers(0, classes, len(ROWS)))


def regressor(**settings: Any) -> Any:
    given = {"hidden_layer_sizes": (4,), "max_iter": 5, "random_state": 0} | settings
    return MLPRegressor(**given)


def softmax(scores: NDArray[Any]) -> NDArray[Any]:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: NDArray[Any] = powers / powers.sum(axis=1, keepdims=True)
    return found


def test_a_network_and_a_path_are_taken_as_they_are(tmp_path: Path) -> None:
    network = identity(2)
    assert as_network(network) is network
    path = write_onnx(tmp_path / "a.onnx", np.eye(2), [0, 0])
    assert as_network(path).sha256 == as_network(str(path)).sha256 == eqspec.read_network(path).sha256


def test_an_onnx_model_is_the_network_of_its_file(tmp_path: Path) -> None:
    path = write_onnx(tmp_path / "a.onnx", [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [7.0, 8.0, 9.0])
    network = as_network(onnx.load(path))
    np.testing.assert_array_equal(network.evaluate(np.array([[1.0, 10.0]])), [[28.0, 51.0, 74.0]])
    path.write_bytes(network.content or b"")
    assert eqspec.read_network(path).sha256 == network.sha256
    assert repr(network) == f"<Network <onnx model>: 2 -> 3, sha256 {network.sha256[:8]}>"


def test_weights_beside_a_model_are_asked_for(tmp_path: Path) -> None:
    path = write_onnx(tmp_path / "a.onnx", np.eye(20), np.zeros(20), ["batch", 20])
    onnx.save(onnx.load(path), path, save_as_external_data=True, size_threshold=0)
    with pytest.raises(NetworkError, match=r"the weights are in a file beside the model.*onnx\.load"):
        as_network(onnx.load(path, load_external_data=False))
    assert as_network(onnx.load(path)).output_size == 20


def test_a_classifier_is_its_scores() -> None:
    mlp = classifier(3)
    network = as_network(mlp)
    assert (network.input_size, network.output_size, network.stripped) == (3, 3, "softmax")
    np.testing.assert_allclose(softmax(network.evaluate(ROWS)), mlp.predict_proba(ROWS), rtol=1e-9)
    np.testing.assert_array_equal(network.evaluate(ROWS).argmax(axis=1), mlp.predict(ROWS))


def test_a_binary_classifier_has_a_score_for_either_class() -> None:
    mlp = classifier(2)
    network = as_network(mlp)
    scores = network.evaluate(ROWS)
    assert scores.shape == (60, 2)
    assert not scores[:, 0].any()
    np.testing.assert_allclose(softmax(scores), mlp.predict_proba(ROWS), rtol=1e-9)
    np.testing.assert_array_equal(mlp.classes_[scores.argmax(axis=1)], mlp.predict(ROWS))


def test_a_regressor_is_its_outputs() -> None:
    for targets in (ROWS[:, 0], ROWS[:, :2]):
        mlp = fitted(regressor(), targets)
        np.testing.assert_allclose(as_network(mlp).evaluate(ROWS), mlp.predict(ROWS).reshape(60, -1), rtol=1e-9)
    linear = fitted(regressor(activation="identity"), ROWS[:, 0])
    network = as_network(linear)
    assert len(network.layers) == 1
    np.testing.assert_allclose(network.evaluate(ROWS)[:, 0], linear.predict(ROWS), rtol=1e-9)


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 3)),
        MaxAbsScaler(),
        RobustScaler(),
        RobustScaler(with_centering=False),
        RobustScaler(with_scaling=False),
        "passthrough",
    ],
    ids=repr,
)
def test_scalers_in_a_pipeline_are_part_of_the_network(scaler: Any) -> None:
    pipeline = make_pipeline(scaler, MLPClassifier(hidden_layer_sizes=(4,), max_iter=5, random_state=0))
    fitted(pipeline, RNG.integers(0, 3, len(ROWS)))
    network = as_network(pipeline)
    np.testing.assert_allclose(softmax(network.evaluate(ROWS)), pipeline.predict_proba(ROWS), rtol=1e-7)


def test_folded_scalers_pay_for_their_rounding() -> None:
    pipeline = make_pipeline(StandardScaler(), regressor())
    network = as_network(fitted(pipeline, ROWS[:, 0]))
    assert network.layers[0].weight_error is not None


@pytest.mark.parametrize("activation", ["tanh", "logistic"])
@pytest.mark.parametrize("classes", [2, 3])
def test_smooth_activations_are_exported_as_they_are(activation: str, classes: int) -> None:
    """The ONNX form answers in onnxruntime what the pipeline does."""
    mlp = MLPClassifier((5,), activation=activation, max_iter=5, random_state=0)
    targets = np.arange(len(ROWS)) % classes
    model = fitted(make_pipeline(StandardScaler(), MinMaxScaler(clip=True), mlp), targets)
    converted = sklearn_model.convert("<model>", model, None)
    session = onnxruntime.InferenceSession(converted.model.SerializeToString(), providers=["CPUExecutionProvider"])
    rows = RNG.normal(size=(30, ROWS.shape[1])) * 4
    (found,) = session.run(None, {"input": rows})
    np.testing.assert_allclose(found, converted.outputs(rows), rtol=1e-9, atol=1e-9)
    if "Sigmoid" in OPERATORS:
        network = as_network(model)
        np.testing.assert_allclose(softmax(network.evaluate(rows)), found, rtol=1e-9, atol=1e-9)


class Derived(MLPClassifier):  # type: ignore[misc]
    """May compute anything."""


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: MLPClassifier(), "it is not fitted"),
        (
            lambda: fitted(MLPClassifier((3,), max_iter=2, random_state=0), RNG.integers(0, 2, (60, 2))),
            "several labels at once, each with a sigmoid",
        ),
        (
            lambda: fitted(make_pipeline(PolynomialFeatures(), regressor()), ROWS[:, 0]),
            "the step PolynomialFeatures is not supported.*StandardScaler",
        ),
        (
            lambda: fitted(MLPRegressor("poisson", (2,), max_iter=2, random_state=0), np.abs(ROWS[:, 0])),
            "the output activation 'exp' is not supported",
        ),
        (lambda: make_pipeline(StandardScaler()), "the pipeline ends in StandardScaler"),
        (lambda: make_pipeline("passthrough"), "the pipeline ends in NoneType"),
        (lambda: onnx.ModelProto(), "no graph|empty"),
    ],
)
def test_what_is_no_such_network_is_refused(model: Any, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        as_network(model())


@pytest.mark.parametrize("model", [Derived(), StandardScaler(), object(), 3, None, np.eye(2)])
def test_what_is_no_model_is_refused(model: object) -> None:
    with pytest.raises(InputError, match="is not a model eqspec knows"):
        as_network(model)


def test_a_conversion_that_computes_something_else_is_refused() -> None:
    """Here the model's method is replaced, as a subclass or a patch might."""
    mlp = classifier(3)
    answers = mlp.predict_proba
    mlp.predict_proba = lambda rows: answers(rows)[:, ::-1]
    with pytest.raises(NetworkError, match=r"the model and its ONNX export differ by up to 0\.\d+"):
        as_network(mlp)
    mlp.predict_proba = lambda rows: answers(rows)[:, :2]
    with pytest.raises(NetworkError, match=r"answers \(2,\) numbers, its ONNX export \(3,\)"):
        as_network(mlp)


def test_verify_takes_models_of_any_kind(tmp_path: Path) -> None:
    """A binary classifier against itself as a file, and against one whose threshold is moved."""
    mlp = classifier(2)
    box = ROWS.min(axis=0), ROWS.max(axis=0)
    network = as_network(mlp)
    path = tmp_path / "saved.onnx"
    path.write_bytes(network.content or b"")
    assert eqspec.verify(mlp, path, *box, Epsilon(1e-6), timeout=60, scores="logits").verdict is Verdict.EQUIVALENT

    other = classifier(2)
    other.coefs_ = [weight.copy() for weight in mlp.coefs_]
    other.intercepts_ = [*(bias.copy() for bias in mlp.intercepts_[:-1]), mlp.intercepts_[-1] + 0.25]
    found = eqspec.verify(mlp, other, *box, Epsilon(0.2), timeout=60, scores="logits")
    assert found.verdict is Verdict.DIFFERENT
    assert found.witness is not None
    assert found.witness.onnxruntime_confirms is True  # in memory, not from a file
    point = np.array([[float(x) for x in found.witness.normalised]])
    odds = [np.log(m.predict_proba(point)[0, 1] / m.predict_proba(point)[0, 0]) for m in (mlp, other)]
    assert odds[1] - odds[0] == pytest.approx(0.25, abs=1e-6)
    assert eqspec.verify(mlp, other, *box, Epsilon(0.3), timeout=60, scores="logits").verdict is Verdict.EQUIVALENT
    # sigmoid(0.25) = 0.562: whoever is surer than that decides the same.
    assert eqspec.verify(mlp, other, *box, Confidence(0.57), timeout=60).verdict is Verdict.EQUIVALENT


def test_two_models_of_one_kind_are_two_models() -> None:
    """Their names are the same, so onnxruntime must not take one for the other."""
    first, second = classifier(3), classifier(3, random_state=7)
    found = eqspec.verify(first, second, ROWS.min(axis=0), ROWS.max(axis=0), Top1(), timeout=60)
    assert found.verdict is Verdict.DIFFERENT
    assert found.witness is not None
    point = np.array([[float(x) for x in found.witness.normalised]])
    assert first.predict(point) != second.predict(point)
    assert found.witness.onnxruntime_confirms is True
