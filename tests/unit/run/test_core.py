"""The boundary to the core: settings by their one table, errors by cause, and the witness handed back."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from core_pairs import pair as chains
from eqspec import _core
from eqspec.errors import InputError, InternalError, ResourceError, SavedStateError
from eqspec.networks import read_network
from eqspec.property import Linear
from eqspec.report.explain_search import PARTS, STAGES
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from small_tasks import space, task
from unit.networks.models import model, node, save


def pair(factor: float) -> _core.Pair:
    """x and factor x."""
    layers = [(np.array([[value]]), np.zeros(1)) for value in (1.0, factor)]
    return chains(layers[:1], layers[1:])


def solve(confirm: object, factor: float = 2.0) -> _core.Solution:
    claim = _core.Property.epsilon(0.5, "linf", [0])
    ends = np.array([0.0]), np.array([1.0])
    return _core.solve(pair(factor), *ends, claim, _core.Settings(threads=1, boxes=50), confirm=confirm)  # type: ignore[arg-type]


def test_the_stub_has_the_settings_of_the_table(root: Path) -> None:
    tree = ast.parse((root / "python" / "eqspec" / "_core.pyi").read_text(encoding="utf-8"))
    (settings,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Settings"]
    (new,) = [node for node in settings.body if isinstance(node, ast.FunctionDef)]
    assert [argument.arg for argument in new.args.kwonlyargs] == list(_core.SETTINGS)
    assert all(words.strip() for words in _core.SETTINGS.values())
    # The defaults of the stub are accepted, each by itself.
    for argument, default in zip(new.args.kwonlyargs, new.args.kw_defaults, strict=True):
        assert default is not None
        value = eval(compile(ast.Expression(default), "_core.pyi", "eval"))
        _core.Settings(**{argument.arg: value})


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"treads": 2}, "there is no setting treads; there are domain, threads, "),
        ({"threads": -1}, "threads = -1 is not accepted: a whole number, 0 or more"),
        ({"threads": 4096}, "threads = 4096 is not accepted: 0 to 1024"),
        ({"lp": 1}, "lp = 1 is not accepted: True or False"),
        ({"timeout": "long"}, "timeout = long is not accepted: a number"),
        ({"timeout": float("nan")}, "timeout = NaN is not accepted: seconds, at least 0"),
        ({"domain": "papers"}, "domain = papers is not accepted: shared, paper or naive"),
        ({"record": 7}, "record = 7 is not accepted: a path, or None"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(chosen: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        _core.Settings(**chosen)  # type: ignore[arg-type]


def test_what_confirms_a_candidate_comes_back_as_the_witness() -> None:
    objects: list[tuple[str, float]] = []

    def confirm(point: np.ndarray) -> object:
        if point[0] <= 0.5:
            return None
        objects.append(("breaks at", float(point[0])))
        return objects[-1]

    solution = solve(confirm)
    assert solution.verdict == "different"
    assert solution.witness is objects[-1]
    for refused in (None, False, np.False_):
        solution = solve(lambda _, refused=refused: refused)
        assert (solution.verdict, solution.witness) == ("unknown", None)
    assert solve(lambda _: None, factor=1.25).witness is None


def test_the_causes_of_errors_are_types_apart() -> None:
    types = (InputError, ResourceError, SavedStateError, InternalError)
    assert all(not issubclass(a, b) for a in types for b in types if a is not b)


def test_the_names_of_stages_and_activities_have_words() -> None:
    solution = solve(lambda _: None)
    assert list(solution.stages) == list(STAGES)
    assert list(solution.effort["seconds"]) == list(PARTS)


def test_the_variance_of_a_normalisation_stays_where_its_root_is_defined(tmp_path: Path) -> None:
    """Behind another normalisation: zonotopes forget that a mean of squares is no less than 0."""
    rng = np.random.default_rng(0)
    weights = {name: rng.normal(size=(4, 4)).astype(np.float32) for name in ("v", "w", "u")}
    nodes = [
        node("MatMul", ["x", "v"], "h"),
        node("LayerNormalization", ["h", "one"], "n", epsilon=1e-3),
        node("MatMul", ["n", "w"], "k"),
        node("Relu", ["k"], "r"),
        node("LayerNormalization", ["r", "one"], "m", epsilon=1e-3),
        node("MatMul", ["m", "u"], "y"),
    ]
    made = model(nodes, {**weights, "one": np.ones(4, np.float32)}, [1, 4])
    network = read_network(save(tmp_path, made))
    wide = task(network, network, Linear((1, 0, 0, 0), (0, 0, 0, 0), 1), [Fraction(-1, 20)] * 4, [Fraction(1, 20)] * 4)
    result = Runner(Options(boxes=1, threads=1)).run(replace(wide, space=space(4, 4)))
    assert result.initial_bound is not None
    assert np.isfinite(result.initial_bound)
