"""One damaged file and what its reader makes of it."""

from __future__ import annotations

import traceback
from pathlib import Path

import numpy as np

from fuzz.limits import TooSlowError, in_time
from fuzz.readers import READERS, REFUSALS


def attempt(kind: str, seed: int, number: int, folder: Path) -> tuple[str, Path]:
    """The outcome, "read" or "refused" if all is well, and the file."""
    reader = READERS[kind]
    rng = np.random.default_rng([seed, list(READERS).index(kind), number])
    path = folder / reader.name
    path.write_bytes(reader.damage(rng))
    return outcome(kind, path), path


def outcome(kind: str, path: Path) -> str:
    """What the reader of a kind makes of a file."""
    try:
        with in_time():
            READERS[kind].read(path)
    except REFUSALS as refusal:
        return "refused" if str(refusal).strip() else "refused without a word"
    except TooSlowError:
        return "too slow"
    except MemoryError:
        return "too much memory"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} in {Path(last.filename).name}, line {last.lineno}"
    return "read"
