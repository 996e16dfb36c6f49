"""How large a file of numbers may be. What a file declares is compared with these before anything is allocated.

A table or a scaler comes from somewhere, and a few megabytes can claim to hold terabytes. Every reader here looks at
the size of the file, and at the sizes that stand in its headers, first. The manual repeats these numbers.
"""

from __future__ import annotations

from pathlib import Path

from eqspec.span import Span
from eqspec.spec.findings import Fault, error
from eqspec.spec.source_files import read_text

MIB = 1 << 20
MOST_TEXT_BYTES = 256 * MIB
"""The largest csv file."""
MOST_LINES = 5_000_000
"""The most lines of a csv file."""
MOST_LINE_CHARACTERS = 32 * MIB
"""The most characters in one line of a csv file."""
MOST_COLUMNS = 1_000_001
"""The most columns of a csv file: as many as the language allows inputs, and a label."""
MOST_JSON_BYTES = 64 * MIB
"""The largest scaler in json."""
MOST_JSON_VALUES = 3_000_000
"""The most numbers, lists and names in a scaler in json; a number with a name counts twice."""
MOST_ARRAY_BYTES = 1024 * MIB
"""The largest array, as it lies in memory after it was unpacked."""
MOST_ARRAYS = 1000
"""The most arrays in one npz file."""
MOST_HEADER_BYTES = 10_000
"""The longest header of an array, where its type and shape stand."""


def too_large(written: str, what: str, limit: str, span: Span | None, fix: str) -> Fault:
    """E144 for a file beyond a limit: what it holds or claims to hold, and what is read at most."""
    return Fault(error("E144", f"'{written}' is not read: {what}; at most {limit} are read", span, help=fix))


def amount(size: int) -> str:
    """A number of bytes in the largest unit that it fills, rounded up to a tenth so that it exceeds what it exceeds."""
    if size < MIB:
        return f"{size} bytes"
    tenths = -(-10 * size // MIB)
    return f"{tenths // 10}.{tenths % 10} MiB" if tenths % 10 else f"{tenths // 10} MiB"


def require_file_size(path: Path, written: str, most: int, span: Span | None, fix: str) -> None:
    """Fault E144 if the file is larger than `most`, E111 if it cannot be looked at."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        message, fix = f"cannot read '{written}': {reason}", "check the path and its permissions"
        raise Fault(error("E111", message, span, help=fix)) from None
    if size > most:
        raise too_large(written, f"the file has {amount(size)}", amount(most), span, fix)


def bounded_text(path: Path, written: str, most: int, span: Span | None, fix: str) -> str:
    """The text of a file of at most so many bytes; Fault E111 or E144."""
    require_file_size(path, written, most, span, fix)
    return read_text(path, written, span)
