"""What can be known of a spec as it stands in an editor: read and checked at once, its networks and data afterwards.

`understand` takes milliseconds and opens no network and no table. `with_files` opens them, which may take seconds, and
finds what only files tell; networks that were read before are taken from `ReadNetworks` until their files change.
Neither raises anything for what is wrong with a spec: that is among the findings.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from eqspec import compile as compiler
from eqspec.errors import Diagnostic, NetworkError, SpecError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Dequantised, Network, read_network
from eqspec.span import Source
from eqspec.spec.check import CheckedSpec, check
from eqspec.spec.findings import Findings
from eqspec.spec.program import Program, load_program

_KEPT = 64
"""Networks that are kept in memory."""
_NO_WEIGHTS = (".onnx", ".nnet", ".eqspec", ".csv", ".json", ".py", ".md", ".txt")
_MOST_BESIDE = 1000
_Key: TypeAlias = tuple[str, str | None, Dequantised | None, tuple[int, ...] | None]
_State: TypeAlias = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, eq=False)
class Understanding:
    """A text, the program it is the root of, and what was found.

    `compiled` is None as long as files were not opened, and where something is wrong. `readable` says that no text has
    a syntax error.
    """

    source: Source
    program: Program
    checked: CheckedSpec
    findings: tuple[Diagnostic, ...]
    readable: bool
    compiled: compiler.Compiled | None = None


def understand(text: str, path: Path, opened: Mapping[Path, str]) -> Understanding:
    """Read and check a text that belongs at `path`; `opened` has texts that are not saved, by their resolved paths."""
    findings = Findings()
    source = Source(str(path), text)
    program = load_program(source, path.parent, findings, path=path, opened=opened)
    readable = not findings.errors or all(found.code >= "E1" for found in findings.errors)
    checked = check(program, findings if readable else Findings())  # names of unread declarations are not missing
    return Understanding(source, program, checked, _all_of(findings), readable)


def with_files(known: Understanding, networks: ReadNetworks) -> Understanding:
    """The same with networks and data: with all findings, and with the tasks if there is no error."""
    if not known.readable:
        return known
    included = Findings()  # what is wrong with included files was found when they were read
    checked = check(known.program, Findings(), header=compiler.table_header(included))
    findings = Findings()
    try:
        compiled = compiler.compile_spec(known.program, read=networks.read, findings=findings)
    except SpecError as problem:
        return replace(known, checked=checked, findings=_merged(known.findings, problem.diagnostics))
    found = _merged(known.findings, compiled.diagnostics)
    return replace(known, checked=checked, findings=found, compiled=compiled)


def _all_of(findings: Findings) -> tuple[Diagnostic, ...]:
    return (*findings.errors, *findings.warnings)


def _merged(earlier: tuple[Diagnostic, ...], later: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Each finding once, by code and place."""
    return tuple({(found.code, found.span or found.message): found for found in (*earlier, *later)}.values())


class ReadNetworks:
    """Networks by path, output and integer ends, read again when a file has another size or time; for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[_Key, tuple[_State, Network | NetworkError]] = {}

    def read(
        self,
        path: Path,
        output: str | None = None,
        dequantised: Dequantised | None = None,
        input_shape: tuple[int, ...] | None = None,
    ) -> Network:
        """The network of a file. Raises NetworkError as `read_network`."""
        key, state = (str(path), output, dequantised, input_shape), _state(path)
        with self._lock:
            known = self._known.get(key)
        if known is None or known[0] != state:
            found: Network | NetworkError
            try:
                found = read_network(path, output=output, dequantised=dequantised, input_shape=input_shape)
            except NetworkError as problem:
                found = problem
            known = state, found
            with self._lock:
                self._known.pop(key, None)
                self._known[key] = known
                while len(self._known) > _KEPT:
                    self._known.pop(next(iter(self._known)))
        if isinstance(known[1], NetworkError):
            raise known[1]
        return known[1]

    def known(
        self, path: Path, output: str | None = None, dequantised: Dequantised | None = None
    ) -> Network | NetworkError | None:
        """What reading a file gave, if it was read as it is now; nothing is read for it.

        Of a file that leaves sizes open it is what was read last with a space that says them.
        """
        key = str(path), output, dequantised
        with self._lock:
            found = [self._known[other] for other in self._known if other[:3] == key]
        read = [one for one in found if isinstance(one[1], Network)]
        known = next(iter([*read[::-1], *found]), None)
        return known[1] if known is not None and known[0] == _state(path) else None


def _state(path: Path) -> _State:
    """Sizes and times of a file and of what may hold its weights beside it; of all in a folder; empty where none is."""
    try:
        return tuple(sorted(_seen(path)))
    except OSError:
        return ()


def _seen(path: Path) -> Iterator[tuple[str, int, int]]:
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.is_file()]
    else:
        beside = islice(path.parent.iterdir(), _MOST_BESIDE)
        files = [path, *(file for file in beside if file.suffix not in _NO_WEIGHTS and file.is_file())]
    for file in files:
        state = file.stat()
        yield str(file), state.st_size, state.st_mtime_ns
