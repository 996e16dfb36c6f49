"""A file of a scaler that the user names: which ways to normalise it has numbers for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eqspec.compile.scalers import normalisers_of
from eqspec.errors import InputError
from eqspec.spec.findings import Fault
from eqspec.spec.spaces import Normaliser


def normalisers_in(file: str) -> tuple[Normaliser, ...]:
    """The normalisers that the file has numbers for, at least one. InputError where it cannot be used."""
    if not Path(file).is_file():
        raise InputError(f"cannot read {file}: no such file")
    with faults_of_input():
        kinds = normalisers_of(Path(file), file)
    if not kinds:
        raise InputError(f"{file} has neither mean and std nor low and high; name its numbers like that")
    return kinds


@contextmanager
def faults_of_input() -> Iterator[None]:
    """A fault in a file becomes an InputError with the same message and advice: no spec is there to point at."""
    try:
        yield
    except Fault as fault:
        if fault.diagnostic is None:
            raise
        advice = f"; {fault.diagnostic.help}" if fault.diagnostic.help else ""
        raise InputError(f"{fault.diagnostic.message}{advice}") from None
