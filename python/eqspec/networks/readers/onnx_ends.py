"""Which output of a graph is read, and which nodes and inputs it needs.

A file may have several outputs. One that is chosen by name is read. Without a name, those are left alone that say
nothing of the network's function: what is constant, what only hands an input on (the state of a policy without
memory), and what is no tensor of floating-point numbers (the label of a classifier). If one is left, it is read; if
several are, nobody but the user can tell which one a claim is about, and the file is refused with their names. A
dictionary of probabilities (`ZipMap`) stands for the tensor that it is made of. The name may also be that of a value in
the graph. A model whose only output is a label, the place of a largest or smallest number, is refused with the name of
these numbers: distances between labels and between numbers are different claims, and whether the largest or the
smallest decides is said by the space.

Everything that is left alone is said in a note. Nodes come out in an order in which each stands behind those it reads:
an ONNX file should have them so, but runtimes sort them, and some exporters and editors rely on that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import NoReturn

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from eqspec.errors import CHOOSE_OUTPUT, CHOOSE_OUTPUT_BY_NAME, OutputChoiceError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.onnx_tensor import FLOATS
from eqspec.networks.readers import onnx_labels

_INPUTS_WITH_VALUES = 4
"""The version of the file format from which on a value of the file that is also an input may be fed."""
_HANDS_ON = frozenset({
    "Cast", "Concat", "Constant", "ConstantOfShape", "Dropout", "Expand", "Flatten", "Gather", "Identity", "Reshape",
    "Shape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze",
})  # fmt: skip
"""Operators that hand on their input unchanged."""


@dataclass(frozen=True, eq=False)
class Ends:
    """The output that is read: its value, its declaration, the nodes that it needs in order, and notes for the user."""

    output: str
    declared: ValueInfoProto
    nodes: tuple[NodeProto, ...]
    notes: tuple[str, ...]
    label: onnx_labels.End | None = None
    """Where labels of the file stand for the largest or the smallest of what is read, which of both."""


def find(path: str, graph: GraphProto, output: str | None) -> Ends:
    """The output of this name, or the only one that a claim can be about. Raises OutputChoiceError."""
    makers = {name: node for node in graph.node for name in node.output if name}
    notes: list[str] = []
    if output is None:
        chosen = _only(path, graph, makers, notes)
    else:
        named = {value.name: value for value in graph.output}
        if output not in named and output in makers:
            named[output] = ValueInfoProto(name=output)
            notes.append(f"{output!r} is a value inside of the graph, and is read as its output")
        if output not in named:
            known = ", ".join(repr(name) for name in [*named][:12])
            raise OutputChoiceError(
                path, f"it has no output {output!r}; its outputs are {known}", fix="choose one of them"
            )
        chosen = named[output]
        if len(named) > 1:
            notes.append(f"output {output!r} is read; {_listed([n for n in named if n != output])} left alone")
    name, declared = chosen.name, chosen
    if (made := makers.get(name)) is not None and made.op_type == "ZipMap" and len(made.input) == 1:
        name, declared = made.input[0], ValueInfoProto(name=made.input[0])
        notes.append(f"output {chosen.name!r} is a dictionary by class: its numbers are read, in the order of the file")
    elif declared.type.WhichOneof("value") not in (None, "tensor_type"):
        _refuse_list(path, name, makers.get(name))
    if output is None and (scores := onnx_labels.scores_of(name, makers)) is not None:
        raise OutputChoiceError(
            path,
            f"output {name!r} is a label: a place among the numbers {scores!r}",
            fix=f"compare these: 'output \"{scores}\"' behind the network in a spec, --network-output {scores!r} on the"
            f" command line, output=\"{scores}\" in Python; 'decide min' in the space where the smallest decides",
        )
    label = onnx_labels.deciding_end((value.name for value in graph.output), name, makers)
    return Ends(name, declared, tuple(needed(graph.node, name)), tuple(notes), label)


def _refuse_list(path: str, name: str, made: NodeProto | None) -> NoReturn:
    inside = [] if made is None or made.op_type != "SequenceConstruct" else [repr(one) for one in made.input[:6]]
    known = f", for instance {' or '.join(inside)}" if inside else ""
    message = f"output {name!r} is no tensor but a list of them, or a dictionary"
    raise OutputChoiceError(path, message, fix=f"choose a tensor of the graph{known}: {CHOOSE_OUTPUT_BY_NAME}")


def _only(path: str, graph: GraphProto, makers: dict[str, NodeProto], notes: list[str]) -> ValueInfoProto:
    """The one output that is left without those that say nothing of the function."""
    outputs: list[ValueInfoProto] = list(graph.output)
    if len(outputs) == 1:
        return outputs[0]
    given = {value.name for value in graph.input} - {tensor.name for tensor in graph.initializer}
    tests: tuple[tuple[str, Callable[[ValueInfoProto], bool]], ...] = (
        ("no floating-point numbers, such as a label", lambda value: not _is_real(value, makers)),
        ("constant", lambda value: not _depends(value.name, makers, given)),
        ("an input that is handed on", lambda value: _hands_on(value.name, makers)),
    )
    for reason, says_nothing in tests:
        silent = [value for value in outputs if says_nothing(value)]
        if silent and len(silent) < len(outputs):
            outputs = [value for value in outputs if value not in silent]
            notes.append(f"{_listed([v.name for v in silent])} left alone: {reason}")
    first = outputs[0]
    if len({_source(value.name, makers) for value in outputs}) > 1:
        names = ", ".join(repr(value.name) for value in outputs[:12])
        raise OutputChoiceError(path, f"the model has {len(outputs)} outputs ({names})", fix=CHOOSE_OUTPUT)
    if len(outputs) > 1:
        notes.append(f"{_listed([v.name for v in outputs[1:]])} left alone: the same as {first.name!r}")
    return first


def stored_inputs(model: ModelProto, nodes: Iterable[NodeProto]) -> Iterator[str]:
    """A note on inputs with a value in the file, which a runtime takes as long as it is fed no other one.

    Before version 4 of the file format every stored value was listed as an input, and none may be fed.
    """
    stored = {tensor.name for tensor in model.graph.initializer}
    read = {name for node in nodes for name in names_read(node)}
    names = [value.name for value in model.graph.input if value.name in stored & read]
    if names and model.ir_version >= _INPUTS_WITH_VALUES:
        what = _listed(names, "input")
        yield f"{what} read as stored in the file: a program that feeds something else there runs another network"


def _listed(names: Sequence[str], kind: str = "output") -> str:
    shown = ", ".join(repr(name) for name in names[:6]) + (", ..." if len(names) > 6 else "")
    return f"{kind} {shown} is" if len(names) == 1 else f"{kind}s {shown} are"


def _is_real(value: ValueInfoProto, makers: dict[str, NodeProto]) -> bool:
    """Whether an output holds floating-point numbers, or the dictionary of a classifier; if unsaid, it is taken to."""
    made = makers.get(value.name)
    if made is not None and made.op_type == "ZipMap":
        return True
    if not value.type.HasField("tensor_type"):
        return value.type.WhichOneof("value") is None
    return value.type.tensor_type.elem_type in (TensorProto.UNDEFINED, *FLOATS)


def _depends(name: str, makers: dict[str, NodeProto], given: set[str]) -> bool:
    """Whether an output depends on an input of the model."""
    return name in given or any(given & set(names_read(node)) for node in _behind(name, makers))


def _hands_on(name: str, makers: dict[str, NodeProto]) -> bool:
    return all(node.op_type in _HANDS_ON for node in _behind(name, makers))


def _source(name: str, makers: dict[str, NodeProto]) -> str:
    """The value that an output is, if it has another name."""
    seen = set[str]()
    while (node := makers.get(name)) is not None and node.op_type == "Identity" and node.input and name not in seen:
        seen.add(name)
        name = node.input[0]
    return name


def _behind(name: str, makers: dict[str, NodeProto]) -> Iterator[NodeProto]:
    """Every node that a value depends on, once."""
    seen, waiting = set[int](), [name]
    while waiting:
        node = makers.get(waiting.pop())
        if node is not None and id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting.extend(names_read(node))


def names_read(node: NodeProto) -> list[str]:
    """The names that a node reads, also inside of its branches and bodies."""
    names = [name for name in node.input if name]
    for graph in inner_graphs(node):
        names += [output.name for output in graph.output]
        for inner in graph.node:
            names += names_read(inner)
    return names


def inner_graphs(node: NodeProto) -> list[GraphProto]:
    """The branches and bodies of a node."""
    found: list[GraphProto] = []
    for attribute in node.attribute:
        found += [attribute.g] if attribute.type == AttributeProto.GRAPH else attribute.graphs
    return found


def all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Nodes, and those of the graphs inside of them."""
    for node in nodes:
        yield node
        for graph in inner_graphs(node):
            yield from all_nodes(graph.node)


def in_a_cycle(nodes: Sequence[NodeProto]) -> tuple[NodeProto, str] | None:
    """A node, with a value that it reads, where that value depends on the node; of nodes in the order of `needed`."""
    left = {name for node in nodes for name in node.output if name}
    for node in nodes:
        for name in names_read(node):
            if name in left:
                return node, name
        left.difference_update(node.output)
    return None


def needed(nodes: Sequence[NodeProto], output: str) -> list[NodeProto]:
    """The nodes that a value depends on, each behind those it reads, else as the file has them.

    Those of a cycle, and what depends on it, come last (`in_a_cycle`).
    """
    makers = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    found: dict[int, set[int]] = {}
    waiting = [makers[output]] if output in makers else []
    while waiting:
        index = waiting.pop()
        if index not in found:
            found[index] = {makers[name] for name in names_read(nodes[index]) if name in makers}
            waiting.extend(found[index])
    readers: dict[int, list[int]] = {index: [] for index in found}
    for index, sources in found.items():
        for source in sources:
            readers[source].append(index)
    open_sources = {index: len(sources) for index, sources in found.items()}
    ready = [index for index, count in open_sources.items() if count == 0]
    heapify(ready)
    ordered: list[int] = []
    while ready:
        index = heappop(ready)
        ordered.append(index)
        for reader in readers[index]:
            open_sources[reader] -= 1
            if open_sources[reader] == 0:
                heappush(ready, reader)
    placed = set(ordered)
    return [nodes[index] for index in [*ordered, *sorted(set(found) - placed)]]
