"""Results for programs: a list with one object per task, in the form of the schema that `eqspec.tasks` ships."""

from __future__ import annotations

import json
from collections.abc import Iterable

from eqspec.tasks.result import Result


def to_text(results: Iterable[Result]) -> str:
    """JSON that every reader understands: no NaN, no infinity."""
    return json.dumps([result.to_json() for result in results], indent=2, allow_nan=False, ensure_ascii=False)
