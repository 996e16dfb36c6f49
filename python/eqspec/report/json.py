"""Results for programs: a list with one object per task, in the form that `eqspec schema result` describes.

Or the same objects one to a line (JSON Lines), which tools can read piece by piece and files can be joined from.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from eqspec.report.printable import shown_in_json
from eqspec.report.row_counts import with_shares
from eqspec.tasks.result import Result

_DENSE = ("history", "undecided", "sampled", "question", "over_rows")


def to_text(results: Iterable[Result]) -> str:
    """JSON that every reader understands: no NaN, no infinity."""
    objects = [_spread(result) for result in with_shares(list(results))]
    return "[\n" + ",\n".join(objects) + "\n]" if objects else "[]"


def to_lines(results: Iterable[Result]) -> str:
    """One object per line; nothing at all for no results."""
    return "\n".join(_dumps(result.to_json()) for result in results)


def _spread(result: Result) -> str:
    """Each field on a line of its own; a long list of numbers stays on one line."""
    fields = [
        f'  "{name}": {_dumps(value) if name in _DENSE else _dumps(value, 2)}'
        for name, value in result.to_json().items()
    ]
    return "{\n" + ",\n".join(fields) + "\n}"


def _dumps(value: object, indent: int | None = None) -> str:
    return shown_in_json(json.dumps(value, indent=indent, allow_nan=False, ensure_ascii=False))
