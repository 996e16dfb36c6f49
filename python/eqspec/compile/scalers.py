"""Normalisations: raw = centre + scale * x for every input, exact.

zscore has centre = mean and scale = std; minmax has centre = low and scale = high - low. Files may use the names of an
exported scikit-learn scaler (mean_, scale_; data_min_, data_max_). Where a file says to which features its numbers
belong, they go to the features of these names, whatever their order, and every feature must have one; only numbers
without names are taken in the order of the features.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Literal

from eqspec.compile.scaler_files import Listed, ScalerFile, read_scaler_file
from eqspec.compile.tables import column_name
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec import ast, values
from eqspec.spec.findings import Fault, Findings, error
from eqspec.spec.numbers import shown
from eqspec.spec.scope import Scope
from eqspec.spec.source_files import locate
from eqspec.spec.spaces import Names, Normaliser, SpaceFacts, require_unit
from eqspec.spec.suggest import did_you_mean
from eqspec.spec.vocabulary import SCALER_KEYS

_ALIASES: dict[str, tuple[str, ...]] = {
    "mean": ("mean", "mean_", "means", "mu"),
    "std": ("std", "scale_", "stds", "std_", "sigma", "scale"),
    "low": ("low", "lo", "min", "data_min_", "minimum"),
    "high": ("high", "hi", "max", "data_max_", "maximum"),
}
"""The keys a file may use for each number."""
_NEARLY = Fraction(1, 10**6)
"""How far the ends of a range may lie from 0 and 1, because scikit-learn computes them in floats."""
_FAR_MORE = 10
"""Where a file names so many times more than there are features, names are not compared."""
_EVERY_KEY = tuple(alias for aliases in _ALIASES.values() for alias in aliases)


@dataclass(frozen=True)
class Scaler:
    """raw_i = centre_i + scale_i * x_i, every scale above 0."""

    centre: tuple[Fraction, ...]
    scale: tuple[Fraction, ...]


def read_scaler(space: SpaceFacts, scope: Scope, findings: Findings | None = None) -> Scaler:
    """The normalisation of a space; Fault where its numbers do not fit. `findings` are told what was guessed."""
    features: Names = space.features or ()
    clause = space.normalise
    if clause is None or space.normaliser == "none":
        return Scaler((Fraction(0),) * len(features), (Fraction(1),) * len(features))
    keys = SCALER_KEYS[space.normaliser]
    if isinstance(clause, ast.NormaliseFrom):
        written = values.text(clause.path, scope)
        if written is values.UNKNOWN:
            raise Fault
        span = clause.path.span
        path = locate(written, scope.module.directory, scope.module.source.name, span)
        return scaler_from_file(path, written, space.normaliser, features, span, findings)
    settings = {setting.key.text: setting for setting in clause.settings}
    first, second = (_inline(settings[key], features, scope) for key in keys)
    return _scaler(space.normaliser, features, first, second, settings[keys[1]].value.span)


def scaler_from_file(
    path: Path, written: str, kind: Normaliser, features: Names, span: Span, findings: Findings | None = None
) -> Scaler:
    """The normalisation that a file has for these features; Fault where it has none."""
    file = read_scaler_file(path, written, _EVERY_KEY, span, findings)
    _require_affine(file)
    keys = SCALER_KEYS[kind]
    first, second = (_in_order(file, key, features) for key in keys)
    if kind == "zscore":
        _require_std(file, second, features)
    else:
        _require_unit_range(file, first, second, features)
    return _scaler(kind, features, first, second, span)


def _scaler(
    kind: Normaliser, features: Names, first: tuple[Fraction, ...], second: tuple[Fraction, ...], span: Span
) -> Scaler:
    scale = second if kind == "zscore" else tuple(high - low for low, high in zip(first, second, strict=True))
    for (name, _), number in zip(features, scale, strict=True):
        if number <= 0:
            what = f"std of feature '{name}' is {shown(number)}"
            if kind == "minmax":
                what = f"high of feature '{name}' is not above low"
            raise Fault(error("E121", what, span, help="leave constant features out, or give them a spread"))
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


def _in_order(file: ScalerFile, key: str, features: Names) -> tuple[Fraction, ...]:
    """The numbers of a key, one for each feature."""
    found = [name for name in _ALIASES[key] if name in file.listed or name in file.alone]
    if not found:
        listed = ", ".join(str(k)[:40] for k in file.keys[:12])
        more = f" and {len(file.keys) - 12} more" if len(file.keys) > 12 else ""
        message = f"key '{key}' not found in '{file.written}'; keys: {listed}{more}"
        hint = f"'{key}' may be called {', '.join(_ALIASES[key])}"
        if Path(file.written).suffix == ".csv" and not set(file.keys) & set(_EVERY_KEY):
            write = f"write '{key} [...]' here, as 'eqspec init' does"
            hint = f"a table of inputs has no scaler in it: {write}; in a scaler {hint}"
        raise Fault(error("E122", message, file.span, help=hint))
    rows = [_numbers(file, name, key, features) for name in found]
    if any(row != rows[0] for row in rows):
        message = f"'{file.written}' has different numbers under {' and '.join(found)}, both of which are {key}"
        raise Fault(error("E122", message, file.span, help="keep the one that the network was trained with"))
    return rows[0]


def _numbers(file: ScalerFile, name: str, key: str, features: Names) -> tuple[Fraction, ...]:
    listed = file.listed.get(name)
    if listed is None:
        message = f"key '{name}' of '{file.written}' is not a list of finite numbers"
        raise Fault(error("E122", message, file.span, help="one number per feature"))
    if listed.names is not None:
        if len(listed.names) > _FAR_MORE * (1 + len(features)):
            raise _wrong_count(file, listed, key, name, len(features))
        places = _places(file, listed.names, features)
        row = _read(file, listed, key, name, len(features))
        return tuple(row[place] for place in places)
    row = _read(file, listed, key, name, len(features))
    return row * len(features) if len(row) == 1 else row


def _read(file: ScalerFile, listed: Listed, key: str, name: str, needed: int) -> tuple[Fraction, ...]:
    """The numbers as they stand in the file, as many as are needed, or one for all; their count is looked at first."""
    if listed.size != needed and (listed.size != 1 or listed.names is not None):
        raise _wrong_count(file, listed, key, name, needed)
    return listed.numbers()


def _wrong_count(file: ScalerFile, listed: Listed, key: str, name: str, needed: int) -> Fault:
    message = f"'{file.written}' has {listed.size} {key}s for {needed} features"
    return Fault(error("E120", message, file.span, help=f"key '{name}' must have one number per feature"))


def _places(file: ScalerFile, names: Sequence[str], features: Names) -> list[int]:
    """Where in the file the number of each feature stands. Fault E122 unless the names are those of the features."""
    wanted = [name for name, _ in features]
    written = [column_name(name, i) for i, name in enumerate(names)]
    found: dict[str, int] = {}
    for place, (name, unit) in enumerate(written):
        name = _as_feature(name, names[place], wanted)
        if name in found:
            message = f"'{file.written}' has two numbers for '{names[place][:40]}'"
            raise Fault(error("E122", message, file.span, help="keep one of them"))
        found[name] = place
        declared = dict(features).get(name)
        if unit is not None and declared is not None and unit != declared:
            require_unit(f"feature '{name}'", declared, unit, f"its number in '{file.written}'", file.span)
    if set(found) == set(wanted):
        return [found[name] for name in wanted]
    counted = _counted(names)
    if counted is not None and len(counted) == len(wanted):
        return counted
    missing = next((name for name in wanted if name not in found), None)
    extra = next((names[place] for name, place in found.items() if name not in wanted), None)
    if missing is not None:
        message = f"'{file.written}' has no number for feature '{missing}'; it names {', '.join(names[:8])[:120]}"
        help_text = did_you_mean(missing, names) or "name its numbers like the features, or leave all names out"
    else:
        message = f"'{file.written}' has a number for '{str(extra)[:40]}', which is not a feature"
        help_text = "is it the scaler of other inputs? leave out what is not a feature"
    raise Fault(error("E122", message, file.span, help=help_text))


def _as_feature(name: str, cell: str, wanted: Sequence[str]) -> str:
    """The feature that a name of the file means: itself, or the form in which `eqspec init` writes it."""
    if cell.strip() in wanted:
        return cell.strip()
    return "all_" if name == "all" and "all" not in wanted else name


def _counted(names: Sequence[str]) -> list[int] | None:
    """The places of names that are only numbers of columns, from 0 or from 1."""
    if not all(name.strip().isdecimal() and len(name.strip()) < 9 for name in names):
        return None
    numbers = [int(name) for name in names]
    start = min(numbers, default=0)
    places = {number - start: place for place, number in enumerate(numbers)}
    if start > 1 or set(places) != set(range(len(names))):
        return None
    return [places[i] for i in range(len(names))]


def _require_affine(file: ScalerFile) -> None:
    """A scikit-learn scaler may leave out a part, or clip; then it is another function than its numbers say."""
    for key in ("with_mean", "with_std"):
        if _says(file, key, False):
            what = "does not subtract its mean" if key == "with_mean" else "does not divide by its standard deviation"
            fix = "give the mean 0" if key == "with_mean" else "give the std 1"
            message = f"'{file.written}' is a scaler that {what} ({key} is false)"
            raise Fault(error("E122", message, file.span, help=f"{fix}, and leave '{key}' out"))
    if _says(file, "clip", True):
        message = f"'{file.written}' is a scaler that clips, which no normalisation here does"
        raise Fault(error("E122", message, file.span, help="scale without clipping, and leave 'clip' out"))


def _says(file: ScalerFile, key: str, truth: bool) -> bool:
    """Whether a file sets a switch to this value, written as a truth value, as a word, or as 0 or 1."""
    if key in file.listed and file.listed[key].size == 1:
        return file.listed[key].numbers() == (Fraction(truth),)
    value = file.alone.get(key)
    return str(value).strip().casefold() == str(truth).casefold()


def _require_std(file: ScalerFile, std: tuple[Fraction, ...], features: Names) -> None:
    """Where variances stand beside the standard deviations, these are their roots, up to how they were estimated."""
    for key in ("var_", "var", "variance"):
        if key in file.listed and file.listed[key].size == len(features):
            variances = _numbers(file, key, "variance", features)
            for (name, _), deviation, variance in zip(features, std, variances, strict=True):
                if variance > 0 and not variance / 2 <= deviation**2 <= variance * 2:
                    message = (
                        f"the std of feature '{name}' in '{file.written}' is {shown(deviation)}, but its variance "
                        f"there is {shown(variance)}"
                    )
                    raise Fault(error("E122", message, file.span, help="give the roots of the variances as std"))


def _require_unit_range(
    file: ScalerFile, low: tuple[Fraction, ...], high: tuple[Fraction, ...], features: Names
) -> None:
    """A scikit-learn MinMaxScaler may map to another range than [0, 1]; minmax does not."""
    if "feature_range" in file.listed:
        ends = file.listed["feature_range"].numbers()
        if list(ends) != [0, 1]:
            shown_range = ", ".join(shown(n) for n in ends[:4])
            message = f"'{file.written}' scales to [{shown_range}], minmax scales to [0, 1]"
            raise Fault(error("E122", message, file.span, help="give the network's own mean and std with 'zscore'"))
        return
    if not {"data_min_", "min_", "scale_"} <= file.listed.keys():
        return
    offsets, factors = (_numbers(file, key, key, features) for key in ("min_", "scale_"))
    for (name, _), a, b, offset, factor in zip(features, low, high, offsets, factors, strict=True):
        ends = (a * factor + offset, b * factor + offset)
        if b > a and max(abs(ends[0]), abs(ends[1] - 1)) > _NEARLY:
            shown_range = ", ".join(f"{float(end):.6g}" for end in ends)
            message = f"'{file.written}' scales feature '{name}' to [{shown_range}], minmax scales to [0, 1]"
            raise Fault(error("E122", message, file.span, help="give the network's own mean and std with 'zscore'"))


def normalisers_of(path: Path, written: str, span: Span = ast.NOWHERE) -> tuple[Normaliser, ...]:
    """The normalisers that a file has the numbers of. Fault where it cannot be read."""
    file = read_scaler_file(path, written, _EVERY_KEY, span)
    kinds: tuple[Literal["zscore", "minmax"], ...] = ("zscore", "minmax")
    return tuple(
        kind for kind in kinds if all(any(alias in file.listed for alias in _ALIASES[key]) for key in SCALER_KEYS[kind])
    )
