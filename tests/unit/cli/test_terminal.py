r"""Control characters in names are shown as \x1b and never sent; and every terminal gets what it can show."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from eqspec.cli import main
from eqspec.report.printable import harmless, shown, shown_in_json
from eqspec.report.terminal import Terminal
from small_specs import CHECKS, HEADER, write_onnx, write_spec
from unit.networks.models import model, node, save

EVIL = "\x1b]0;title\x07\x1b[31m\x9b2J\u202eabc\u2066\r\x08"
COMMAND = "a\n::stop-commands::all\n  ::error::made up ##[error]x"
"""What the runner of a workflow of GitHub would obey: lines that begin so, and what stands behind ##[ anywhere."""
SENT = set("\x1b\x07\x9b\u202e\u2066\r\x08")


def is_harmless(text: str) -> bool:
    return not SENT & set(text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A spec and networks whose every name that is free has control characters."""
    write_spec(tmp_path)
    name = f"f{EVIL}.onnx"
    write_onnx(tmp_path / name, [[1, 0], [0, 1]], [0, 0])
    text = HEADER.replace('"full.onnx"', f'"{name}"') + CHECKS
    (tmp_path / f"evil{EVIL}.eqspec").write_text(text, encoding="utf-8")
    broken = model([node(f"Sig{EVIL}", ["x"], f"y{EVIL}")], {}, [1, 2])
    broken.graph.output[0].name = f"y{EVIL}"
    save(tmp_path, broken, "broken.onnx")
    (tmp_path / "q.vnnlib").write_text(f"(declare-const X_{EVIL} Real)\n(assert (>= X_0 {EVIL}))", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS = [
    ["check", f"evil{EVIL}.eqspec"],
    ["check", f"evil{EVIL}.eqspec", "--format", "json", "--github"],
    ["check", f"missing{EVIL}.eqspec"],
    ["lint", f"evil{EVIL}.eqspec"],
    ["lint", f"evil{EVIL}.eqspec", "--format", "json"],
    ["explain", f"evil{EVIL}.eqspec"],
    ["explain", f"E9{EVIL}"],
    ["compile", f"evil{EVIL}.eqspec"],
    ["inspect", "broken.onnx"],
    ["inspect", f"f{EVIL}.onnx"],
    ["verify", "broken.onnx", f"f{EVIL}.onnx", "--eps", "1"],
    ["init", f"f{EVIL}.onnx", "pruned.onnx"],
    ["replay", f"none{EVIL}.json"],
    ["report", f"none{EVIL}.json"],
    ["audit", f"none{EVIL}"],
    ["export", f"evil{EVIL}.eqspec", "--to", "vnnlib", "-o", f"out{EVIL}"],
    ["import", "q.vnnlib"],
    ["verify-vnnlib", "q.vnnlib", "--network", f"f=f{EVIL}.onnx"],
    ["verify-vnnlib", f"a{EVIL}", "b", "c", f"d{EVIL}"],
    [f"no{EVIL}command"],
    ["check", "pair.eqspec", f"--no{EVIL}option"],
    ["check", "pair.eqspec", "--select", f"no{EVIL}task"],
    ["cache", "show", "--cache", f"c{EVIL}"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda a: ascii(" ".join(a))[:40])
def test_no_command_sends_what_names_hold(
    arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(arguments)
    except SystemExit as end:
        code = int(end.code or 0)
    out, err = capsys.readouterr()
    assert code != 4, err
    assert is_harmless(out + err)
    assert out + err


def test_no_report_holds_what_names_hold(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "g\x1b[31m\x9b2J\u202eabc"
    write_onnx(folder / f"{name}.onnx", [[1, 0], [0, 1]], [0, 0.25])
    text = (HEADER + CHECKS).replace("pruned.onnx", f"{name}.onnx")
    spec = folder / f"s{name}.eqspec"
    spec.write_text(text, encoding="utf-8")
    endings = ("html", "json", "jsonl", "xml", "sarif", "txt")
    reports = [word for ending in endings for word in ("--report", f"r.{ending}")]
    main(["check", str(spec), *reports, "--save-witness", "saved", "--github"])
    assert is_harmless("".join(capsys.readouterr()))
    written = [*(folder / f"r.{ending}" for ending in endings), *(folder / "saved").glob("*.json")]
    assert len(written) > len(endings)
    for path in written:
        text = path.read_text(encoding="utf-8")
        assert is_harmless(text), path
        assert "close" in text or path.suffix == ".sarif"
    (result, *_) = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert name in result["networks"]["candidate"]["path"]


def is_no_command(text: str) -> bool:
    return "##[" not in text and not any(line.lstrip().startswith("::") for line in text.split("\n"))


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda a: ascii(" ".join(a))[:40])
def test_no_name_commands_the_runner_of_a_workflow(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An operator called `Sig\\n::error::...` made an annotation, or could have hidden those of eqspec."""
    if "--github" in arguments:
        pytest.skip("annotations are commands")
    write_spec(tmp_path)
    name = f"f{COMMAND}.onnx"
    write_onnx(tmp_path / name, [[1, 0], [0, 1]], [0, 0])
    (tmp_path / f"evil{COMMAND}.eqspec").write_text(HEADER + CHECKS, encoding="utf-8")
    broken = model([node(f"Sig{COMMAND}", ["x"], f"y{COMMAND}")], {}, [1, 2])
    broken.graph.output[0].name = f"y{COMMAND}"
    save(tmp_path, broken, "broken.onnx")
    (tmp_path / "q.vnnlib").write_text(f"(declare-const X_{COMMAND} Real)\n(assert (>= X_0 1))", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with contextlib.suppress(SystemExit):
        main([word.replace(EVIL, COMMAND) for word in arguments])
    out, err = capsys.readouterr()
    assert out + err
    assert is_no_command(out)
    assert is_no_command(err)


def test_what_the_console_sends_itself_stays() -> None:
    page = Terminal(file=(text := io.StringIO()), width=80, force_terminal=True, color_system="truecolor")
    table = Table("a name in a table", "value")
    table.add_row(Text("a\x1b[2J"), "1")
    page.print(table)
    page.print("[red]not markup[/]")
    assert "a\\x1b[2J" in text.getvalue()
    assert "\x1b[2J" not in text.getvalue()
    assert "[red]not markup[/]" in text.getvalue()
    page.print(Text("styled", "red"))
    assert "\x1b[31mstyled" in text.getvalue()  # what the console itself sends stays


@given(st.text())
def test_json_stays_the_same_value(text: str) -> None:
    written = shown_in_json(json.dumps([text], ensure_ascii=False))
    assert json.loads(written) == [text]
    assert is_harmless(written)
    assert is_harmless(shown(text))
    assert shown(shown(text)) == shown(text)
    assert is_no_command(harmless(text))


@given(st.text("a:#[ \n\t", max_size=12))
def test_no_text_is_a_command(text: str) -> None:
    assert is_no_command(harmless(text))
    assert harmless(harmless(text)) == harmless(text)
    assert "##[" not in shown_in_json(json.dumps(text))
    assert json.loads(shown_in_json(json.dumps(text))) == text


PLAIN = [["explain", "E133"], ["explain", "pair.eqspec"], ["check", "pair.eqspec", "--format", "json"], ["--help"]]
ENCODINGS = [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "latin-1"}]


@pytest.mark.part(5)
@pytest.mark.parametrize("arguments", PLAIN, ids=" ".join)
@pytest.mark.parametrize("settings", ENCODINGS, ids=str)
def test_every_encoding_will_do(arguments: list[str], settings: dict[str, str], tmp_path: Path) -> None:
    spec = write_spec(tmp_path)
    spec.write_text(spec.read_text(encoding="utf-8").replace("left [m]", '"größe ∞" [µm]'), encoding="utf-8")
    environment = {**os.environ, "PYTHONCOERCECLOCALE": "0", **settings}
    run = subprocess.run(
        [sys.executable, "-m", "eqspec", *arguments], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert b"Traceback" not in run.stderr
    assert b"defect" not in run.stderr
    assert run.returncode in (0, 1, 2)
    if "json" in arguments and run.returncode != 2:
        assert isinstance(json.loads(run.stdout.decode(settings.get("PYTHONIOENCODING", "ascii"))), list)


@pytest.mark.parametrize("columns", ["0", "1", "-3", "12"])
def test_something_is_printed_on_the_narrowest_terminal(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    terminal = Terminal(file=io.StringIO())
    terminal.print(Text("decides  equivalent", no_wrap=True))
    assert isinstance(terminal.file, io.StringIO)
    assert terminal.file.getvalue() == "decides  equivalent\n"


@pytest.mark.parametrize(
    "words", [["doctor"], ["explain", "E211"], ["explain", "pair.eqspec"], ["inspect", "full.onnx"]]
)
def test_no_line_in_a_pipe_ends_in_blanks(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables and prose are filled with blanks up to the width by rich."""
    write_spec(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    main(words)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 3
    assert [line for line in lines if line != line.rstrip()] == []
