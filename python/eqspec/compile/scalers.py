"""Normalisations: raw = centre + scale * x for every input, exact.

zscore has centre = mean and scale = std; minmax has centre = low and scale = high - low. Files may use the names of an
exported scikit-learn scaler (mean_, scale_; data_min_, data_max_).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from eqspec.compile.tables import CellError, CsvTable, load_arrays, number_kind
from eqspec.span import Span
from eqspec.spec import ast, numbers, values
from eqspec.spec.files import locate, read_text
from eqspec.spec.findings import Fault, error
from eqspec.spec.numbers import NumberError, shown
from eqspec.spec.scope import Scope
from eqspec.spec.spaces import Names, SpaceFacts, require_unit
from eqspec.spec.vocabulary import SCALER_KEYS

_ALIASES: dict[str, tuple[str, ...]] = {
    "mean": ("mean", "mean_", "means", "mu"),
    "std": ("std", "scale_", "stds", "std_", "sigma", "scale"),
    "low": ("low", "lo", "min", "data_min_", "minimum"),
    "high": ("high", "hi", "max", "data_max_", "maximum"),
}
"""The keys a file may use for each number, the first found counts."""


@dataclass(frozen=True)
class Scaler:
    """raw_i = centre_i + scale_i * x_i, every scale above 0."""

    centre: tuple[Fraction, ...]
    scale: tuple[Fraction, ...]


def read_scaler(space: SpaceFacts, scope: Scope) -> Scaler:
    """The normalisation of a space; Fault where its numbers do not fit."""
    features: Names = space.features or ()
    clause = space.normalise
    if clause is None or space.normaliser == "none":
        return Scaler((Fraction(0),) * len(features), (Fraction(1),) * len(features))
    keys = SCALER_KEYS[space.normaliser]
    if isinstance(clause, ast.NormaliseFrom):
        found = _from_file(clause, keys, features, scope)
        place: Mapping[str, Span] = dict.fromkeys(keys, clause.path.span)
    else:
        settings = {setting.key.text: setting for setting in clause.settings}
        found = {key: _inline(settings[key], features, scope) for key in keys}
        place = {key: settings[key].value.span for key in keys}
    first, second = found[keys[0]], found[keys[1]]
    scale = (
        second if space.normaliser == "zscore" else tuple(high - low for low, high in zip(first, second, strict=True))
    )
    for (name, _), number in zip(features, scale, strict=True):
        if number <= 0:
            what = f"std of feature '{name}' is {shown(number)}"
            if space.normaliser == "minmax":
                what = f"high of feature '{name}' is not above low"
            raise Fault(error("E121", what, place[keys[1]], help="leave constant features out, or give them a spread"))
    return Scaler(first, scale)


def _inline(setting: ast.Setting, features: Names, scope: Scope) -> tuple[Fraction, ...]:
    """The numbers of a setting; a single one stands for all features."""
    value = values.evaluate(setting.value, scope)
    if isinstance(value, tuple):
        listed = values.number_list(setting.value, scope)
        if listed is values.UNKNOWN:
            raise Fault
    else:
        single = values.number(setting.value, scope)
        if single is values.UNKNOWN:
            raise Fault
        listed = (single,) * len(features)
    if len(listed) != len(features):
        message = f"'{setting.key}' has {len(listed)} numbers for {len(features)} features"
        raise Fault(error("E120", message, setting.value.span, help="one number per feature, or one for all"))
    for number, (name, unit) in zip(listed, features, strict=True):
        require_unit(f"feature '{name}'", unit, number.unit, str(setting.key), setting.value.span)
    return tuple(number.constant for number in listed)


def _from_file(
    clause: ast.NormaliseFrom, keys: tuple[str, str], features: Names, scope: Scope
) -> dict[str, tuple[Fraction, ...]]:
    written = values.text(clause.path, scope)
    if written is values.UNKNOWN:
        raise Fault
    span = clause.path.span
    path = locate(written, scope.module.directory, scope.module.source.name, span)
    content = _content(path, written, span)
    found: dict[str, tuple[Fraction, ...]] = {}
    for key in keys:
        name = next((alias for alias in _ALIASES[key] if alias in content), None)
        if name is None:
            listed = ", ".join(str(k) for k in list(content)[:12])
            aliases = ", ".join(_ALIASES[key])
            message = f"key '{key}' not found in '{written}'; keys: {listed}"
            raise Fault(error("E122", message, span, help=f"'{key}' may be called {aliases}"))
        size = getattr(content[name], "size", 0)
        row = _numbers(content[name], name, written, span) if size <= max(len(features), 1) else ()
        if len(row) == 1 and len(features) > 1:
            row *= len(features)
        if len(row) != len(features):
            message = f"'{written}' has {size or len(row)} {key}s for {len(features)} features"
            raise Fault(error("E120", message, span, help=f"key '{name}' must have one number per feature"))
        found[key] = row
    if "data_min_" in content and "low" in keys:
        _require_unit_range(content, written, span)
    return found


def _require_unit_range(content: Mapping[str, Any], written: str, span: Span) -> None:
    """A scikit-learn MinMaxScaler may map to another range than [0, 1]; minmax does not."""
    if "feature_range" in content:
        low_high = _numbers(content["feature_range"], "feature_range", written, span)
        if list(low_high) != [0, 1]:
            shown_range = ", ".join(shown(n) for n in low_high)
            message = f"'{written}' scales to [{shown_range}], minmax scales to [0, 1]"
            raise Fault(error("E122", message, span, help="give the network's own mean and std with 'zscore'"))


def _content(path: Path, written: str, span: Span) -> Mapping[str, Any]:
    """The named numbers in a json, npz or csv file."""
    suffix = path.suffix.lower()
    if suffix in (".npz", ".npy"):
        return load_arrays(path, written, span)
    if suffix in (".pkl", ".pickle", ".joblib"):
        message = f"'{written}' is not read: loading it would run code"
        raise Fault(error("E144", message, span, help="save mean_ and scale_ as json or npz"))
    text = read_text(path, written, span)
    if suffix == ".csv":
        return _csv_columns(CsvTable.parse(text), written, span)
    try:
        content = json.loads(text, parse_float=numbers.literal, parse_int=numbers.literal)
    except (ValueError, RecursionError, NumberError) as problem:
        message = f"cannot read '{written}' as json: {str(problem)[:120]}"
        raise Fault(error("E144", message, span, help='write {"mean": [...], "std": [...]}')) from None
    if not isinstance(content, dict):
        message = f"'{written}' holds no named numbers"
        raise Fault(error("E144", message, span, help='write {"mean": [...], "std": [...]}'))
    return content


def _csv_columns(table: CsvTable, written: str, span: Span) -> Mapping[str, Any]:
    """The columns of a table by their header, one row per feature."""
    if table.header is None:
        message = f"'{written}' has no header row"
        raise Fault(error("E145", message, span, help="name the columns, such as mean,std, with one row per feature"))
    found: dict[str, Any] = {}
    for column, name in enumerate(table.header):
        try:
            found[name] = [table.row(i, column, column)[0] for i in range(table.rows)]
        except CellError as cell:
            found[name] = cell.text  # a column of names; refused if it is asked for
    return found


def _numbers(content: Any, name: str, written: str, span: Span) -> tuple[Fraction, ...]:
    """Exact numbers from json or an array: one, a list, or a list in a list."""
    if hasattr(content, "dtype"):
        content = content.reshape(-1).tolist() if number_kind(content) else None
    if isinstance(content, Fraction | int | float) and not isinstance(content, bool):
        content = [content]
    if isinstance(content, Sequence) and len(content) == 1 and isinstance(content[0], list):
        content = content[0]
    if not isinstance(content, list) or not all(_is_number(n) for n in content):
        message = f"key '{name}' of '{written}' is not a list of finite numbers"
        raise Fault(error("E122", message, span, help="one number per feature"))
    return tuple(Fraction(n) for n in content)


def _is_number(content: Any) -> bool:
    if isinstance(content, float):
        return content - content == 0
    return isinstance(content, Fraction | int) and not isinstance(content, bool)


def normaliser_of(path: Path) -> str | None:
    """The normaliser that a file has the numbers of; None if it has neither. Fault where it cannot be read."""
    content = _content(path, str(path), ast.NOWHERE)
    for kind, keys in SCALER_KEYS.items():
        if all(any(alias in content for alias in _ALIASES[key]) for key in keys):
            return kind
    return None
