"""`eqspec fmt`: what is written, what only is said, and what is left alone."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import eqspec
from eqspec.cli import main
from eqspec.spec import ast, parse_text, printer

MESSY = "eqspec   1\nlet a=1 # one\n"
NEAT = "eqspec 1\nlet a = 1  # one\n"


def test_a_file_is_rewritten_and_its_permissions_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.eqspec"
    path.write_text(MESSY)
    path.chmod(0o640)
    assert main(["fmt", str(path)]) == 0
    assert path.read_text() == NEAT
    assert path.stat().st_mode & 0o777 == 0o640
    assert "formatted" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["a.eqspec"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "a.eqspec").write_text(MESSY)
    (tmp_path / "link.eqspec").symlink_to("a.eqspec")
    assert main(["fmt", str(tmp_path / "link.eqspec")]) == 0
    assert (tmp_path / "link.eqspec").is_symlink()
    assert (tmp_path / "a.eqspec").read_text() == NEAT


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_asking_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str) -> None:
    messy, neat = tmp_path / "messy.eqspec", tmp_path / "neat.eqspec"
    messy.write_text(MESSY)
    neat.write_text(NEAT)
    assert main(["fmt", option, str(messy), str(neat)]) == 1
    shown = capsys.readouterr().out
    assert "messy.eqspec" in shown
    assert "neat.eqspec" not in shown
    assert messy.read_text() == MESSY
    assert main(["fmt", option, str(neat)]) == 0
    assert capsys.readouterr().out == ""


def test_standard_input_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(MESSY))
    assert main(["fmt", "-"]) == 0
    assert capsys.readouterr().out == NEAT


def test_what_cannot_be_read_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken, messy = tmp_path / "broken.eqspec", tmp_path / "messy.eqspec"
    broken.write_text("eqspec 1\nlett a=1\n")
    messy.write_text(MESSY)
    assert main(["fmt", str(broken), str(messy), str(tmp_path / "missing.eqspec")]) == 2
    shown = capsys.readouterr().err
    assert "E002" in shown
    assert "E110" in shown
    assert broken.read_text() == "eqspec 1\nlett a=1\n"
    assert messy.read_text() == NEAT


def test_every_node_can_be_printed() -> None:
    file = parse_text(
        "eqspec 1\n## why\ncheck c { prove g keeps top1 of f when margin >= 1/2 on r(2*x, -1)\ntags a }\n"
    )
    (check,) = file.declarations
    assert isinstance(check, ast.Check)
    lines = printer.text(check).splitlines()
    assert lines[:3] == ["## why", "check c {", "  prove g keeps top1 of f when margin >= 1/2"]
    assert [printer.text(c) for c in check.clauses][1:] == ["on r(2*x, -1)", "tags a"]


def test_parentheses_are_added_where_a_tree_needs_them() -> None:
    a, b = (ast.Reference(ast.QualifiedName((n,))) for n in "ab")
    total = ast.Sum(a, (("-", b),))
    assert printer.text(ast.Product(total, (("*", total),))) == "(a - b)*(a - b)"
    assert printer.text(ast.Sum(a, (("-", total),))) == "a - (a - b)"
    assert printer.text(ast.Negation(total)) == "-(a - b)"
    assert printer.text(ast.Power(ast.Negation(a), total)) == "(-a)^(a - b)"
    assert printer.text(ast.Product(a, (("/", ast.Product(a, (("/", b),))),))) == "a/(a/b)"


def test_a_file_built_in_memory_has_blank_lines_between_its_parts() -> None:
    name, space = ast.Name, ast.QualifiedName(("s",))
    file = ast.File(
        ast.Number("1"),
        (
            ast.Space(name("s"), (ast.Outputs((), ast.Number("2")),), doc="A space."),
            ast.Network(name("f"), ast.Text("f.onnx"), space),
            ast.Network(name("longer"), ast.Text("g.onnx"), space),
        ),
    )
    assert printer.text(file).splitlines() == [
        "eqspec 1",
        "## A space.",
        "space s {",
        "  outputs 2",
        "}",
        "",
        'network f      = "f.onnx" in s',
        'network longer = "g.onnx" in s',
    ]


def test_a_spec_shows_itself_and_one_built_in_memory_is_compiled(root: Path) -> None:
    folder = root / "specs" / "tiny"
    spec = eqspec.load(folder / "tiny.eqspec")
    assert str(spec) == (folder / "tiny.eqspec").read_text(encoding="utf-8")
    assert spec.file is not None
    some = ast.File(ast.Number("1"), tuple(d for d in spec.file.declarations if not isinstance(d, ast.Check))[:-1])
    assert eqspec.loads(some, directory=folder).tasks == ()
    again = eqspec.loads(spec.file, directory=folder)
    assert [task.id for task in again.tasks] == [task.id for task in spec.tasks]
