"""The whole server as an editor meets it: started as a command, asked over standard input and output."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from lsprotocol import types

from editor import Editor
from eqspec.spec.formatting import formatted
from small_specs import CHECKS, HEADER, write_spec


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    with Editor("--cache", str(tmp_path_factory.mktemp("cache"))) as running:
        yield running
    assert running.exit_code == 0
    assert not running.log, running.log
    assert not [message for message in running.messages if "defect" in message]


@pytest.fixture
def spec(tmp_path: Path, editor: Editor) -> Iterator[Path]:
    path = write_spec(tmp_path)
    editor.open(path, path.read_text())
    editor.until(lambda: editor.codes(path, 1) == [])
    yield path
    editor.tell(editor.client.text_document_did_close, types.DidCloseTextDocumentParams(document(path)))


def document(path: Path) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(path.as_uri())


def place(text: str, word: str) -> types.Position:
    line, _, rest = text[: text.index(word)].rpartition("\n")
    return types.Position(line.count("\n") + 1 if line or text.startswith("\n") else 0, len(rest))


def whole() -> types.Range:
    return types.Range(types.Position(0, 0), types.Position(1000, 0))


def apply(text: str, edits: Any) -> str:
    lines = text.split("\n")
    for edit in edits:
        start, end = edit.range.start, edit.range.end
        before = "\n".join([*lines[: start.line], lines[start.line][: start.character]])
        after = "\n".join([lines[end.line][end.character :] if end.line < len(lines) else "", *lines[end.line + 1 :]])
        lines = (before + edit.new_text + after).split("\n")
    return "\n".join(lines)


def test_findings_of_a_text_that_was_never_saved_and_the_fix_that_removes_them(editor: Editor, spec: Path) -> None:
    wrong = (HEADER + CHECKS).replace("pruned keeps", "prunde keeps")
    editor.change(spec, 2, wrong)
    editor.until(lambda: editor.codes(spec, 2) == ["E101"])
    (shown,) = editor.findings[spec.as_uri()][-1].diagnostics
    assert wrong.split("\n")[shown.range.start.line][shown.range.start.character :].startswith("prunde")
    params = types.CodeActionParams(document(spec), shown.range, types.CodeActionContext([shown]))
    (action,) = editor.ask(editor.client.text_document_code_action_async, params) or ()
    assert isinstance(action, types.CodeAction)
    assert action.edit is not None
    assert action.edit.changes is not None
    mended = apply(wrong, action.edit.changes[spec.as_uri()])
    assert mended == HEADER + CHECKS
    editor.change(spec, 3, mended)
    editor.until(lambda: editor.codes(spec, 3) == [])


def test_what_only_files_tell_is_found_and_mended_by_the_file(editor: Editor, tmp_path: Path) -> None:
    path = write_spec(tmp_path)
    (tmp_path / "pruned.onnx").rename(tmp_path / "other.onnx")
    editor.open(path, path.read_text())
    editor.until(lambda: editor.codes(path, 1) == ["E110"])
    (tmp_path / "other.onnx").rename(tmp_path / "pruned.onnx")
    editor.tell(
        editor.client.workspace_did_change_watched_files,
        types.DidChangeWatchedFilesParams(
            [types.FileEvent((tmp_path / "pruned.onnx").as_uri(), types.FileChangeType.Created)]
        ),
    )
    editor.until(lambda: editor.codes(path, 1) == [])


def test_the_latest_of_many_versions_counts(editor: Editor, spec: Path) -> None:
    good, bad = HEADER + CHECKS, HEADER + CHECKS + "chek"
    for version in range(2, 22):
        editor.change(spec, version, bad if version % 2 else good)
    editor.change(spec, 22, bad)
    editor.until(lambda: editor.codes(spec, 22) == ["E002"])
    assert len(editor.findings[spec.as_uri()]) < 22


def test_half_typed_texts_are_answered_and_what_is_shown_at_the_end_is_of_the_last(editor: Editor, spec: Path) -> None:
    """Cut off anywhere, with letters beyond the first plane and other ends of lines, asked at places that are gone."""
    random = Random(3)
    whole_text = HEADER + CHECKS
    texts = [whole_text, whole_text.replace("\n", "\r\n"), whole_text + "## 😀 größe\ncheck ünk { prove \0 \ufeff"]
    client, text = editor.client, whole_text
    for version in range(2, 26):
        text = random.choice(texts)
        text = text[: random.randrange(len(text) + 1)] + random.choice(
            ["", "{", '"', "\r", "😀", "1e999", "..", " in "]
        )
        editor.change(spec, version, text)
        here = types.Position(random.randrange(text.count("\n") + 2), random.randrange(60))
        at = (document(spec), here)
        match version % 6:
            case 0:
                editor.ask(client.text_document_hover_async, types.HoverParams(*at))
            case 1:
                editor.ask(client.text_document_completion_async, types.CompletionParams(*at))
            case 2:
                editor.ask(client.text_document_definition_async, types.DefinitionParams(*at))
            case 3:
                editor.ask(client.text_document_document_symbol_async, types.DocumentSymbolParams(document(spec)))
            case 4:
                options = types.FormattingOptions(2, insert_spaces=True)
                editor.ask(
                    client.text_document_formatting_async, types.DocumentFormattingParams(document(spec), options)
                )
            case _:
                found = types.CodeActionContext([])
                editor.ask(
                    client.text_document_code_action_async, types.CodeActionParams(document(spec), whole(), found)
                )
    editor.ask(client.text_document_code_lens_async, types.CodeLensParams(document(spec)))  # everything is known then
    editor.until(lambda: editor.codes(spec, 25) is not None)
    fresh = spec.with_name("fresh.eqspec")
    editor.open(fresh, text)
    editor.ask(client.text_document_code_lens_async, types.CodeLensParams(document(fresh)))
    editor.until(lambda: editor.codes(fresh, 1) is not None)
    assert editor.codes(spec, 25) == editor.codes(fresh, 1)


def test_names_stay_known_while_the_text_cannot_be_read(editor: Editor, spec: Path) -> None:
    text = HEADER.replace("region near", "region near(") + CHECKS + "check more { prove "
    editor.change(spec, 2, text)
    params = types.CompletionParams(document(spec), types.Position(text.count("\n"), len("check more { prove ")))
    found = editor.ask(editor.client.text_document_completion_async, params)
    assert isinstance(found, types.CompletionList)
    assert {item.label for item in found.items} == {"full", "pruned"}


def test_an_included_file_counts_as_it_stands_in_the_editor(editor: Editor, tmp_path: Path) -> None:
    path = write_spec(tmp_path, CHECKS, header='eqspec 1\ninclude "base.eqspec"\n')
    base = tmp_path / "base.eqspec"
    base.write_text(HEADER)
    editor.open(path, path.read_text())
    editor.until(lambda: editor.codes(path, 1) == [])
    editor.open(base, HEADER.replace("region near", "region far"))
    editor.until(lambda: editor.codes(path, 1) == ["E101", "E101"])
    editor.change(base, 2, HEADER.replace("takes", "") + "let broken = @\n")
    editor.until(lambda: editor.codes(base, 2) == ["E009"] and editor.codes(path, 1) == ["E009"])
    (shown,) = editor.findings[path.as_uri()][-1].diagnostics
    assert shown.range.start.line == 1  # at the include, with the place in the other file beside it
    assert shown.related_information
    assert shown.related_information[0].location.uri == base.as_uri()
    editor.tell(editor.client.text_document_did_close, types.DidCloseTextDocumentParams(document(base)))
    editor.until(lambda: editor.codes(path, 1) == [])


def test_hover_definition_outline_and_format(editor: Editor, spec: Path) -> None:
    text = spec.read_text()
    at = place(text, "same {")
    hover = editor.ask(editor.client.text_document_hover_async, types.HoverParams(document(spec), at))
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert "At every input of the region" in hover.contents.value
    found = editor.ask(
        editor.client.text_document_definition_async,
        types.DefinitionParams(document(spec), place(text, "full.onnx")),
    )
    assert isinstance(found, types.Location)
    assert found.uri == (spec.parent / "full.onnx").as_uri()
    symbols = editor.ask(editor.client.text_document_document_symbol_async, types.DocumentSymbolParams(document(spec)))
    assert [symbol.name for symbol in symbols or ()] == ["plane", "full", "pruned", "near", "close", "same"]
    edits = editor.ask(
        editor.client.text_document_formatting_async,
        types.DocumentFormattingParams(document(spec), types.FormattingOptions(4, insert_spaces=False)),
    )
    assert apply(text, edits or ()) == formatted(text)


def test_a_check_runs_and_its_verdict_stands_beside_it_until_the_claim_changes(editor: Editor, spec: Path) -> None:
    def lenses() -> list[str]:
        found = editor.ask(editor.client.text_document_code_lens_async, types.CodeLensParams(document(spec)))
        return [lens.command.title for lens in found or () if lens.command is not None]

    assert lenses() == ["check this", "check this"]
    run = types.ExecuteCommandParams("eqspec.check", [spec.as_uri(), "close"])
    answer: Any = editor.ask(editor.client.workspace_execute_command_async, run)
    assert [result["verdict"] for result in answer["results"]] == ["different", "equivalent"]
    assert any("1 different, 1 equivalent" in message for message in editor.messages)
    kinds = [params.value["kind"] for params in editor.progress]
    assert (kinds[0], kinds[-1]) == ("begin", "end")
    first, last, other = lenses()
    assert (first, other) == ("check this", "check this")
    assert last.startswith("last: 1 different, 1 equivalent")
    editor.change(spec, 2, spec.read_text().replace("[0.2, 0.3]", "[0.2, 0.31]"))
    changed = lenses()
    assert changed[1].startswith("last: 1 different, 1 task not run")
    editor.change(spec, 3, spec.read_text().replace("on     near(1)", "on     near(0.9)"))
    assert lenses() == ["check this", "check this"]


def test_a_check_that_cannot_run_says_why(editor: Editor, spec: Path) -> None:
    editor.change(spec, 2, spec.read_text() + "chek")
    run = types.ExecuteCommandParams("eqspec.check", [spec.as_uri()])
    assert editor.ask(editor.client.workspace_execute_command_async, run) is None
    assert editor.messages[-1].endswith("the spec has errors; nothing was run")


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_a_server_that_waits_for_its_editor_can_be_ended() -> None:
    words = [sys.executable, "-m", "eqspec", "lsp", "--no-cache"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        asked = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}'
        running.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(asked), asked))
        running.stdin.flush()
        assert running.stdout.readline().startswith(b"Content-Length")
        running.terminate()
        assert running.wait(60) == 143


def test_a_text_that_was_never_saved(editor: Editor) -> None:
    item = types.TextDocumentItem("untitled:Untitled-1", "eqspec", 1, "eqspec 1\nlet a = .5\n")
    editor.tell(editor.client.text_document_did_open, types.DidOpenTextDocumentParams(item))
    editor.until(lambda: bool(editor.findings.get("untitled:Untitled-1")))
    (shown,) = editor.findings["untitled:Untitled-1"][-1].diagnostics
    assert shown.code == "E008"
