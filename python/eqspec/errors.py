"""The errors a user can meet: each says what is wrong, where, and what to do about it.

The type says whose doing it is, because that decides what follows. What was asked cannot be asked (`SpecError`,
`InputError`, `NetworkError`): it has to be changed. The machine did not give what a search needs (`ResourceError`): the
same question may be asked again, and what is kept of it stays. A saved search cannot be gone on with
(`SavedStateError`): it alone is put aside. eqspec itself is wrong (`InternalError`): that is to be reported.

A spec collects many findings before it gives up, so `SpecError` carries a list of `Diagnostic`; a network or an
argument is refused at the first finding. Rendering lives in `eqspec.report`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import Literal

from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a disk that takes no more, which is no defect of eqspec."""
SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
"""Errors of a machine or a process that has no more open files, memory or processes to give."""
Severity = Literal["error", "warning"]


class EqspecError(Exception):
    """Base of every error eqspec raises on purpose."""


@dataclass(frozen=True)
class Label:
    """A second place that belongs to a finding, and what it has to do with it."""

    span: Span
    text: str


@dataclass(frozen=True)
class Fix:
    """A change of the source that mends a finding: `text` takes the place of what stands at `span`."""

    span: Span
    text: str

    @property
    def title(self) -> str:
        """What it does, in a few words."""
        if not self.text:
            return f"leave out '{self.span.text}'"
        return f"write '{self.text.strip()}'"


@dataclass(frozen=True)
class Diagnostic:
    """One finding: stable code, what, where, why, and help. A label on `span` itself is the text behind the caret.

    `fixes` are the changes that `help` speaks of, where they are so plain that an editor can make them.
    """

    code: str
    severity: Severity
    message: str
    span: Span | None
    labels: tuple[Label, ...] = ()
    help: str | None = None
    fixes: tuple[Fix, ...] = ()


class SpecError(EqspecError):
    """A spec cannot be used: `diagnostics` says what is wrong, `hidden` counts further errors."""

    def __init__(self, diagnostics: Sequence[Diagnostic], *, hidden: int = 0) -> None:
        self.diagnostics, self.hidden = tuple(diagnostics), hidden
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in self.diagnostics))


class InputError(EqspecError, ValueError):
    """An argument is out of range or of the wrong shape; the message names it, its value and what is accepted."""


class ResourceError(EqspecError):
    """The machine or the process did not give what a search needs: threads, memory, room on a disk, IEEE arithmetic.

    Nothing is wrong with the question, and nothing that is kept of it is touched; the message says what helps.
    """


def unwritten(path: object, error: OSError, advice: str = "") -> EqspecError:
    """Why a file could not be written: a disk that takes no more is the machine's doing, anything else the caller's."""
    where = "" if path is None else f" to {path}"  # errors of a disk that is full name no file
    message = f"cannot write{where}: {error.strerror or error}{advice}"
    return ResourceError(message) if error.errno in FULL else InputError(message)


def explained(error: BaseException) -> str | None:
    """What to say of an error that is no defect of eqspec: one that was raised on purpose, a machine that has no more
    to give, or a file that the user may not look at. None for a defect.
    """
    if isinstance(error, EqspecError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is no memory left for it"
    if not isinstance(error, OSError):
        return None
    if error.errno in FULL:
        return f"cannot write: {error.strerror}"
    if error.errno in SCARCE:
        return f"the machine gives no more: {error.strerror}; raise the limit (ulimit -a), or ask for less"
    if error.filename is not None and isinstance(error.filename, str | os.PathLike):
        return f"cannot use {error.filename}: {error.strerror}; check the path and its permissions"
    if error.errno == errno.ENOENT:  # of a system call without a path
        return "the folder in which this was started is gone; go to one that is there"
    return None


class SavedStateError(EqspecError):
    """A saved search is shown to be unusable: damaged, not the whole search, or of another question or version."""


class InternalError(RuntimeError):
    """A defect of eqspec. It is no `EqspecError`, so that nobody takes it for something a user could mend."""


class NetworkError(EqspecError):
    """A network file cannot be read exactly; names file, node, operator, cause and a fix."""

    def __init__(
        self, path: str, message: str, *, node: str | None = None, operator: str | None = None, fix: str | None = None
    ) -> None:
        self.path, self.message, self.node, self.operator, self.fix = path, message, node, operator, fix
        place = f" (operator {operator!r}, node {node!r})" if operator or node else ""
        told = f"{path}: {message}{place}" + (f". Fix: {fix}" if fix else "")
        super().__init__(told.replace("\r", "\\r").replace("\n", "\\n"))  # names of a file may hold line ends


class UnsupportedOperatorError(NetworkError):
    """A file has an operator that is not read at all; `operator` and `node` name it."""


CHOOSE_OUTPUT_BY_NAME = (
    "'output \"NAME\"' behind the network in a spec, --network-output NAME on the command "
    'line, output="NAME" in Python; the others are left alone'
)
CHOOSE_OUTPUT = f"say which one is meant: {CHOOSE_OUTPUT_BY_NAME}"
"""What to do about an OutputChoiceError."""


class OutputChoiceError(NetworkError):
    """A file has several outputs of which none was chosen, or not the one that was."""


class OpenSizesError(NetworkError):
    """A file leaves sizes open beside that of the batch, and what is known of its inputs does not tell them."""


class IntegerEndsError(NetworkError):
    """What the integers at the ends of a file stand for is not known, or makes no sense."""


class NoIntegerEndsError(IntegerEndsError):
    """No end of a file holds integers of a quantiser."""


class DerivationError(NetworkError):
    """A network cannot be quantised as it was asked for; names the network, its layer, cause and a fix."""


class DisagreementError(NetworkError):
    """A file is read as another function than onnxruntime computes, by more than rounding; nothing is proved of it."""
