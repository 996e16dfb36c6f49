"""What a space declares: inputs and outputs by name, and the normalisation, as far as no data file is needed.

A space with a shape names its inputs x0, x1, ... in row-major order; outputs that are only counted are named by their
index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar, cast

from eqspec.errors import Label
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec import ast, values, vocabulary
from eqspec.spec.findings import Fault, Findings, error
from eqspec.spec.numbers import shown
from eqspec.spec.program import Binding
from eqspec.spec.scope import Atoms, Scope
from eqspec.spec.source_files import locate
from eqspec.spec.values import UNKNOWN, Form

Names: TypeAlias = tuple[tuple[str, str | None], ...]
"""Names with their units."""
Header: TypeAlias = Callable[[Path, str, "tuple[int, int] | None", Span], Names]
"""Reads the names in the header of a table: file, how the user wrote it, columns, place for findings."""
Normaliser = Literal["none", "zscore", "minmax"]
MOST_INPUTS = 1_000_000

N = TypeVar("N", bound=ast.Node)


@dataclass(frozen=True, eq=False)
class SpaceFacts:
    """A space as declared. `features` is None where names stand in a table that was not read, `shape` without one."""

    binding: Binding
    features: Names | None
    outputs: Names
    normaliser: Normaliser
    normalise: ast.Normalise | ast.NormaliseFrom | None
    domain: tuple[Fraction, Fraction] | None
    decide: Literal["max", "min"]
    shape: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """The name it is declared under."""
        return self.binding.name

    @cached_property
    def atoms(self) -> Atoms | None:
        """The inputs as names in `where`, if they are known; asked for at every bound of a feature."""
        if self.features is None:
            return None
        indices = {name: i for i, (name, _) in enumerate(self.features)}
        return Atoms(indices, tuple(unit for _, unit in self.features), self.name)


def describe(binding: Binding, scope: Scope, header: Header | None, findings: Findings) -> SpaceFacts:
    """The facts of a space; Fault where too little is right to go on."""
    space = cast(ast.Space, binding.declaration)
    clauses = {kind: _single(space, kind, findings) for kind in _CLAUSES}
    shape = cast("ast.Shape | None", clauses["shape"])
    sizes = None if shape is None else _sizes(shape, scope)
    features = _features(space, clauses, sizes, scope, header)
    outputs = _outputs(space, clauses["outputs"])
    normalise = cast("ast.Normalise | ast.NormaliseFrom | None", clauses["normalise"])
    normaliser: Normaliser = "none"
    if normalise is not None:
        normaliser = cast(Normaliser, vocabulary.look_up("normaliser", normalise.kind))
        _check_settings(normaliser, normalise)
    decide, domain = cast("ast.Decide | None", clauses["decide"]), cast("ast.Domain | None", clauses["domain"])
    word = "max" if decide is None else vocabulary.look_up("decision", decide.word)
    return SpaceFacts(
        binding,
        features,
        outputs,
        normaliser,
        normalise,
        None if domain is None else _domain(domain, features, scope),
        cast(Literal["max", "min"], word),
        sizes,
    )


_CLAUSES: dict[str, tuple[type[ast.Node], ...]] = {
    "features": (ast.Features, ast.FeaturesFrom),
    "shape": (ast.Shape,),
    "normalise": (ast.Normalise, ast.NormaliseFrom),
    "domain": (ast.Domain,),
    "outputs": (ast.Outputs,),
    "decide": (ast.Decide,),
}


def _single(space: ast.Space, word: str, findings: Findings) -> ast.SpaceClause | None:
    found = [c for c in space.clauses if isinstance(c, _CLAUSES[word])]
    for extra in found[1:]:
        label = Label(found[0].span, "first here")
        message = f"space '{space.name}' has two '{word}' clauses"
        findings.add(error("E204", message, extra.span, label, help="leave one out"))
    return found[0] if found else None


def _features(
    space: ast.Space,
    clauses: dict[str, ast.SpaceClause | None],
    sizes: tuple[int, ...] | None,
    scope: Scope,
    header: Header | None,
) -> Names | None:
    listed, shape = clauses["features"], cast("ast.Shape | None", clauses["shape"])
    if listed is None and shape is None:
        message = f"space '{space.name}' has no inputs"
        raise Fault(error("E124", message, space.name.span, help="add 'features a, b, ...' or 'shape [1, 28, 28]'"))
    count = None if sizes is None else prod(sizes)
    if listed is None:
        return None if count is None else tuple((f"x{i}", None) for i in range(count))
    names: Names | None
    if isinstance(listed, ast.FeaturesFrom):
        names = _features_from(listed, scope, header)
    else:
        features = cast(ast.Features, listed).features
        names = _unique(features, f"feature of space '{space.name}'")
    if names is not None and count is not None and count != len(names):
        message = f"the shape of space '{space.name}' has {count} inputs, but {len(names)} features are named"
        raise Fault(error("E124", message, cast(ast.Shape, shape).sizes.span, help="leave one of them out"))
    return names


def _features_from(listed: ast.FeaturesFrom, scope: Scope, header: Header | None) -> Names | None:
    written = values.text(listed.path, scope)
    columns = None if listed.columns is None else whole_range(listed.columns, scope, "column")
    if written is UNKNOWN or columns is UNKNOWN or header is None:
        return None
    module = scope.module
    path = locate(written, module.directory, module.source.name, listed.path.span)
    return header(path, written, columns, listed.path.span)


def _unique(features: Iterable[ast.Feature], what: str) -> Names:
    first: dict[str, ast.Feature] = {}
    for feature in features:
        if feature.name.text in first:
            label = Label(first[feature.name.text].name.span, "first here")
            message = f"'{feature.name}' is declared twice as {what}"
            raise Fault(error("E104", message, feature.name.span, label, help="rename one"))
        first[feature.name.text] = feature
    return tuple((f.name.text, f.unit) for f in first.values())


def _sizes(shape: ast.Shape, scope: Scope) -> tuple[int, ...] | None:
    sizes = values.number_list(shape.sizes, scope)
    if sizes is UNKNOWN:
        return None
    whole = [int(s.constant) for s in sizes if s.constant.denominator == 1 and 0 < s.constant <= MOST_INPUTS]
    if not sizes or len(whole) != len(sizes) or prod(whole) > MOST_INPUTS:
        message = f"a shape is a list of whole numbers above 0, with at most {MOST_INPUTS} inputs in all"
        raise Fault(error("E138", message, shape.sizes.span))
    return tuple(whole)


def _outputs(space: ast.Space, clause: ast.SpaceClause | None) -> Names:
    if clause is None:
        message = f"space '{space.name}' has no outputs"
        raise Fault(error("E124", message, space.name.span, help="add 'outputs a, b, ...' or 'outputs 10'"))
    outputs = cast(ast.Outputs, clause)
    if outputs.count is None:
        return _unique(outputs.outputs, f"output of space '{space.name}'")
    text = outputs.count.text
    if not text.isdigit() or not 0 < len(text) <= 6 or int(text) == 0:
        raise Fault(error("E138", "the number of outputs is a whole number above 0", outputs.count.span))
    return tuple((str(i), None) for i in range(int(text)))


def _check_settings(kind: Normaliser, clause: ast.Normalise | ast.NormaliseFrom) -> None:
    if isinstance(clause, ast.NormaliseFrom):
        if kind == "none":
            raise Fault(error("E125", "'normalise none' takes no file", clause.path.span, help="leave the file out"))
        return
    needed = vocabulary.SCALER_KEYS.get(kind, ())
    seen: dict[str, ast.Setting] = {}
    for setting in clause.settings:
        key = setting.key.text
        if key not in needed:
            one_of = f"'{kind}' takes {' and '.join(needed)}" if needed else "'none' takes nothing"
            raise Fault(error("E103", f"unknown key '{key}' of normaliser '{kind}'", setting.key.span, help=one_of))
        if key in seen:
            label = Label(seen[key].key.span, "first here")
            raise Fault(error("E204", f"'{key}' is given twice", setting.key.span, label, help="leave one out"))
        seen[key] = setting
    missing = [key for key in needed if key not in seen]
    if missing:
        message = f"'normalise {kind}' has no '{missing[0]}'"
        hint = f"write 'normalise {kind} {' '.join(f'{k} [...]' for k in needed)}', or from \"scaler.json\""
        raise Fault(error("E125", message, clause.span, help=hint))


def _domain(clause: ast.Domain, features: Names | None, scope: Scope) -> tuple[Fraction, Fraction] | None:
    found = interval(clause.range, scope)
    if found is UNKNOWN:
        return None
    for unit in {f.unit for f in found if f.unit is not None}:
        for name, declared in features or ():
            require_unit(f"feature '{name}'", declared, unit, "domain", clause.range.span)
    return found[0].constant, found[1].constant


def interval(clause: ast.Range, scope: Scope) -> tuple[Form, Form] | Literal[values.Unknown.UNKNOWN]:
    """Both ends of a range; Fault E131 if it is empty."""
    low = values.number(clause.lower, scope)
    high = low if clause.upper is None else values.number(clause.upper, scope)
    if low is UNKNOWN or high is UNKNOWN:
        return UNKNOWN
    if low.constant > high.constant:
        message = f"empty range {shown(low.constant)} .. {shown(high.constant)}"
        raise Fault(error("E131", message, clause.span, help="swap the ends"))
    return low, high


def whole_range(clause: ast.Range, scope: Scope, what: str) -> tuple[int, int] | Literal[values.Unknown.UNKNOWN]:
    """A range of indices from 0; Fault E138 where an end is none."""
    found = interval(clause, scope)
    if found is UNKNOWN:
        return UNKNOWN
    for end in found:
        if end.constant.denominator != 1 or not 0 <= end.constant < 2**31 or end.unit is not None:
            message = f"a {what} is a whole number from 0, not {shown(end.constant)}"
            raise Fault(error("E138", message, clause.span))
    return int(found[0].constant), int(found[1].constant)


def require_unit(subject: str, declared: str | None, given: str | None, thing: str, span: Span) -> None:
    """Fault E130 unless a number given in a unit is in the unit of its feature or output."""
    if given is None or given == declared:
        return
    is_in = f"is in [{declared}]" if declared is not None else "has no unit"
    hint = "eqspec does not convert units; convert the number"
    if declared is None:
        hint = f"declare the unit behind the name: name [{given}]"
    raise Fault(error("E130", f"unit mismatch: {subject} {is_in}, {thing} is in [{given}]", span, help=hint))
