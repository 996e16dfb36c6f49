"""A report as a pandas frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from eqspec.tasks.result import Result


def of_results(results: Iterable[Result]) -> Any:
    """One row per task, its id as the index; ImportError with advice where pandas is missing.

    Columns: `check`; the variables of `for` as floats, NaN where a check has none of the name; `verdict`, `expected`,
    `as_expected` (None: undecided), `reason`, `vacuous`, `certified` (share of the region), `seconds`, `boxes`, `lps`;
    `proved` and `refuted`, the ends of a search's bracket; `broken`, what breaks in words.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("to_frame() needs pandas: pip install pandas") from None
    results = list(results)
    variables = list(dict.fromkeys(name for result in results for name in result.parameters))
    columns: dict[str, list[Any]] = {"check": [r.check for r in results]}
    for name in variables:
        values = (r.parameters.get(name) for r in results)
        # A variable may be called like a column below; then it is written as in ids.
        columns[f"[{name}]" if name in _COLUMNS or name == "check" else name] = [
            float("nan") if value is None else float(value) for value in values
        ]
    for name, value_of in _COLUMNS.items():
        columns[name] = [value_of(r) for r in results]
    frame = pd.DataFrame(columns, index=pd.Index([r.id for r in results], name="task"))
    for name in ("expected", "as_expected", "reason", "broken"):
        frame[name] = frame[name].astype(object)
    return frame


def _end(result: Result, name: str) -> float:
    value = None if result.find is None else getattr(result.find, name)
    return float("nan") if value is None else float(value)


def _broken(result: Result) -> str | None:
    witness = result.witness or (result.find.witness if result.find else None)
    return None if witness is None else witness.statement


_COLUMNS: dict[str, Callable[[Result], Any]] = {
    "verdict": lambda r: r.verdict.value,
    "expected": lambda r: r.expected,
    "as_expected": lambda r: r.as_expected,
    "reason": lambda r: r.reason.value if r.reason else None,
    "vacuous": lambda r: r.vacuous,
    "certified": lambda r: r.certified_fraction,
    "seconds": lambda r: r.seconds,
    "boxes": lambda r: r.boxes,
    "lps": lambda r: r.lps,
    "proved": lambda r: _end(r, "proved"),
    "refuted": lambda r: _end(r, "refuted"),
    "broken": _broken,
}
