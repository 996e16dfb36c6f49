"""Models of scikit-learn and XGBoost as ONNX, by skl2onnx and onnxmltools; float16 and quantised copies of a network.

    python sklearn_models.py FOLDER

Runs where scikit-learn, skl2onnx, onnxmltools, xgboost, onnxconverter-common and onnxruntime are installed.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnxconverter_common import float16
from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quant_pre_process,
    quantize_dynamic,
    quantize_static,
)
from skl2onnx import to_onnx
from sklearn import (
    cluster,
    decomposition,
    discriminant_analysis,
    ensemble,
    gaussian_process,
    kernel_approximation,
    linear_model,
    naive_bayes,
    neighbors,
    neural_network,
    svm,
    tree,
)
from sklearn import preprocessing as pre
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline, make_union

rng = np.random.default_rng(0)
ROWS = rng.normal(size=(120, 5)).astype(np.float32)
TWO = (ROWS[:, 0] + ROWS[:, 1] ** 2 > 0.5).astype(int)
THREE = np.digitize(ROWS[:, 0] + ROWS[:, 2], [-0.7, 0.7])
REAL = ROWS @ rng.normal(size=5) + np.tanh(ROWS[:, 0])
MANY = np.stack([REAL, REAL**2], 1)


def _mlp(**named: Any) -> Any:
    return neural_network.MLPClassifier((8, 6), max_iter=40, random_state=0, **named)


def models() -> Iterator[tuple[str, Any, Any, dict[str, Any]]]:
    """Models with their targets, and options of the converter."""

    def regressor(**named: Any) -> Any:
        return neural_network.MLPRegressor(hidden_layer_sizes=(8,), max_iter=40, random_state=0, **named)

    for act in ("identity", "relu", "tanh", "logistic"):
        yield f"mlp-{act}", _mlp(activation=act), THREE, {}
        yield f"mlp-regressor-{act}", regressor(activation=act), REAL, {}
    yield "mlp-binary", _mlp(), TWO, {}
    yield "mlp-binary-zipmap-off", _mlp(), TWO, {"zipmap": False}
    yield "mlp-multilabel", _mlp(), np.stack([TWO, THREE > 0], 1), {}
    yield "mlp-two-regressions", regressor(), MANY, {}
    for scaler in (pre.StandardScaler(), pre.MinMaxScaler(), pre.MaxAbsScaler(), pre.RobustScaler(), pre.Normalizer(),
                   pre.Normalizer("l1"), pre.Normalizer("max"), pre.QuantileTransformer(n_quantiles=10),
                   pre.PowerTransformer(), pre.PolynomialFeatures(2), pre.Binarizer(), pre.KBinsDiscretizer(3),
                   pre.FunctionTransformer(), pre.MinMaxScaler(clip=True), pre.SplineTransformer(),
                   decomposition.PCA(3), decomposition.PCA(3, whiten=True), decomposition.TruncatedSVD(3),
                   SelectKBest(k=3), kernel_approximation.RBFSampler(n_components=6),
                   make_union(pre.StandardScaler(), decomposition.PCA(2))):  # fmt: skip
        name = type(scaler).__name__.lower() + ("".join(str(v) for v in vars(scaler).values() if v in ("l1", "max")))
        name += "-clip" if getattr(scaler, "clip", False) else "-whiten" if getattr(scaler, "whiten", False) else ""
        yield f"pipeline-{name}", make_pipeline(scaler, _mlp()), THREE, {}
    columns = ColumnTransformer([("a", pre.StandardScaler(), [0, 1]), ("b", pre.MinMaxScaler(), [2, 3, 4])])
    yield "pipeline-columns", make_pipeline(columns, _mlp()), TWO, {}
    for name, model in {
        "logistic": linear_model.LogisticRegression(),
        "ovr": OneVsRestClassifier(linear_model.LogisticRegression()),
        "ovr-mlp": OneVsRestClassifier(_mlp()),
        "sgd": linear_model.SGDClassifier(loss="log_loss"),
        "sgd-hinge": linear_model.SGDClassifier(),
        "ridge-classifier": linear_model.RidgeClassifier(),
        "perceptron": linear_model.Perceptron(),
        "lda": discriminant_analysis.LinearDiscriminantAnalysis(),
        "qda": discriminant_analysis.QuadraticDiscriminantAnalysis(),
        "gaussian-nb": naive_bayes.GaussianNB(),
        "linear-svc": svm.LinearSVC(),
        "svc-linear": svm.SVC(kernel="linear", probability=True),
        "svc-rbf": svm.SVC(probability=True),
        "svc-scores": svm.SVC(),
        "knn": neighbors.KNeighborsClassifier(3),
        "tree": tree.DecisionTreeClassifier(max_depth=3),
        "forest": ensemble.RandomForestClassifier(3, max_depth=3),
        "boosting": ensemble.GradientBoostingClassifier(n_estimators=3),
        "voting": ensemble.VotingClassifier(
            estimators=[("a", _mlp()), ("b", linear_model.LogisticRegression())], voting="soft", flatten_transform=False
        ),
        "bagging": ensemble.BaggingClassifier(linear_model.LogisticRegression(), 3),
        "stacking": ensemble.StackingClassifier([("a", _mlp())], linear_model.LogisticRegression()),
        "calibrated": CalibratedClassifierCV(linear_model.LogisticRegression(), cv=2),
    }.items():
        yield f"{name}-two", model, TWO, {}
        yield f"{name}-three", model, THREE, {}
    for name, model in {
        "linear": linear_model.LinearRegression(), "ridge": linear_model.Ridge(), "lasso": linear_model.Lasso(),
        "poisson": linear_model.PoissonRegressor(), "svr": svm.SVR(), "linear-svr": svm.LinearSVR(),
        "gpr": gaussian_process.GaussianProcessRegressor(), "kmeans": cluster.KMeans(3, n_init=1),
        "isolation": ensemble.IsolationForest(n_estimators=3),
        "tree-regressor": tree.DecisionTreeRegressor(max_depth=3),
    }.items():  # fmt: skip
        yield name, model, np.abs(REAL), {}


def networks(folder: Path) -> None:
    """A network as float16, quantised by onnxruntime in several ways, and as its optimiser writes it."""
    model = make_pipeline(
        pre.StandardScaler(), neural_network.MLPRegressor(hidden_layer_sizes=(8, 6), max_iter=40)
    ).fit(ROWS, MANY)
    source = folder / "regressor.onnx"
    source.write_bytes(to_onnx(model, ROWS[:1]).SerializeToString())
    plain = onnx.load(source)
    onnx.save(float16.convert_float_to_float16(plain), folder / "regressor-float16.onnx")
    onnx.save(float16.convert_float_to_float16(plain, keep_io_types=True), folder / "regressor-float16-io.onnx")
    name = plain.graph.input[0].name

    class Rows(CalibrationDataReader):
        def __init__(self) -> None:
            self.left = iter([{name: row[None]} for row in ROWS[:50]])

        def get_next(self) -> Any:
            return next(self.left, None)

    clean = folder / "regressor-preprocessed.onnx"
    quant_pre_process(str(source), str(clean), skip_symbolic_shape=True)
    quantize_dynamic(clean, folder / "regressor-dynamic.onnx")
    for form in (QuantFormat.QDQ, QuantFormat.QOperator):
        for kind in (QuantType.QInt8, QuantType.QUInt8):
            target = folder / f"regressor-{form.name}-{kind.name}.onnx"
            quantize_static(clean, target, Rows(), quant_format=form, activation_type=kind, weight_type=kind)
    for level in ("ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL"):
        options = SessionOptions()
        options.graph_optimization_level = getattr(GraphOptimizationLevel, level)
        options.optimized_model_filepath = str(folder / f"regressor-{level}.onnx")
        InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


def trees(folder: Path) -> None:
    """XGBoost, which is refused by name."""
    import xgboost
    from onnxmltools import convert_xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType

    found = convert_xgboost(xgboost.XGBClassifier(n_estimators=3, max_depth=2).fit(ROWS, TWO),
                            initial_types=[("x", FloatTensorType([None, 5]))])  # fmt: skip
    onnx.save(found, folder / "xgboost.onnx")


def main() -> None:
    """Write everything."""
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1]) / "sklearn"
    folder.mkdir(parents=True, exist_ok=True)
    for name, model, target, options in models():
        try:
            model.fit(ROWS, target)
            given = {id(model): options} if options else None
            path = folder / f"{name}.onnx"
            path.write_bytes(to_onnx(model, ROWS[:1], options=given).SerializeToString())
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}", flush=True)
    for write in (networks, trees):
        try:
            write(folder)
        except Exception as error:
            print(f"{write.__name__}: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}", flush=True)


if __name__ == "__main__":
    main()
