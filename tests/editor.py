"""An editor for tests: starts `eqspec lsp` as editors do, speaks with it over standard input and output, listens."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

T = TypeVar("T")
SECONDS = 120.0
"""What any answer may take, on a machine that does much else."""


class Editor:
    """A running server, and what it has told. Used as a context; its methods wait for answers."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.client = LanguageClient("tests", "1")
        self.findings: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.messages: list[str] = []
        self.progress: list[Any] = []
        self.refreshed = 0
        self._told = asyncio.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        self._listen()
        self.wait(self._start())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.exit_code, self.log = self.wait(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS)
        self._loop.close()

    def wait(self, answer: Coroutine[Any, Any, T]) -> T:
        """The answer."""
        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(answer, SECONDS), self._loop).result()

    def ask(self, question: Callable[..., Awaitable[T]], params: Any) -> T:
        """The answer to a question of the protocol, a method of `client`."""

        async def asked() -> T:
            return await question(params)

        return self.wait(asked())

    def tell(self, notification: Callable[[Any], None], params: Any) -> None:
        """Tell the server something, a method of `client`."""

        async def told() -> None:
            notification(params)

        self.wait(told())

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the server has told what makes a condition true."""

        async def told() -> None:
            while not condition():
                self._told.clear()
                await self._told.wait()

        self.wait(told())

    def open(self, path: Path, text: str) -> None:
        """Open a text that belongs at a path."""
        document = types.TextDocumentItem(path.as_uri(), "eqspec", 1, text)
        self.tell(self.client.text_document_did_open, types.DidOpenTextDocumentParams(document))

    def change(self, path: Path, version: int, text: str) -> None:
        """Have another text in place of an open one."""
        document = types.VersionedTextDocumentIdentifier(version, path.as_uri())
        whole = types.TextDocumentContentChangeWholeDocument(text)
        params = types.DidChangeTextDocumentParams(document, [whole])
        self.tell(self.client.text_document_did_change, params)

    def codes(self, path: Path, version: int | None) -> list[str] | None:
        """The codes of the findings that were shown last, if these are of a version; any, for None."""
        shown = self.findings.get(path.as_uri())
        if not shown or (version is not None and shown[-1].version != version):
            return None
        return [str(found.code) for found in shown[-1].diagnostics]

    def _listen(self) -> None:
        feature = self.client.feature
        feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(self._heard(self._shown))
        feature(types.WINDOW_SHOW_MESSAGE)(self._heard(lambda params: self.messages.append(params.message)))
        feature(types.WINDOW_LOG_MESSAGE)(self._heard(lambda params: self.messages.append(params.message)))
        feature(types.PROGRESS)(self._heard(lambda params: self.progress.append(params)))
        feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)(self._heard(lambda _: None))
        feature(types.WORKSPACE_CODE_LENS_REFRESH)(self._heard(self._refresh))

    def _shown(self, params: types.PublishDiagnosticsParams) -> None:
        self.findings.setdefault(params.uri, []).append(params)

    def _refresh(self, _: Any) -> None:
        self.refreshed += 1

    def _heard(self, keep: Callable[[Any], None]) -> Callable[..., None]:
        def heard(*params: Any) -> None:
            keep(params[0] if params else None)
            self._told.set()

        return heard

    async def _start(self) -> None:
        await self.client.start_io(sys.executable, "-m", "eqspec", "lsp", *self._arguments)
        lenses = types.CodeLensWorkspaceClientCapabilities(refresh_support=True)
        able = types.ClientCapabilities(
            workspace=types.WorkspaceClientCapabilities(code_lens=lenses),
            window=types.WindowClientCapabilities(work_done_progress=True),
        )
        self.able = (await self.client.initialize_async(types.InitializeParams(capabilities=able))).capabilities
        self.client.initialized(types.InitializedParams())

    async def _stop(self) -> tuple[int | None, str]:
        server: Any = self.client._server
        await self.client.shutdown_async(None)
        self.client.exit(None)
        code, log = await server.wait(), (await server.stderr.read()).decode()
        # pygls says this of an answer to the server, say to a refresh, that crosses the shutdown on its way.
        log = log.replace("Server shutting down. No more requests!\n", "")
        client: Any = self.client
        await client.stop()
        return code, log
