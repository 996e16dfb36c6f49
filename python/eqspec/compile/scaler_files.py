"""What files of scalers say: numbers by key, each list with the names of its features where the file has them.

json holds `{"mean": [...], ...}`, or names inside, `{"mean": {"a": 1, ...}, ...}`; npz holds arrays; csv has a row for
each feature with the keys on top, or a column for each feature with the keys in front, below a row of names or without
one. A list of names may stand beside the numbers. What stands twice, or could be read in two ways, is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from eqspec.compile import file_limits
from eqspec.compile.array_files import Arrays, number_kind, open_arrays
from eqspec.compile.csv_table import CellError, CsvTable
from eqspec.compile.first_row import Kind, kind_of
from eqspec.compile.tables import load_csv, refuse_kind
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec import numbers
from eqspec.spec.findings import Fault, Findings, error
from eqspec.spec.numbers import NumberError

NAME_KEYS = frozenset(
    ("", "feature", "features", "feature_name", "feature_names", "feature_names_in_", "name", "names", "column",
     "columns", "variable", "variables", "input", "inputs", "field", "fields", "channel", "channels", "index", "id",
     "unnamed: 0")
)  # fmt: skip
"""Names of a list or column that holds the names of the features."""
_REMARKS = frozenset(("unit", "units", "dtype", "type", "kind", "comment", "comments", "description", "note", "notes"))
"""Names of columns of text that hold remarks, and not the names of features."""
_MOST_KEYS = 1000
"""Columns of a csv file with its keys on top; a wider one is a table, and no scaler."""
_EXAMPLE = 'write {"mean": [...], "std": [...]}'


@dataclass(frozen=True)
class Listed:
    """What stands under a key: how many numbers, to which names they belong, and the numbers when they are asked for.

    `names` is None where the file does not say; then they are in the order of the features. A `number` that is alone,
    not in a list, stands for every feature.
    """

    size: int
    names: tuple[str, ...] | None
    numbers: Callable[[], tuple[Fraction, ...]]


@dataclass(frozen=True)
class ScalerFile:
    """The keys of a file with what stands under them; `alone` are values that are neither numbers nor lists of them."""

    written: str
    span: Span
    listed: Mapping[str, Listed]
    alone: Mapping[str, Any]

    @property
    def keys(self) -> list[str]:
        """All keys, in the order of the file."""
        return [*self.listed, *(key for key in self.alone if key not in self.listed)]


class Numeral(str):
    """A number in a json file, with the digits that are written there."""

    __slots__ = ()


def read_scaler_file(
    path: Path, written: str, keys: Sequence[str], span: Span, findings: Findings | None = None
) -> ScalerFile:
    """What a json, npz or csv file says; `keys` are those that a csv file may have in front of its rows."""
    refuse_kind(path, written, span, "save mean_ and scale_ as json or npz")
    suffix = path.suffix.lower()
    if suffix in (".npz", ".npy"):
        return _from_arrays(open_arrays(path, written, span))
    if suffix == ".csv":
        in_front = frozenset(keys)
        return _from_csv(load_csv(path, written, span, findings, in_front), in_front, written, span)
    return _from_json(path, written, span)


def _not_numbers(key: str, written: str, span: Span, reason: str | None = None) -> Fault:
    message = f"key '{key}' of '{written}' is not a list of finite numbers" + (f": {reason}" if reason else "")
    return Fault(error("E122", message, span, help="one number per feature"))


# json


def _from_json(path: Path, written: str, span: Span) -> ScalerFile:
    fewer = "keep the numbers of the scaler only"
    text = file_limits.bounded_text(path, written, file_limits.MOST_JSON_BYTES, span, fewer)
    values = sum(text.count(mark) for mark in ",[{:")
    if values > file_limits.MOST_JSON_VALUES:
        what = f"it has more than {file_limits.MOST_JSON_VALUES} values"
        raise file_limits.too_large(written, what, f"{file_limits.MOST_JSON_VALUES} values", span, fewer)
    try:
        content = json.loads(text, parse_float=Numeral, parse_int=Numeral, object_pairs_hook=_once)
    except (ValueError, RecursionError) as problem:
        message = f"cannot read '{written}' as json: {str(problem)[:120]}"
        raise Fault(error("E144", message, span, help=_EXAMPLE)) from None
    if not isinstance(content, dict):
        raise Fault(error("E144", f"'{written}' holds no named numbers", span, help=_EXAMPLE))
    names = _only_names(
        {key: value for key, value in content.items() if key.casefold() in NAME_KEYS and _is_texts(value)},
        written,
        span,
    )
    listed, alone = {}, {}
    for key, value in content.items():
        if (found := _of_json(key, value, names, written, span)) is not None:
            listed[key] = found
        else:
            alone[key] = value
    return ScalerFile(written, span, listed, alone)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"'{repeated[:40]}' stands there twice")
    return found


def _of_json(key: str, value: Any, names: tuple[str, ...] | None, written: str, span: Span) -> Listed | None:
    def exactly(found: Sequence[Any]) -> Callable[[], tuple[Fraction, ...]]:
        return lambda: tuple(_literal(number, key, written, span) for number in found)

    if isinstance(value, Numeral):
        return Listed(1, None, exactly([value]))
    if isinstance(value, dict) and value:
        return Listed(len(value), tuple(value), exactly(list(value.values())))
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    if isinstance(value, list) and not _is_texts(value):
        return Listed(len(value), names, exactly(value))
    return None


def _literal(number: Any, key: str, written: str, span: Span) -> Fraction:
    if not isinstance(number, Numeral):
        raise _not_numbers(key, written, span)
    try:
        return numbers.literal(number)
    except NumberError as problem:
        message = f"cannot read '{written}' as json: {str(problem)[:120]}"
        raise Fault(error("E144", message, span, help=_EXAMPLE)) from None


def _is_texts(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(v, str) and not isinstance(v, Numeral) for v in value)
    )


def _only_names(found: Mapping[str, Sequence[str]], written: str, span: Span) -> tuple[str, ...] | None:
    """The list of names beside the numbers; Fault E122 where there are several that differ."""
    lists = {tuple(names) for names in found.values()}
    if len(lists) > 1:
        message = f"'{written}' has several lists of names: {', '.join(found)}"
        raise Fault(error("E122", message, span, help="keep the one that names the features"))
    return next(iter(lists), None)


# npz


def _from_arrays(arrays: Arrays) -> ScalerFile:
    texts = {
        key: [str(name) for name in arrays.read(key).reshape(-1).tolist()]
        for key, heading in arrays.headings.items()
        if key.casefold() in NAME_KEYS and key and heading.dtype.kind == "U" and heading.bytes <= file_limits.MIB * 64
    }
    names = _only_names(texts, arrays.written, arrays.span)
    listed: dict[str, Listed] = {}
    alone: dict[str, Any] = dict(texts)
    for key, heading in arrays.headings.items():
        if heading.size == 1 and heading.dtype.kind == "b":
            alone[key] = bool(arrays.read(key).item())
        elif key not in texts:
            listed[key] = Listed(heading.size, names if heading.shape else None, _array_numbers(arrays, key))
    return ScalerFile(arrays.written, arrays.span, listed, alone)


def _array_numbers(arrays: Arrays, key: str) -> Callable[[], tuple[Fraction, ...]]:
    def read() -> tuple[Fraction, ...]:
        if not number_kind(arrays.headings[key].dtype) or arrays.headings[key].dtype.kind == "b":
            raise _not_numbers(key, arrays.written, arrays.span)
        found = arrays.read(key).reshape(-1).tolist()
        if any(number - number != 0 for number in found):
            raise _not_numbers(key, arrays.written, arrays.span)
        return tuple(Fraction(number) for number in found)

    return read


# csv


def _from_csv(table: CsvTable, keys: frozenset[str], written: str, span: Span) -> ScalerFile:
    try:
        rows = [_padded(table.cells(i), table.width) for i in range(table.rows)]
    except CellError as cell:
        message = f"cannot read '{written}': {cell.reason or cell.text}"
        raise Fault(error("E144", message, span, help="give every row as many cells as the header")) from None
    in_front = [row[0] for row in rows]
    on_top, at_side = keys & set(table.header or ()), keys & set(in_front)
    if len(on_top) > 1 and len(at_side) > 1:
        message = f"'{written}' can be read by its rows and by its columns: {', '.join(sorted(on_top & at_side))}"
        raise Fault(error("E122", message, span, help="have the keys on top, with one row per feature"))
    if len(at_side) > 1:
        _refuse_repeated(in_front, written, span)
        names = table.header[1:] if table.header else None
        by_key = {key: row[1:] for key, row in zip(in_front, rows, strict=True)}
        return ScalerFile(
            written, span, {k: _of_cells(table, k, v, names, written, span) for k, v in by_key.items()}, {}
        )
    if table.header is None:
        message = f"'{written}' has no header row"
        raise Fault(error("E145", message, span, help="name the columns, such as mean,std, with one row per feature"))
    _refuse_repeated([name for name in table.header if name], written, span)
    if table.width > _MOST_KEYS:
        return ScalerFile(written, span, {}, dict.fromkeys(table.header))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(table.header)}
    of_rows = _row_names(columns, written, span)
    found = {k: _of_cells(table, k, v, of_rows, written, span) for k, v in columns.items()}
    return ScalerFile(written, span, found, {})


def _padded(cells: list[str], width: int) -> list[str]:
    return cells + [""] * (width - len(cells))


def _refuse_repeated(keys: Sequence[str], written: str, span: Span) -> None:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            message = f"'{written}' has two lists called '{key[:40]}'"
            raise Fault(error("E122", message, span, help="rename one, or leave it out"))
        seen.add(key)


def _row_names(columns: Mapping[str, list[str]], written: str, span: Span) -> tuple[str, ...] | None:
    """The names of the rows: the one column of texts that is no remark, else a column of numbers that is called so."""
    texts = [
        name
        for name, cells in columns.items()
        if any(kind_of(cell) is Kind.WORD for cell in cells) and name.strip().casefold() not in _REMARKS
    ]
    named = [name for name in columns if name.strip().casefold() in NAME_KEYS]
    if len(texts) > 1:
        message = f"'{written}' has several columns of texts: {', '.join(texts[:8])}"
        raise Fault(error("E122", message, span, help="keep the one with the names of the features"))
    if texts:
        return tuple(columns[texts[0]])
    return tuple(columns[named[0]]) if named and columns[named[0]] else None


def _of_cells(
    table: CsvTable, key: str, cells: Sequence[str], names: tuple[str, ...] | None, written: str, span: Span
) -> Listed:
    def read() -> tuple[Fraction, ...]:
        try:
            return tuple(table.number(cell, i) for i, cell in enumerate(cells))
        except CellError as cell:
            raise _not_numbers(key, written, span, cell.reason or f"'{cell.text[:40]}'") from None

    return Listed(len(cells), names, read)
