"""The networks of a spec: each file read once, checked against its space, with the normalisation folded in where it
takes raw inputs. A network that is derived from another one takes and gives what that does.

A file that ends in Softmax is read without it: its scores are logits. `gives logits` says that this is what is meant,
which a distance and an inequality need to be told (`eqspec.compile.score_findings`); of a file that gives logits by
itself it is true anyway. `gives probabilities` states that a file ends in Softmax, LogSoftmax or Sigmoid, and is an
error for any other: distances, inequalities and margins are then about what the file gives. Decisions and confidences
are the same for both, and are decided about the logits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eqspec.compile.derived_networks import calibration_rows, format_of, make
from eqspec.compile.input_order import order_finding
from eqspec.compile.label_findings import label_finding
from eqspec.compile.network_instance import Instance, dequantised
from eqspec.compile.scalers import Scaler
from eqspec.compile.table_rows import Tables
from eqspec.errors import (
    Diagnostic,
    DisagreementError,
    InputError,
    IntegerEndsError,
    Label,
    NetworkError,
    OpenSizesError,
    OutputChoiceError,
    UnsupportedOperatorError,
)
from eqspec.networks import (
    Arithmetic,
    Comparison,
    Dequantised,
    Network,
    comparison,
    compose_affine,
    in_float32,
    is_network_folder,
    of_two_classes,
    read_network,
    softened,
)
from eqspec.networks.containment import can_overflow, quantised
from eqspec.networks.deriving import Precision
from eqspec.property import Containment, Epsilon, NeverWraps, Property, exact
from eqspec.spec import ast, derivations, values
from eqspec.spec.check import CheckedSpec
from eqspec.spec.checks import CheckFacts
from eqspec.spec.findings import Fault, Findings, error, warning
from eqspec.spec.program import Binding
from eqspec.spec.source_files import locate
from eqspec.spec.spaces import SpaceFacts
from eqspec.spec.suggest import enumerate_names
from eqspec.spec.values import Form
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.score_meaning import ends_in_shares, ends_in_sigmoid, left_out

Array = NDArray[np.float64]
Reader: TypeAlias = Callable[..., Network]
"""Of a path; with `output` of one of its outputs, by name, with `dequantised` of the real numbers at its ends, with
`input_shape` of sizes that it leaves open."""
Function: TypeAlias = tuple[Path, str | None, Dequantised | None, tuple[int, ...] | None]
"""A file, the output that is chosen of it, if one is, what its integers stand for, and the shape of one sample, if the
file leaves it open; of a network without a file, what tells it from others.
"""
_MOST_BOXES = 4
"""The most boxes on which a network is compared with onnxruntime."""
_FEWEST = 3
"""The fewest points of a region by which it is judged: its centre and two corners, which come first."""


class Pair(NamedTuple):
    """The networks of a task."""

    candidate: Instance
    reference: Instance


class Networks:
    """Reads the networks of a checked spec, each file once; those that are given take the place of their files."""

    def __init__(
        self,
        spec: CheckedSpec,
        scalers: Mapping[Binding, Scaler],
        tables: Tables,
        findings: Findings,
        read: Reader = read_network,
        given: Mapping[Binding, Network] | None = None,
    ) -> None:
        self.spec, self._scalers, self._tables, self.findings = spec, scalers, tables, findings
        self._read, self._given = read, given or {}
        self._files: dict[Function, Network | NetworkError] = {}
        self._bound: dict[Instance, Network | None] = {}
        self._composed: dict[tuple[Function, Binding, Arithmetic, bool], Network] = {}
        self._with_tail: dict[Function, Network] = {}
        self._rounded: dict[Function, Network] = {}
        self._functions: dict[Instance, Function] = {}
        self._compared: dict[Function, tuple[Comparison, int]] = {}
        self._silent: set[Function] = set()
        self._rows: dict[tuple[object, ...], Array] = {}
        self._two_classes: dict[tuple[str, str], Network | None] = {}

    def as_given(self, instance: Instance) -> Network:
        """The network as its file has it, checked against its space; Fault if it cannot be used."""
        if instance not in self._bound:
            self._bound[instance] = None
            with self.findings.collecting():
                derived = derivations.is_derived(instance.binding)
                self._bound[instance] = self._derive(instance) if derived else self._load(instance)
        network = self._bound[instance]
        if network is None:
            raise Fault
        return network

    def in_network_units(
        self,
        instance: Instance,
        space: SpaceFacts,
        scaler: Scaler,
        arithmetic: Arithmetic = "real",
        *,
        probabilities: bool = False,
    ) -> Network:
        """The network as a function of normalised inputs, with what float32 rounds if that is the arithmetic.

        With `probabilities` it is what the file gives, where that is declared.
        """
        network = self.as_given(instance) if arithmetic == "real" else self._in_float32(instance)
        given = probabilities and instance.gives == "probabilities"
        if given:
            network = self._softened(instance, network)
        if not instance.takes_raw:
            return network
        key = (self._functions[instance], space.binding, arithmetic, given)
        if key not in self._composed:
            try:
                self._composed[key] = compose_affine(network, scaler.scale, scaler.centre)
            except (NetworkError, InputError) as problem:
                message = f"the normalisation cannot be put in front of '{instance.name}': {problem}"
                raise Fault(error("E210", message, instance.place)) from None
        return self._composed[key]

    def _softened(self, instance: Instance, network: Network) -> Network:
        if network.arithmetic == "float32":
            word = instance.declaration.gives
            message = f"probabilities of '{instance.name}' cannot be compared in float32"
            hint = "no standard says how runtimes round a Softmax: compare in 'real', or write 'gives logits'"
            raise Fault(error("E210", message, word.span if word else instance.declaration.span, help=hint))
        key = self._functions[instance]
        if key not in self._with_tail:
            self._with_tail[key] = softened(network)
        return self._with_tail[key]

    def _in_float32(self, instance: Instance) -> Network:
        network, key = self.as_given(instance), self._functions[instance]
        if key not in self._rounded:
            try:
                self._rounded[key] = in_float32(network)
            except NetworkError as problem:
                message = f"'{instance.name}' cannot be compared in float32: {problem.message}"
                raise Fault(error("E210", message, instance.place, help=problem.fix)) from None
        return self._rounded[key]

    def compare_on(self, instance: Instance, lower: Array, upper: Array, scaler: Scaler) -> None:
        """E211 where onnxruntime answers something else on a box of network units, W317 where it answers no numbers.

        The first boxes are looked at.
        """
        network, key = self.as_given(instance), self._functions[instance]
        compared, boxes = self._compared.get(key) or (comparison(network), 0)
        if boxes == _MOST_BOXES:
            return
        self._compared[key] = compared, boxes + 1
        if instance.takes_raw:
            centre, scale = (np.array([approximately(x) for x in xs]) for xs in (scaler.centre, scaler.scale))
            lower, upper = centre + scale * lower, centre + scale * upper
        try:
            silent = compared.within(lower, upper)
        except DisagreementError as problem:
            raise Fault(_unreadable(problem, problem.path, instance.declaration)) from None
        if silent >= _FEWEST and key not in self._silent:
            self._silent.add(key)
            at = f"at all {silent} points that were tried"
            message = f"onnxruntime answers infinity or NaN for '{instance.name}' {at}"
            message += ": the claim is about real numbers, which its floats do not hold"
            hint = "rescale its weights, or look whether the region is meant in other units"
            self.findings.add(warning("W317", message, instance.place, help=hint))

    def check_distance(self, facts: CheckFacts, pair: Pair, claim: Property) -> None:
        """W310 for a distance of 0 that no bound proves: not of the same output of the same file, and where `equals`
        says that it is meant, not of networks that both compute with whole numbers.
        """
        if not isinstance(claim, Epsilon) or exact(claim.eps):
            return
        networks = [self.as_given(instance) for instance in pair]
        if facts.arithmetic == "real":
            same = networks[0].identity == networks[1].identity
            if same or (isinstance(facts.claim, ast.Equals) and all(map(quantised, networks))):
                return
        span = facts.claim.eps.span if isinstance(facts.claim, ast.StaysWithin) else facts.claim.span
        message = "no bound is as tight as a distance of 0: it is proved by exact integers or not at all"
        hint = "leave it so where both networks compute with integers, else allow a small distance, such as 1e-6"
        self.findings.add(warning("W310", message, span, help=hint))

    def check_containment(self, facts: CheckFacts, pair: Pair, claim: Property) -> None:
        """W311 for a claim about types that holds of a network because it has none."""
        if not isinstance(claim, Containment):
            return
        wraps, word = isinstance(claim, NeverWraps), "wrap" if isinstance(claim, NeverWraps) else "saturate"
        if not can_overflow(self.as_given(pair.candidate), wraps=wraps):
            message = f"nothing in '{pair.candidate.name}' can {word}: the claim holds of any such network"
            hint = "give the network with the types that it is deployed in"
            self.findings.add(warning("W311", message, facts.claim.span, help=hint))

    def check_pair(self, facts: CheckFacts, pair: Pair) -> None:
        """E208 where probabilities would be compared with logits, W304 where both files are the same, W320 where their
        inputs or outputs are the same in another order, W321 where a file has labels by the other end of its scores.
        """
        if isinstance(facts.claim, ast.StaysWithin | ast.Equals | ast.Satisfies):
            said = {instance.gives: instance for instance in pair}
            if "probabilities" in said and "logits" in said:
                message = f"'{said['probabilities'].name}' gives probabilities, '{said['logits'].name}' gives logits"
                words = [said[kind].declaration.gives for kind in ("probabilities", "logits")]
                labels = [Label(word.span, "declared here") for word in words if word is not None]
                hint = "compare like with like: write the same behind both"
                raise Fault(error("E208", message, facts.claim.candidate.span, *labels, help=hint))
        first, second = self.as_given(pair.candidate), self.as_given(pair.reference)
        if (found := order_finding(facts, (pair.candidate, first), (pair.reference, second))) is not None:
            self.findings.add(found)
        decide = facts.subjects.space.decide
        if (found := label_finding(facts, decide, (pair.candidate, first), (pair.reference, second))) is not None:
            self.findings.add(found)
        if first.identity == second.identity and pair.candidate.takes_raw == pair.reference.takes_raw:
            alone = isinstance(facts.claim, ast.Satisfies | ast.Never)
            if alone and pair.candidate == pair.reference:
                return
            if facts.search is not None and pair.candidate == pair.reference:
                return  # as at the end of a search for a width, whose other values are compared with this one
            message = f"'{pair.candidate.name}' and '{pair.reference.name}' are the same file (sha256 equal)"
            span = facts.claim.candidate.span
            self.findings.add(warning("W304", message, span, help="is one of the paths wrong?"))

    def derivation(self, instance: Instance) -> tuple[Network, Precision, Array | None]:
        """What a derived network is made of: its reference, its precision, and the rows that it is calibrated on."""
        scope = self.spec.scope(instance.binding.module)
        reference = self.as_given(Instance(instance.file))
        space = derivations.space_of(instance.binding, self.spec.spaces)
        given = tuple(Form(value) for value in instance.values)
        said = derivations.precision(instance.binding, given, scope, self.findings)
        table = derivations.table(instance.binding, space, scope)
        if said is values.UNKNOWN or table is values.UNKNOWN:
            raise Fault
        if table is None:
            return reference, format_of(said), None
        if space.binding not in self._scalers or space.features is None:
            raise Fault
        key = (table.path, table.columns, table.module, instance.file)
        if key not in self._rows:
            scaler = self._scalers[space.binding]
            self._rows[key] = calibration_rows(table, self._tables, space.features, scaler, raw=instance.takes_raw)
        return reference, format_of(said), self._rows[key]

    def _derive(self, instance: Instance) -> Network:
        reference, precision, rows = self.derivation(instance)
        network = make(reference, precision, rows, instance.name, instance.place)
        self._functions[instance] = Path(f"{network.source}:{network.sha256}"), network.output_name, None, None
        return network

    def _load(self, instance: Instance) -> Network:
        binding, declaration = instance.binding, instance.declaration
        written = values.text(declaration.path, self.spec.scope(binding.module))
        if written is values.UNKNOWN:
            raise Fault
        module = binding.module
        chosen: str | None = None
        if declaration.output is not None:
            said = values.text(declaration.output, self.spec.scope(binding.module))
            if said is values.UNKNOWN:
                raise Fault
            chosen = said
        network = self._given.get(binding)
        if network is None:
            path = locate(written, module.directory, module.source.name, declaration.path.span, is_network_folder)
            network = self._file(instance, path, written, chosen)
        else:
            key = Path(f"{network.source}:{network.sha256}"), f"{network.output_name}{network.fixed or ''}"
            self._functions[instance] = *key, network.dequantised, None
            if (network.dequantised is not None) != instance.dequantised:
                message = f"the network that is given for '{binding.name}' is {_ends(network.dequantised)}"
                hint = "declare it so, or give eqspec.as_network(model, dequantised=eqspec.Dequantised())"
                place = declaration.dequantised or declaration.path
                raise Fault(error("E215", message, place.span, help=hint))
            if chosen not in (None, network.output_name) and declaration.output is not None:
                message = (
                    f"the network that is given for '{binding.name}' is output {network.output_name!r} of its file"
                )
                hint = f"give eqspec.as_network(model, output={chosen!r})"
                raise Fault(error("E212", message, declaration.output.span, help=hint))
        space_binding = module.get("space", declaration.space)
        if space_binding not in self.spec.spaces:
            raise Fault
        space = self.spec.spaces[space_binding]
        network = self._for_outputs(instance, network, len(space.outputs))
        _check_sizes(network, declaration, space)
        _check_scores(network, declaration)
        return network

    def _integer_ends(self, instance: Instance) -> Dequantised | None:
        return dequantised(instance.declaration, self.spec.scope(instance.file.module))

    def _for_outputs(self, instance: Instance, network: Network, outputs: int) -> Network:
        """A network for a space of so many outputs: where that has two, one output that is a Sigmoid is two classes."""
        if outputs != 2 or network.output_size != 1 or not ends_in_sigmoid(network):
            return network
        if network.identity not in self._two_classes:
            self._two_classes[network.identity] = of_two_classes(network)
        found = self._two_classes[network.identity]
        if found is None:
            return network
        self._functions[instance] = Path(f"{found.source}:{found.sha256}"), found.output_name, None, None
        return found

    def _file(self, instance: Instance, path: Path, written: str, chosen: str | None) -> Network:
        ends = self._integer_ends(instance)
        network, shape = self._read_once((path.resolve(), chosen, ends, None), path), None
        if isinstance(network, OpenSizesError) and (shape := self._sample(instance)) is not None:
            network = self._read_once((path.resolve(), chosen, ends, shape), path)
        self._functions[instance] = path.resolve(), chosen, ends, shape
        if isinstance(network, NetworkError):
            raise Fault(_unreadable(network, written, instance.declaration))
        return network

    def _read_once(self, key: Function, path: Path) -> Network | NetworkError:
        """What reading a file gives; a network, or what is wrong with it."""
        if key not in self._files:
            named = dict(zip(("output", "dequantised", "input_shape"), key[1:], strict=True))
            try:
                self._files[key] = self._read(path, **{name: said for name, said in named.items() if said is not None})
            except NetworkError as problem:
                self._files[key] = problem
        return self._files[key]

    def _sample(self, instance: Instance) -> tuple[int, ...] | None:
        """The shape of one sample in the space of a network, or how many features that has."""
        space = self.spec.spaces.get(instance.file.module.get("space", instance.declaration.space))
        if space is None or space.features is None:
            return None
        return space.shape or (len(space.features),)


def _ends(dequantised: Dequantised | None) -> str:
    return "not dequantised, and is declared so" if dequantised is None else "dequantised, and is not declared so"


def _unreadable(problem: NetworkError, written: str, declaration: ast.Network) -> Diagnostic:
    """E207 for an operator that is not supported, E211 where onnxruntime answers something else, E212 for an output
    that has to be chosen or is not there, E215 for integers that cannot be dequantised, E210 for anything else that is
    wrong with a file.
    """
    span = declaration.path.span
    hint = problem.fix or f"run 'eqspec inspect {written}'"
    if isinstance(problem, UnsupportedOperatorError):
        message = f"operator '{problem.operator}' (node '{problem.node}' of '{written}') is not supported"
        return error("E207", message, span, help=hint)
    if isinstance(problem, DisagreementError):
        return error("E211", f"'{written}' cannot be relied on: {problem.message}", span, help=hint)
    if isinstance(problem, OutputChoiceError):
        place = span if declaration.output is None else declaration.output.span
        return error("E212", f"cannot read '{written}': {problem.message}", place, help=hint)
    if isinstance(problem, IntegerEndsError):
        place = span if declaration.dequantised is None else declaration.dequantised.span
        return error("E215", f"'{written}': {problem.message}", place, help=hint)
    at = "" if problem.operator is None else f" (operator '{problem.operator}', node '{problem.node}')"
    return error("E210", f"cannot read '{written}': {problem.message}{at}", span, help=hint)


def _check_sizes(network: Network, declaration: ast.Network, space: SpaceFacts) -> None:
    """E201 unless a network has the inputs and outputs of its space."""
    hint = f"is this the right file? sha256 {network.sha256[:8]}..."
    if network.is_chain:
        last = network.layers[-1].weight.shape
        hint += f", last layer {last[1]} -> {last[0]}"
    sizes = (
        ("output", network.output_size, space.outputs, network.output_name, network.output_shape),
        ("input", network.input_size, space.features or (), network.input_name, network.input_shape),
    )
    for what, count, names, tensor, shape in sizes:
        if count != len(names):
            here = Label(
                declaration.path.span, f"{what} '{tensor}' has shape [{', '.join(map(str, shape))}] in this file"
            )
            declared = f"{len(names)} {what}{'s' * (len(names) != 1)}: {enumerate_names((n for n, _ in names), 8)}"
            there = Label(declaration.space.span, f"space '{space.name}' declares {declared}")
            message = (
                f"network '{declaration.name}' does not fit: {count} {what}{'s' * (count != 1)} against {len(names)}"
            )
            raise Fault(error("E201", message, declaration.path.span, here, there, help=hint))


def _check_scores(network: Network, declaration: ast.Network) -> None:
    """E206: probabilities end in Softmax, LogSoftmax or Sigmoid, or in levels from 0 to 1; logits in no Sigmoid and no
    inner Softmax, which are read as they stand.
    """
    word = declaration.gives
    if word is None or left_out(network) is not None:
        return
    label = Label(declaration.path.span, "this file")
    if word.text == "logits" and ends_in_sigmoid(network):
        message = f"'{declaration.name}' ends in Sigmoid, which is not left out, but is declared 'gives logits'"
        fix = "write 'gives probabilities', or export it without the Sigmoid"
        raise Fault(error("E206", message, word.span, label, help=fix))
    if word.text == "logits" and network.kept_softmax is not None:
        message = f"{network.kept_softmax} is not left out, but '{declaration.name}' is declared 'gives logits'"
        fix = "leave 'gives' out to compare what the file gives, or export it without what stands behind the Softmax"
        raise Fault(error("E206", message, word.span, label, help=fix))
    if word.text == "probabilities" and not ends_in_sigmoid(network) and not ends_in_shares(network):
        message = f"'{declaration.name}' does not end in Softmax but is declared 'gives probabilities'"
        raise Fault(error("E206", message, word.span, label, help="write 'gives logits', or leave 'gives' out"))
