"""Files that include files: names, budgets, params, and what can go wrong between them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from eqspec.errors import SpecError
from eqspec.span import Source
from eqspec.spec import ast
from eqspec.spec.check import CheckedSpec, check
from eqspec.spec.findings import Findings
from eqspec.spec.graph import dependencies_first
from eqspec.spec.program import load_program
from eqspec.spec.scope import Override
from eqspec.spec.values import Form, Value


def checked(folder: Path, name: str, params: dict[str, Override] | None = None) -> CheckedSpec:
    findings = Findings()
    file = folder / name
    program = load_program(Source(name, file.read_text()), file.parent, findings, path=file)
    spec = check(program, findings, params)
    findings.raise_errors()
    return spec


def value(spec: CheckedSpec, name: str) -> Value:
    return spec.values.of(spec.program.root.get("value", ast.QualifiedName(tuple(name.split(".")))))


def number(spec: CheckedSpec, name: str) -> Fraction:
    found = value(spec, name)
    assert isinstance(found, Form)
    return found.constant


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "main.eqspec").write_text(
        'eqspec 1\ninclude "sub/a.eqspec" as a\ninclude "flat.eqspec"\nlet twice = 2 * late\nlet late = a.b.deep + x\n'
    )
    (tmp_path / "sub/a.eqspec").write_text('eqspec 1\ninclude "b.eqspec" as b\nlet own = b.deep\n')
    (tmp_path / "sub/b.eqspec").write_text("eqspec 1\nparam deep = 1/3\n")
    (tmp_path / "flat.eqspec").write_text('eqspec 1\ninclude "flatter.eqspec"\n')
    (tmp_path / "flatter.eqspec").write_text("eqspec 1\nparam x = 1\n")
    return tmp_path


def test_names_come_under_the_alias_or_as_they_are_in_any_order(folder: Path) -> None:
    spec = checked(folder, "main.eqspec")
    assert number(spec, "twice") == Fraction(8, 3)
    assert number(spec, "a.own") == Fraction(1, 3)


def test_params_are_given_from_outside(folder: Path) -> None:
    assert number(checked(folder, "main.eqspec", {"x": "2/3", "a.b.deep": 1}), "twice") == Fraction(10, 3)
    assert number(checked(folder, "main.eqspec", {"x": 0.1}), "late") == Fraction(1, 3) + Fraction(1, 10)
    assert number(checked(folder, "main.eqspec", {"x": -3}), "x") == -3


def test_a_text_stays_a_text_and_a_list_becomes_one(folder: Path) -> None:
    (folder / "p.eqspec").write_text(
        'eqspec 1\nparam models = "models/2_20"\nparam deltas = [1]\nlet p = models + ".onnx"'
    )
    spec = checked(folder, "p.eqspec", {"models": "models/2_40", "deltas": [0.5, "0.9"]})
    assert value(spec, "p") == "models/2_40.onnx"
    assert value(checked(folder, "p.eqspec", {"models": '"quoted"'}), "p") == "quoted.onnx"
    spec = checked(folder, "p.eqspec", {"deltas": "linspace(0, 1, 3)"})
    found = value(spec, "deltas")
    assert isinstance(found, tuple)
    assert [f.constant for f in found if isinstance(f, Form)] == [0, Fraction(1, 2), 1]


@pytest.mark.parametrize("given", ["1 +", "delta", "1/0", True, None, float("nan"), 10**5000], ids=list("abcdefg"))
def test_a_param_that_means_nothing_is_refused(given: object, folder: Path) -> None:
    with pytest.raises(SpecError):
        checked(folder, "main.eqspec", {"x": given})  # type: ignore[dict-item]


def test_names_that_clash_are_found_across_files(folder: Path) -> None:
    (folder / "clash.eqspec").write_text('eqspec 1\ninclude "flat.eqspec"\nlet x = 2\n')
    with pytest.raises(SpecError, match="'x' is declared twice"):
        checked(folder, "clash.eqspec")


def test_the_same_file_may_come_twice(folder: Path) -> None:
    (folder / "both.eqspec").write_text('eqspec 1\ninclude "flat.eqspec"\ninclude "flatter.eqspec"\nlet y = x\n')
    assert number(checked(folder, "both.eqspec"), "y") == 1


@pytest.mark.parametrize("alias", ["", " as n"])
def test_files_that_include_each_other_are_refused(alias: str, folder: Path) -> None:
    (folder / "one.eqspec").write_text(f'eqspec 1\ninclude "two.eqspec"{alias}\n')
    (folder / "two.eqspec").write_text(f'eqspec 1\ninclude "one.eqspec"{alias}\n')
    with pytest.raises(SpecError) as caught:
        checked(folder, "one.eqspec")
    assert [d.code for d in caught.value.diagnostics] == ["E106"]
    assert "one.eqspec -> two.eqspec -> one.eqspec" in caught.value.diagnostics[0].message


def test_a_missing_include_is_said_once_and_not_blamed_on_its_names(folder: Path) -> None:
    (folder / "gap.eqspec").write_text(
        'eqspec 1\ninclude "no.eqspec" as n\ninclude "none.eqspec"\n'
        "let a = n.x + y\nregion r in n.s = box { all: 0 .. 1 }\n"
    )
    with pytest.raises(SpecError) as caught:
        checked(folder, "gap.eqspec")
    assert [d.code for d in caught.value.diagnostics] == ["E110", "E110"]


def test_errors_in_an_included_file_carry_its_name(folder: Path) -> None:
    (folder / "sub/b.eqspec").write_text("eqspec 1\nlet deep = nothing\n")
    with pytest.raises(SpecError) as caught:
        checked(folder, "main.eqspec")
    (found,) = caught.value.diagnostics
    assert (found.code, str(found.span)) == ("E101", "sub/b.eqspec:2:12")


def test_all_findings_of_a_spec_come_at_once_up_to_twenty(folder: Path) -> None:
    (folder / "many.eqspec").write_text("eqspec 1\n" + "\n".join(f"let a{i} = missing{i}x" for i in range(33)))
    with pytest.raises(SpecError) as caught:
        checked(folder, "many.eqspec")
    assert (len(caught.value.diagnostics), caught.value.hidden) == (20, 13)


def test_order_and_cycles() -> None:
    order, cycles = dependencies_first("abcd", {"a": "b", "b": "c", "c": "bd", "d": ""})
    assert cycles == [["b", "c"]]
    assert order.index("d") < order.index("c") < order.index("b") < order.index("a")
    deep = {i: [i + 1] for i in range(50_000)}
    assert dependencies_first(range(50_000), deep)[0][0] == 50_000
