"""The specs that are open in an editor, each understood anew when its text changes, or something it depends on.

Reading goes on in threads while the editor is answered; of several versions of a text the latest counts, and what is
found of an earlier one is dropped. What was last understood stays until then. Everything here runs in the event loop,
only `understand`, `with_files` and the look-up of verdicts in threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from pathlib import Path

from eqspec.language_server.last_verdicts import LastVerdicts, in_words
from eqspec.language_server.understanding import ReadNetworks, Understanding, understand, with_files
from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task

_PAUSE = 0.15
"""Seconds without a change after which a text is read."""
_PATIENCE = 5.0
"""Seconds that a question waits for the first reading of a changed text; then it is answered from the one before."""


@dataclass(eq=False)
class OpenSpec:
    """A text in the editor. `wanted` counts its changes, `understood` says of which of them `latest` is.

    `settled` is the change of which everything is known: networks and data were read, verdicts looked up. `readable`
    is the last understanding without a syntax error. `verdicts` are the last ones of what `latest` asks, by check.
    """

    uri: str
    path: Path
    text: str
    version: int | None
    wanted: int = 1
    understood: int = 0
    settled: int = 0
    latest: Understanding | None = None
    readable: Understanding | None = None
    verdicts: dict[str, str] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    follower: asyncio.Task[None] | None = None

    @property
    def readings(self) -> list[Understanding]:
        """What is known, the latest first."""
        found = [known for known in (self.latest, self.readable) if known is not None]
        return found[:1] if len(found) == 2 and found[0] is found[1] else found


class OpenSpecs:
    """All open specs.

    `found` is called when findings of one may have changed, `settled` when everything is known of it, and `failed`
    hears of defects.
    """

    def __init__(
        self,
        verdicts: LastVerdicts,
        found: Callable[[OpenSpec], None],
        settled: Callable[[OpenSpec], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self.networks, self.verdicts = ReadNetworks(), verdicts
        self._found, self._settled, self._failed = found, settled, failed
        self._open: dict[str, OpenSpec] = {}
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="eqspec-reading")

    def put(self, uri: str, path: Path, text: str, version: int | None) -> None:
        """Take a text that was opened or has changed."""
        known = self._open.get(uri)
        if known is None:
            known = self._open[uri] = OpenSpec(uri, path, text, version)
        else:
            known.text, known.version = text, version
            known.wanted += 1
        self._follow(known)
        self._read_again(lambda other: other is not known and _depends(other, path))

    def close(self, uri: str) -> None:
        """Forget a text that was closed: from now on its file on disk counts."""
        known = self._open.pop(uri, None)
        if known is not None:
            known.wanted += 1
            self._read_again(lambda other: _depends(other, known.path))

    def get(self, uri: str) -> OpenSpec | None:
        """An open spec."""
        return self._open.get(uri)

    def files_changed(self) -> None:
        """Read everything again, because files on disk have changed."""
        self._read_again(lambda _: True)

    async def known(self, uri: str, *, settled: bool = False) -> OpenSpec | None:
        """An open spec whose latest text was read, if that does not take too long; None if it is not open.

        With `settled` its networks and verdicts are waited for, too.
        """
        spec = self._open.get(uri)
        if spec is None:
            return None
        try:
            async with asyncio.timeout(_PATIENCE):
                while (spec.settled if settled else spec.understood) < spec.wanted and self._open.get(uri) is spec:
                    spec.changed.clear()
                    await spec.changed.wait()
        except TimeoutError:
            pass
        return spec

    def opened(self) -> dict[Path, str]:
        """The texts that are open, by where they belong."""
        return {spec.path.resolve(): spec.text for spec in self._open.values()}

    def stop(self) -> None:
        """Stop reading."""
        for spec in self._open.values():
            if spec.follower is not None:
                spec.follower.cancel()
        self._open.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def read_again(self, spec: OpenSpec) -> None:
        """Read one spec again, and look up the verdicts of its checks."""
        if spec.latest is not None:
            spec.wanted += 1
            self._follow(spec)

    def _read_again(self, which: Callable[[OpenSpec], bool]) -> None:
        for spec in self._open.values():
            if which(spec):
                spec.wanted += 1
                self._follow(spec)

    def _follow(self, spec: OpenSpec) -> None:
        if spec.follower is None or spec.follower.done():
            spec.follower = asyncio.get_running_loop().create_task(self._keep_up(spec))

    async def _keep_up(self, spec: OpenSpec) -> None:
        """Read a text until what is known is of its latest version, files and verdicts included."""
        done = 0
        while done < spec.wanted and self._open.get(spec.uri) is spec:
            turn = spec.wanted
            try:
                if await self._read(spec, turn):
                    done = turn
            except Exception as problem:  # a defect: this version is given up, the next one is read again
                self._failed(problem)
                spec.understood = spec.settled = done = turn
                spec.changed.set()

    async def _read(self, spec: OpenSpec, turn: int) -> bool:
        """Read one version; whether it was still the latest at the end."""
        if spec.latest is not None:
            await asyncio.sleep(_PAUSE)
            if spec.wanted != turn:
                return False
        loop = asyncio.get_running_loop()
        known = await loop.run_in_executor(self._threads, understand, spec.text, spec.path, self.opened())
        if spec.wanted != turn:
            return False
        self._take(spec, known, turn)
        wrong = any(found.severity == "error" for found in known.findings)
        if wrong:
            self._found(spec)
        at_first = known.findings
        known = await loop.run_in_executor(self._threads, with_files, known, self.networks)
        if spec.wanted != turn:
            return False
        self._take(spec, known, turn)
        if not wrong or known.findings != at_first:
            self._found(spec)
        words = await loop.run_in_executor(self._threads, _verdicts, known, self.verdicts)
        if spec.wanted != turn:
            return False
        spec.verdicts, spec.settled = words, turn
        spec.changed.set()
        self._settled(spec)
        return True

    def _take(self, spec: OpenSpec, known: Understanding, turn: int) -> None:
        spec.latest, spec.understood, spec.verdicts = known, turn, {}
        if known.readable and (known.compiled is not None or spec.readable is None or not _with_features(spec)):
            spec.readable = known
        spec.changed.set()


def _with_features(spec: OpenSpec) -> bool:
    """Whether the last readable understanding knows features, which may stand in tables."""
    return spec.readable is not None and all(
        facts.features is not None for facts in spec.readable.checked.spaces.values()
    )


def _depends(spec: OpenSpec, path: Path) -> bool:
    """Whether a spec includes a file, as far as it was read."""
    if spec.latest is None:
        return False
    target = path.resolve()
    return any(Path(module.source.name).resolve() == target for module in spec.latest.program.modules)


def questions(known: Understanding, check: str | None = None) -> list[Task | Search]:
    """What a spec, or one of its checks, asks."""
    if known.compiled is None:
        return []
    items: Sequence[Task | Search] = (*known.compiled.tasks, *known.compiled.finds)
    return [item for item in items if check is None or item.check == check]


def _verdicts(known: Understanding, verdicts: LastVerdicts) -> dict[str, str]:
    """The last verdicts in words, by check."""
    names = dict.fromkeys(item.check for item in questions(known))
    said = {name: in_words(verdicts.of(questions(known, name))) for name in names}
    return {name: words for name, words in said.items() if words is not None}
