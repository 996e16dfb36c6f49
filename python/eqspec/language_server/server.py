"""The server: answers an editor over standard input and output, in the Language Server Protocol, by pygls.

Whatever takes longer than an answer may goes on in threads (`open_specs`, `check_command`), and the editor is told when
it is there. Texts come whole with every change: specs are small, and nothing has to be pieced together.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from eqspec import __version__
from eqspec.errors import EqspecError, SpecError
from eqspec.language_server import conversion
from eqspec.language_server.check_command import Outcome, run_checks
from eqspec.language_server.completion import completions
from eqspec.language_server.hover import hover, network_file
from eqspec.language_server.last_verdicts import LastVerdicts
from eqspec.language_server.lines import Lines
from eqspec.language_server.meaning import DeclaredName, Entry, LocalName, NamedFile, meaning
from eqspec.language_server.open_specs import OpenSpec, OpenSpecs
from eqspec.language_server.outline import outline
from eqspec.language_server.understanding import Understanding
from eqspec.run.runner import Runner
from eqspec.span import Source, Span
from eqspec.spec.formatting import formatted

CHECK = "eqspec.check"
"""The command behind "check this": the address of a spec, then the name of a check, or nothing for all."""


def serve(runner: Runner, source: BinaryIO, target: BinaryIO) -> None:
    """Answer until the editor is done. `runner` runs checks, and its cache knows earlier verdicts."""
    made = Server(runner)
    try:
        made.protocol_server.start_io(source, target)
    finally:
        made.stop()


class Server:
    """The requests that are answered, and what answers each."""

    def __init__(self, runner: Runner) -> None:
        self._runner, self._verdicts = runner, LastVerdicts(runner)
        self._specs = OpenSpecs(self._verdicts, self._show_findings, self._refresh_lenses, self._failed)
        self._running = asyncio.Lock()
        self._stops: dict[str, threading.Event] = {}
        self.protocol_server = LanguageServer(
            "eqspec", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full
        )
        answers: dict[str, tuple[Any, Any]] = {
            types.TEXT_DOCUMENT_DID_OPEN: (self._opened, None),
            types.TEXT_DOCUMENT_DID_CHANGE: (self._changed, None),
            types.TEXT_DOCUMENT_DID_SAVE: (self._files_changed, None),
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (self._files_changed, None),
            types.TEXT_DOCUMENT_DID_CLOSE: (self._closed, None),
            types.TEXT_DOCUMENT_HOVER: (self._hover, None),
            types.TEXT_DOCUMENT_DEFINITION: (self._definition, None),
            types.TEXT_DOCUMENT_COMPLETION: (
                self._completion,
                types.CompletionOptions(trigger_characters=[" ", ".", "[", "{", '"', "/"]),
            ),
            types.TEXT_DOCUMENT_FORMATTING: (self._formatting, None),
            types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (self._symbols, None),
            types.TEXT_DOCUMENT_CODE_ACTION: (
                self._actions,
                types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
            ),
            types.TEXT_DOCUMENT_CODE_LENS: (self._lenses, types.CodeLensOptions()),
            types.WINDOW_WORK_DONE_PROGRESS_CANCEL: (self._cancel, None),
            types.SHUTDOWN: (self._shut_down, None),
        }
        for name, (answer, options) in answers.items():
            self.protocol_server.feature(name, options)(_function(answer))
        self.protocol_server.command(CHECK)(_function(self._check))

    def stop(self) -> None:
        """Stop what runs."""
        for stopped in self._stops.values():
            stopped.set()
        self._specs.stop()

    # What the editor tells.

    async def _opened(self, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        self._specs.put(document.uri, _path(document.uri), document.text, document.version)

    async def _changed(self, params: types.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        text = self.protocol_server.workspace.get_text_document(document.uri).source
        self._specs.put(document.uri, _path(document.uri), text, document.version)

    async def _closed(self, params: types.DidCloseTextDocumentParams) -> None:
        self._specs.close(params.text_document.uri)
        self.protocol_server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(params.text_document.uri, [])
        )

    async def _files_changed(self, _: Any) -> None:
        self._specs.files_changed()

    async def _cancel(self, params: types.WorkDoneProgressCancelParams) -> None:
        if (stopped := self._stops.get(str(params.token))) is not None:
            stopped.set()

    async def _shut_down(self, _: Any = None) -> None:
        self.stop()

    # What the editor is told.

    def _show_findings(self, spec: OpenSpec) -> None:
        """Send the findings of a spec to the editor."""
        known = spec.latest
        if known is None or self._specs.get(spec.uri) is not spec:
            return
        lines_of = {module.source: self._lines(module.source.text) for module in known.program.modules}
        found = conversion.Finder(known, lines_of).diagnostics()
        version = spec.version if spec.text == known.source.text else None
        self.protocol_server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(spec.uri, found, version))

    def _refresh_lenses(self, _: OpenSpec) -> None:
        """Ask the editor to fetch the verdicts of checks again."""
        workspace = self.protocol_server.client_capabilities.workspace
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.protocol_server.workspace_code_lens_refresh(None)

    def _failed(self, problem: Exception) -> None:
        """Report a defect of eqspec in the editor's log, and go on."""
        message = f"eqspec failed: {type(problem).__name__}: {problem}. This is a defect of eqspec; please report it."
        self.protocol_server.window_log_message(types.LogMessageParams(types.MessageType.Error, message))

    # What the editor asks.

    async def _hover(self, params: types.HoverParams) -> types.Hover | None:
        found = await self._at(params)
        if found is None:
            return None
        known, lines, offset = found
        meant = meaning(known, offset)
        if meant is None:
            return None
        text = hover(known, meant, self._specs.networks)
        span = meant.used
        content = types.MarkupContent(types.MarkupKind.Markdown, text)
        return types.Hover(content, conversion.extent(lines, span.start, span.end))

    async def _definition(self, params: types.DefinitionParams) -> types.Location | None:
        found = await self._at(params)
        meant = None if found is None else meaning(found[0], found[2])
        match meant:
            case NamedFile(path):
                return _beginning(path) if path.exists() else None
            case DeclaredName(binding) if meant.used == meant.declared and binding.kind == "network" and found:
                place = network_file(found[0], binding)
                return None if place is None or not place[0].exists() else _beginning(place[0])
            case DeclaredName() | LocalName() | Entry():
                span: Span | None = meant.declared
                if span is None or found is None:
                    return None
                there = conversion.location(span, self._lines(span.source.text))
                if span.source is found[0].source:
                    there.uri = params.text_document.uri  # which is no file's, as long as a text was never saved
                return there
            case _:
                return None

    async def _completion(self, params: types.CompletionParams) -> types.CompletionList | None:
        spec = self._specs.get(params.text_document.uri)
        if spec is None:
            return None
        if spec.latest is None:
            await self._specs.known(spec.uri)
        lines = self._lines(spec.text)
        offset = lines.offset(params.position.line, params.position.character)
        found = completions(spec.text, offset, spec.readings, spec.path.parent)
        return conversion.completion_list(found, lines, offset)

    async def _formatting(self, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        spec = self._specs.get(params.text_document.uri)
        if spec is None:
            return None
        text = spec.text
        try:
            new = await asyncio.get_running_loop().run_in_executor(None, formatted, text, str(spec.path))
        except SpecError:  # what is wrong is shown already; the text is left as it is
            return None
        if new == text or spec.text != text:
            return []
        return [types.TextEdit(conversion.extent(self._lines(text), 0, len(text)), new)]

    async def _symbols(self, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        spec = await self._specs.known(params.text_document.uri)
        if spec is None or spec.latest is None:
            return None
        known = spec.latest
        return conversion.symbols(outline(known.program.root.file), self._lines(known.source.text))

    async def _actions(self, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        spec = await self._specs.known(params.text_document.uri)
        if spec is None or spec.latest is None or spec.latest.source.text != spec.text:
            return None
        known, lines = spec.latest, self._lines(spec.text)
        start = lines.offset(params.range.start.line, params.range.start.character)
        end = lines.offset(params.range.end.line, params.range.end.character)
        diagnostics = conversion.Finder(known, {known.source: lines}).diagnostics()
        actions = []
        for found, shown in zip(known.findings, diagnostics, strict=True):
            if found.span is None or found.span.source is not known.source:
                continue
            if found.span.start > end or start > found.span.end:
                continue
            for fix in found.fixes:
                if fix.span.source is known.source:
                    edit = types.TextEdit(conversion.extent(lines, fix.span.start, fix.span.end), fix.text)
                    actions.append(
                        types.CodeAction(
                            title=fix.title[:1].upper() + fix.title[1:],
                            kind=types.CodeActionKind.QuickFix,
                            diagnostics=[shown],
                            is_preferred=len(found.fixes) == 1,
                            edit=types.WorkspaceEdit(changes={spec.uri: [edit]}),
                        )
                    )
        return actions

    async def _lenses(self, params: types.CodeLensParams) -> list[types.CodeLens] | None:
        spec = await self._specs.known(params.text_document.uri, settled=True)
        if spec is None or spec.latest is None:
            return None
        lines, lenses = self._lines(spec.latest.source.text), []
        for declared in outline(spec.latest.program.root.file):
            if declared.word != "check":
                continue
            at = conversion.extent(lines, declared.name_span.start, declared.name_span.end)
            arguments = [spec.uri, declared.name]
            lenses.append(types.CodeLens(at, types.Command("check this", CHECK, arguments=arguments)))
            if (last := spec.verdicts.get(declared.name)) is not None:
                lenses.append(types.CodeLens(at, types.Command(f"last: {last}", CHECK, arguments=arguments)))
        return lenses

    # What the editor has done.

    async def _check(self, *arguments: Any) -> dict[str, Any] | None:
        """Run a check of an open spec, or all of them, and say what became of them."""
        uri, name = (*map(str, arguments[:2]), None, None)[:2]
        spec = self._specs.get(uri or "")
        if spec is None:
            self._show(f"{uri or 'nothing'} is not open; open the spec, and then check it", types.MessageType.Error)
            return None
        shown = f"{spec.path.name}: {name or 'all checks'}"
        async with self._running:
            try:
                outcome = await self._run(spec, name, shown)
            except SpecError:
                self._show(f"{shown}: the spec has errors; nothing was run", types.MessageType.Error)
                return None
            except EqspecError as problem:
                self._show(f"{shown}: {problem}", types.MessageType.Error)
                return None
        expected = all(result.as_expected is not False for result in outcome.results)
        self._show(f"{shown}: {outcome.words}", types.MessageType.Info if expected else types.MessageType.Warning)
        if self._specs.get(spec.uri) is spec:
            self._specs.read_again(spec)
        results = [{"id": result.id, "verdict": result.verdict.value} for result in outcome.results]
        return {"words": outcome.words, "interrupted": outcome.interrupted, "results": results}

    async def _run(self, spec: OpenSpec, name: str | None, shown: str) -> Outcome:
        """Run in a thread, with a bar in the editor that can be stopped."""
        loop, token, stopped = asyncio.get_running_loop(), f"eqspec-{uuid4()}", threading.Event()
        self._stops[token] = stopped
        bar = self.protocol_server.work_done_progress
        window = self.protocol_server.client_capabilities.window
        with_bar = window is not None and bool(window.work_done_progress)

        def report(what: str, percent: int) -> None:
            if with_bar:
                said = types.WorkDoneProgressReport(message=what, percentage=percent)
                loop.call_soon_threadsafe(bar.report, token, said)

        try:
            if with_bar:
                await bar.create_async(token)
                bar.begin(token, types.WorkDoneProgressBegin(title=shown, cancellable=True, percentage=0))
            run = partial(run_checks, spec.text, spec.path, self._specs.opened(), name)
            return await asyncio.to_thread(run, self._runner, self._verdicts, report, stopped)
        finally:
            del self._stops[token]
            if with_bar:
                bar.end(token, types.WorkDoneProgressEnd())

    def _show(self, message: str, kind: types.MessageType) -> None:
        self.protocol_server.window_show_message(types.ShowMessageParams(kind, message))

    async def _at(self, params: types.HoverParams | types.DefinitionParams) -> tuple[Understanding, Lines, int] | None:
        """What is known of a text, and the offset of a place in it."""
        spec = await self._specs.known(params.text_document.uri)
        if spec is None or spec.latest is None:
            return None
        lines = self._lines(spec.latest.source.text)
        return spec.latest, lines, lines.offset(params.position.line, params.position.character)

    def _lines(self, text: str) -> Lines:
        return Lines(text, self.protocol_server.workspace.position_codec.client_num_units)


def _function(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """A method as pygls takes it, which leaves marks on functions that methods do not bear."""

    async def answer(*given: Any) -> Any:
        return await method(*given)

    return answer


def _path(uri: str) -> Path:
    """Where a text belongs; one that was never saved, in the folder of this process."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path) if path else Path.cwd() / f"{uri.rpartition(':')[2].strip('/') or 'untitled'}.eqspec"


def _beginning(path: Path) -> types.Location:
    start = types.Position(0, 0)
    return types.Location(conversion.uri(Source(str(path), "")), types.Range(start, start))
