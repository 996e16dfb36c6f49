"""Ways in which verifiers have been wrong about claims of several parts, fixed inputs and flags."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from acceptance.every_mode import layer, verdicts
from core_pairs import pair
from eqspec import _core
from eqspec.property import Epsilon, Norm, Top1
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.task import LinearConstraint
from eqspec.tasks.verdict import Verdict
from small_tasks import network, task

# Claims of several parts: each part counts, wherever it stands.


@pytest.mark.parametrize("broken", range(4))
@pytest.mark.parametrize("norm", ["linf", "l1", "l2"])
def test_every_output_counts_not_just_the_last(broken: int, norm: Norm) -> None:
    """Three outputs agree; a verifier whose last disjunct wins proves the claim unless the fourth is the broken one."""
    reference = [layer([[1.0, 0.0], [0.0, 1.0]]), layer([[1.0, -1.0]] * 4)]
    moved = np.zeros(4)
    moved[broken] = 1.0
    candidate = [reference[0], (reference[1][0], moved)]
    box = (-np.ones(2), np.ones(2))
    claim = _core.Property.epsilon(0.5, norm, [0, 1, 2, 3])
    assert verdicts(pair(reference, candidate), box, claim) == {"unknown"}
    made = task(network(*reference), network(*candidate), Epsilon("0.5", norm))
    assert Runner(Options(threads=1)).run(made).verdict is Verdict.DIFFERENT


@pytest.mark.part(6)
@pytest.mark.parametrize(("kept", "preferred"), list(itertools.permutations(range(3), 2)))
@pytest.mark.parametrize("inputs", [1, 10])
def test_every_pair_of_classes_counts_not_just_the_last(kept: int, preferred: int, inputs: int) -> None:
    """f decides for `kept` at the upper end of the box only, and there g prefers another; elsewhere both agree."""
    third = 3 - kept - preferred
    weight, f, g = np.zeros((3, inputs)), np.zeros(3), np.zeros(3)
    weight[kept, 0] = 1.0
    f[preferred], g[preferred] = 0.75, 1.5
    f[third] = g[third] = -8.0
    reference, candidate = [(weight, f)], [(weight, g)]
    box = (np.zeros(inputs), np.ones(inputs))
    for claim in (_core.Property.top1(None), _core.Property.top1(0.2), _core.Property.confidence(0.2, 0.549)):
        assert verdicts(pair(reference, candidate), box, claim) == {"unknown"}
    made = task(network(*reference), network(*candidate), Top1(), [0] * inputs, [1] * inputs)
    found = Runner(Options(threads=1)).run(made)
    assert found.verdict is Verdict.DIFFERENT


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_both_signs_of_a_difference_count(sign: float) -> None:
    reference, candidate = [layer([[0.0]])], [layer([[sign]])]
    box = (np.zeros(1), np.ones(1))
    assert verdicts(pair(reference, candidate), box, _core.Property.epsilon(0.5, "linf", [0])) == {"unknown"}


# Boxes of no width in some inputs, which are taken out of the search.


@pytest.mark.parametrize("fixed", range(3))
def test_an_input_without_width_keeps_its_place(fixed: int) -> None:
    """g - f = 100 x_fixed + x_other; mixed up inputs would prove or refute the wrong thing."""
    row = np.ones(3)
    row[fixed] = 100.0
    reference, candidate = network(layer([[0.0, 0.0, 0.0]])), network(layer([row.tolist()]))
    low, high = [Fraction(-1)] * 3, [Fraction(1)] * 3
    low[fixed] = high[fixed] = Fraction(1, 4)
    runner = Runner(Options(threads=1, boxes=100))
    assert runner.run(task(reference, candidate, Epsilon(28), low, high)).verdict is Verdict.EQUIVALENT
    found = runner.run(task(reference, candidate, Epsilon(26), low, high))
    assert found.verdict is Verdict.DIFFERENT
    assert found.witness is not None
    assert found.witness.normalised[fixed] == Fraction(1, 4)
    constraint = LinearConstraint(tuple(Fraction(int(i == fixed)) for i in range(3)), Fraction(1, 8))
    nothing = runner.run(task(reference, candidate, Epsilon(1), low, high, constraints=(constraint,)))
    assert (nothing.verdict, nothing.vacuous) == (Verdict.EQUIVALENT, True)


# Flags.


def test_no_environment_variable_decides_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """No flag can be read as true when it says "0": the environment is asked for widths and folders only."""
    root = Path(__file__).parents[2]
    sources = [*(root / "python" / "eqspec").rglob("*.py"), *(root / "rust" / "src").rglob("*.rs")]
    lines = [
        line
        for source in sources
        for line in source.read_text().splitlines()
        if re.search(r"os\.environ|getenv|env::var", line)
    ]
    assert lines
    harmless = (
        '"COLUMNS" not in os.environ',  # how wide lines are
        '"PYTEST_XDIST_WORKER_COUNT"',  # how many share the cores
        'os.environ.get("GITHUB_ACTIONS") == "true"',  # whether findings are annotated
        "def chosen_folder(",  # where results are kept, not what they are
        "def given_key(",  # who may use what was kept, not what it says
        "os.environ.setdefault(name",  # threads of the linear algebra library of the auditor
        "env=os.environ |",  # the same, for a process of its own
        "_SWITCH",  # whether onnxruntime collects events for its makers
        "os.environ.get(VARIABLE)",  # where the kernel's program is, which says no more than the numpy auditor
    )
    assert all(any(use in line for use in harmless) for line in lines), lines
    false = task(network(layer([[1.0]])), network(layer([[0.0]])), Epsilon("0.5"))
    true = replace(false, property=Epsilon("1.5"))
    for name in ("EQSPEC_LP", "EQSPEC_DEBUG", "DEBUG"):
        for value in ("0", "1"):
            monkeypatch.setenv(name, value)
            runner = Runner(Options(threads=1))
            assert runner.run(false).verdict is Verdict.DIFFERENT
            assert runner.run(true).verdict is Verdict.EQUIVALENT
