"""The files that stand behind the networks of a query, and whether they fit.

A 1.0 file is about one network. Given two files, its Y are the outputs of the first network and then of the second,
which both get X; that is what `eqspec export` writes for Top-1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from eqspec.errors import OpenSizesError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Network
from eqspec.spec.findings import Fault, error
from eqspec.spec.suggest import did_you_mean, enumerate_names
from eqspec.vnnlib.query import All, Assertion, Comparison, Declared, Element, Formula, Query, Some, Tensor, compare

Reader = Callable[..., Network]


@dataclass(frozen=True, eq=False)
class Bound:
    """A network of the query: its name, its file, and what was read from it; None where no file was given."""

    name: str
    path: Path | None
    network: Network | None


@dataclass(frozen=True, eq=False)
class Subject:
    """A query and its networks, in the same order."""

    query: Query
    networks: tuple[Bound, ...]

    @property
    def inputs(self) -> int:
        """How many inputs there are."""
        first = self.query.networks[0].input
        assert first is not None
        return first.size

    @property
    def outputs(self) -> int:
        """How many outputs each network has."""
        return self.query.networks[0].output.size


def bind(query: Query, files: Mapping[str, Path], read: Reader) -> Subject:
    """Find the file of each network. Fault E605 where they do not fit, NetworkError where one cannot be read."""
    whole = query.assertions[0].span
    if len(query.networks) > 2:
        message = f"this file declares {len(query.networks)} networks; one, or a pair, is supported"
        raise Fault(error("E603", message, query.networks[2].span))
    if query.version == "1.0":
        if len(files) > 2:
            raise Fault(error("E605", f"{len(files)} networks are given for a 1.0 file", whole, help="give 1 or 2"))
        given = query.networks[0].input
        bound = [Bound(name, path, _read(path, read, given)) for name, path in files.items()]
        bound = bound or [Bound("f", None, None)]
        return _checked(_side_by_side(query, bound), bound)
    names = [declared.name for declared in query.networks]
    for name in files:
        if name not in names:
            hint = did_you_mean(name, names) or f"declared: {enumerate_names(names)}"
            raise Fault(error("E605", f"a file is given for '{name}', which is not declared", whole, help=hint))
    bound = []
    for declared in query.networks:
        path = files.get(declared.name)
        if path is None and declared.like is not None and declared.like[0] == "equal-to":
            path = bound[declared.like[1]].path
        bound.append(Bound(declared.name, path, None if path is None else _read(path, read, declared.input)))
    return _checked(query, bound)


def _read(path: Path, read: Reader, given: Tensor | None) -> Network:
    """The network of a file, with the sizes that are declared where the file leaves some open."""
    try:
        return read(str(path))
    except OpenSizesError:
        if given is None:
            raise
        return read(str(path), input_shape=given.shape)


def _side_by_side(query: Query, bound: Sequence[Bound]) -> Query:
    """The query of a 1.0 file over the networks that are given."""
    one = query.networks[0]
    first = bound[0].network
    named = replace(one, name=bound[0].name)
    if first is not None and not one.output.size:  # a file about inputs alone
        named = replace(named, output=replace(one.output, shape=(first.output_size,)))
    if len(bound) == 1:
        return replace(query, networks=(named,))
    assert first is not None
    size = one.output.size
    if size not in (0, 2 * first.output_size):
        message = (
            f"{size} outputs are declared; two networks of {first.output_size} outputs have {2 * first.output_size}"
        )
        raise Fault(error("E605", message, one.output.span))
    half = first.output_size
    outputs = [Tensor("Y", (half,), "real", one.output.span)] * 2
    networks = (replace(named, output=outputs[0]), Declared(bound[1].name, None, outputs[1], None, one.span))

    def moved(formula: Formula) -> Formula:
        match formula:
            case All(parts):
                return All(tuple(moved(part) for part in parts))
            case Some(parts):
                return Some(tuple(moved(part) for part in parts))
            case Comparison():
                terms = {tuple(sorted(map(place, m))): c for m, c in formula.terms}
                return compare(terms, formula.relation, formula.bound, formula.span)

    def place(element: Element) -> Element:
        beyond = element.output and element.entry >= half
        return Element(1, True, element.entry - half) if beyond else element

    assertions = tuple(Assertion(moved(a.formula), a.span) for a in query.assertions)
    return replace(query, networks=networks, assertions=assertions)


def _checked(query: Query, bound: Sequence[Bound]) -> Subject:
    for declared, found in zip(query.networks, bound, strict=True):
        if found.network is None:
            continue
        if not found.network.alone:
            message = f"'{found.path}' has several inputs or outputs, or operators of another domain"
            raise Fault(error("E605", message, declared.span, help="give a file of one input and one output"))
        ports = [port.name for port in found.network.ports]  # none of a file that is no ONNX file
        outputs = [found.network.output_name] if ports else []
        for what, tensor, names, size, shape in (
            ("input", declared.input, ports, found.network.input_size, found.network.input_shape),
            ("output", declared.output, outputs, found.network.output_size, found.network.output_shape),
        ):
            if tensor is not None and tensor.node is not None and names and tensor.node not in names:
                message = f"'{tensor.name}' is '{tensor.node}' of '{found.path}', whose {what} is '{names[0]}'"
                raise Fault(error("E605", message, tensor.span, help=f"only its {what} can be declared so"))
            if tensor is not None and tensor.size != size:
                message = f"'{tensor.name}' has {tensor.size} entries, but the {what} of '{found.path}' has {size}"
                raise Fault(error("E605", message, tensor.span, help="is this the right file?"))
            if tensor is not None and _arranged_otherwise(tensor.shape, shape):
                message = f"'{tensor.name}' is declared {list(tensor.shape)}, but the {what} of '{found.path}' is "
                message += f"{list(shape)}: entries of one are not those of the other"
                raise Fault(error("E605", message, tensor.span, help="declare the shape of the file"))
        relation = declared.like
        if relation is not None and relation[0] == "equal-to":
            other = bound[relation[1]]
            if other.network is not None and other.network.identity != found.network.identity:
                message = f"'{found.name}' is declared equal to '{other.name}', but its file is another one"
                raise Fault(error("E605", message, declared.span))
    sizes = {declared.output.size for declared in query.networks}
    if len(sizes) > 1:
        message = f"the networks have {' and '.join(map(str, sorted(sizes)))} outputs: they do not compare"
        raise Fault(error("E605", message, query.networks[1].output.span))
    if sizes == {0}:
        message = "no outputs are declared: give the network, so that their number is known"
        raise Fault(error("E605", message, query.assertions[0].span, help="--network f=FILE"))
    return Subject(query, tuple(bound))


def _arranged_otherwise(declared: Sequence[int], shape: Sequence[int | str]) -> bool:
    """Whether both shapes have several axes, and not the same ones.

    Axes of size 1 and the batch do not matter, nor do they where one of both is a plain list of all entries, as of a
    1.0 file: it lists them in C order.
    """
    axes = [size for size in declared if size != 1]
    found = [size for size in shape if size != 1 and not isinstance(size, str)]
    return len(axes) > 1 and len(found) > 1 and axes != found
