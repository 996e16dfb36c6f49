"""One table of settings: keywords, command line, `Options` and the core agree."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import eqspec
from eqspec import Epsilon, Options
from eqspec.api.settings import Keywords, options_with
from eqspec.cli.arguments import options_of
from eqspec.cli.commands import parser
from eqspec.errors import InputError
from eqspec.run import core
from eqspec.run.settings import SETTINGS
from eqspec.tasks.task import Domain
from unit.certificates.files import write

NAMES = [setting.name for setting in SETTINGS]


def test_keywords_options_and_the_core_have_every_setting() -> None:
    assert list(Keywords.__annotations__) == NAMES
    assert set(NAMES) < {field.name for field in fields(Options)}
    # Hints of earlier proofs are handed to each search, since they are of one question.
    assert set(NAMES) - {"since"} < set(core.SETTINGS)


def test_the_command_line_has_every_setting_with_the_defaults_of_options() -> None:
    assert options_of(parser("0").parse_args(["check", "a.eqspec"])) == Options()
    (domains,) = [setting.argument["choices"] for setting in SETTINGS if setting.name == "domain"]
    assert set(domains) == set(get_args(Domain))


def test_the_command_line_sets_every_setting() -> None:
    given = ["--timeout", "3", "--threads", "2", "--memory", "8GB", "--domain", "paper", "--no-lp", "--milp"]
    given += ["--since", "."]
    found = options_of(parser("0").parse_args(["check", "a.eqspec", *given]))
    chosen: Any = {"timeout": 3.0, "threads": 2, "memory": 8 * 10**9, "domain": "paper", "lp": False, "milp": True}
    assert found == Options(**chosen, since=Path())
    assert all(getattr(found, name) != getattr(Options(), name) for name in NAMES), "each setting is in the list above"


def test_a_keyword_replaces_what_options_say() -> None:
    options = Options(timeout=1.0, boxes=7)
    assert options_with(options, {"timeout": None, "lp": False}) == Options(timeout=None, lp=False, boxes=7)
    assert options_with(None, {}) == Options()


def test_what_is_no_setting_is_refused() -> None:
    given: Any = {"boxes": 3}
    with pytest.raises(TypeError, match="'boxes'; settings are timeout, threads, memory, domain, lp, milp"):
        options_with(None, given)
    with pytest.raises(InputError, match="threads = 0"):
        options_with(None, {"threads": 0})


def test_verify_and_check_take_options(tmp_path: Path) -> None:
    layer = [(np.array([[1.0, 0.5]]), np.zeros(1))]
    first, second = (str(write(tmp_path / name, layer).source) for name in ("a.onnx", "b.onnx"))
    given = Options(threads=1, domain="naive", boxes=1)
    result = eqspec.verify(first, second, [0, 0], [1, 1], Epsilon(Fraction(1)), options=given, lp=False)
    assert (result.settings["domain"], result.settings["lp"], result.settings["boxes"]) == ("naive", False, 1)


def test_no_time_is_a_time_in_a_spec_as_elsewhere(tmp_path: Path) -> None:
    """Nothing is searched then; less than none is refused everywhere."""
    write(tmp_path / "f.onnx", [(np.eye(2), np.zeros(2))])
    text = """eqspec 1
    space s { features a, b  outputs y, z }
    network f = "f.onnx" in s
    region r in s = box { all: -1 .. 1 }
    check c { prove f stays within 1 of f  on r  budget { timeout LIMIT } }
    """
    (one,) = eqspec.loads(text.replace("LIMIT", "0s"), directory=tmp_path).tasks
    assert one.budget.timeout == 0
    with pytest.raises(eqspec.SpecError, match="'timeout' must be 0 or more"):
        eqspec.loads(text.replace("LIMIT", "-1s"), directory=tmp_path)
