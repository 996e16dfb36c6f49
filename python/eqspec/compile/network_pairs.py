"""The networks of a spec: each file read once, checked against its space, with the normalisation folded in where it
takes raw inputs.

A file that ends in Softmax is read without it: its scores are logits. `gives logits` says that this is what is meant,
which a distance and an inequality need to be told (`eqspec.compile.score_findings`); of a file that gives logits by
itself it is true anyway. `gives probabilities` states that a file ends in Softmax, LogSoftmax or Sigmoid, and is an
error for any other: distances, inequalities and margins are then about what the file gives. Decisions and confidences
are the same for both, and are decided about the logits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from eqspec.compile.scalers import Scaler
from eqspec.errors import (
    Diagnostic,
    DisagreementError,
    InputError,
    Label,
    NetworkError,
    OutputChoiceError,
    UnsupportedOperatorError,
)
from eqspec.networks import (
    Arithmetic,
    Comparison,
    Network,
    comparison,
    compose_affine,
    in_float32,
    is_network_folder,
    read_network,
    softened,
)
from eqspec.networks.containment import can_overflow, quantised
from eqspec.networks.curves import Curve, Curves
from eqspec.property import Containment, Epsilon, NeverWraps, Property, exact
from eqspec.spec import ast, values
from eqspec.spec.check import CheckedSpec
from eqspec.spec.checks import CheckFacts
from eqspec.spec.findings import Fault, Findings, error, warning
from eqspec.spec.program import Binding
from eqspec.spec.source_files import locate
from eqspec.spec.spaces import SpaceFacts
from eqspec.spec.suggest import enumerate_names
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.score_meaning import left_out

Array = NDArray[np.float64]
Reader: TypeAlias = Callable[..., Network]
"""Of a path, and with `output` of one of a file's outputs by its name."""
Function: TypeAlias = tuple[Path, str | None]
"""A file, and the output that is chosen of it, if one is."""
_MOST_BOXES = 4
"""Of a network that are compared with onnxruntime."""


class Networks:
    """Reads the networks of a checked spec, each file once; those that are given take the place of their files."""

    def __init__(
        self,
        spec: CheckedSpec,
        findings: Findings,
        read: Reader = read_network,
        given: Mapping[Binding, Network] | None = None,
    ) -> None:
        self.spec, self.findings, self._read, self._given = spec, findings, read, given or {}
        self._files: dict[Function, Network | NetworkError] = {}
        self._bound: dict[Binding, Network | None] = {}
        self._composed: dict[tuple[Function, Binding, Arithmetic, bool], Network] = {}
        self._with_tail: dict[Function, Network] = {}
        self._rounded: dict[Function, Network] = {}
        self._functions: dict[Binding, Function] = {}
        self._compared: dict[Function, tuple[Comparison, int]] = {}

    def as_given(self, binding: Binding) -> Network:
        """The network as its file has it, checked against its space; Fault if it cannot be used."""
        if binding not in self._bound:
            self._bound[binding] = None
            with self.findings.collecting():
                self._bound[binding] = self._load(binding)
        network = self._bound[binding]
        if network is None:
            raise Fault
        return network

    def in_network_units(
        self,
        binding: Binding,
        space: SpaceFacts,
        scaler: Scaler,
        arithmetic: Arithmetic = "real",
        *,
        probabilities: bool = False,
    ) -> Network:
        """The network as a function of normalised inputs, with what float32 rounds if that is the arithmetic.

        With `probabilities` it is what the file gives, where that is declared.
        """
        network = self.as_given(binding) if arithmetic == "real" else self._in_float32(binding)
        given = probabilities and gives(binding) == "probabilities"
        if given:
            network = self._softened(binding, network)
        if not takes_raw(binding):
            return network
        key = (self._functions[binding], space.binding, arithmetic, given)
        if key not in self._composed:
            try:
                self._composed[key] = compose_affine(network, scaler.scale, scaler.centre)
            except (NetworkError, InputError) as problem:
                declaration = cast(ast.Network, binding.declaration)
                message = f"the normalisation cannot be put in front of '{binding.name}': {problem}"
                raise Fault(error("E210", message, declaration.path.span)) from None
        return self._composed[key]

    def _softened(self, binding: Binding, network: Network) -> Network:
        if network.arithmetic == "float32":
            word = cast(ast.Network, binding.declaration).gives
            message = f"probabilities of '{binding.name}' cannot be compared in float32"
            hint = "no standard says how runtimes round a Softmax: compare in 'real', or write 'gives logits'"
            raise Fault(error("E210", message, word.span if word else binding.declaration.span, help=hint))
        key = self._functions[binding]
        if key not in self._with_tail:
            self._with_tail[key] = softened(network)
        return self._with_tail[key]

    def _in_float32(self, binding: Binding) -> Network:
        network, key = self.as_given(binding), self._functions[binding]
        if key not in self._rounded:
            try:
                self._rounded[key] = in_float32(network)
            except NetworkError as problem:
                declaration = cast(ast.Network, binding.declaration)
                message = f"'{binding.name}' cannot be compared in float32: {problem.message}"
                raise Fault(error("E210", message, declaration.path.span, help=problem.fix)) from None
        return self._rounded[key]

    def compare_on(self, binding: Binding, lower: Array, upper: Array, scaler: Scaler) -> None:
        """E211 where onnxruntime answers something else on a box of network units; the first boxes are looked at."""
        network, key = self.as_given(binding), self._functions[binding]
        compared, boxes = self._compared.get(key) or (comparison(network), 0)
        if boxes == _MOST_BOXES:
            return
        self._compared[key] = compared, boxes + 1
        if takes_raw(binding):
            centre, scale = (np.array([approximately(x) for x in xs]) for xs in (scaler.centre, scaler.scale))
            lower, upper = centre + scale * lower, centre + scale * upper
        try:
            compared.within(lower, upper)
        except DisagreementError as problem:
            declaration = cast(ast.Network, binding.declaration)
            raise Fault(_unreadable(problem, problem.path, declaration)) from None

    def check_distance(self, facts: CheckFacts, claim: Property) -> None:
        """W310 for a distance of 0 that no bound proves: not of the same output of the same file, and where `equals`
        says that it is meant, not of networks that both compute with whole numbers.
        """
        if not isinstance(claim, Epsilon) or exact(claim.eps):
            return
        pair = [self.as_given(binding) for binding in (facts.subjects.candidate, facts.subjects.reference)]
        if facts.arithmetic == "real":
            same = pair[0].identity == pair[1].identity
            if same or (isinstance(facts.claim, ast.Equals) and all(map(quantised, pair))):
                return
        span = facts.claim.eps.span if isinstance(facts.claim, ast.StaysWithin) else facts.claim.span
        message = "no bound is as tight as a distance of 0: it is proved by exact integers or not at all"
        hint = "leave it so where both networks compute with integers, else allow a small distance, such as 1e-6"
        self.findings.add(warning("W310", message, span, help=hint))

    def check_containment(self, facts: CheckFacts, claim: Property) -> None:
        """W311 for a claim about types that holds of a network because it has none."""
        if not isinstance(claim, Containment):
            return
        wraps, word = isinstance(claim, NeverWraps), "wrap" if isinstance(claim, NeverWraps) else "saturate"
        if not can_overflow(self.as_given(facts.subjects.candidate), wraps=wraps):
            message = f"nothing in '{facts.subjects.candidate.name}' can {word}: the claim holds of any such network"
            hint = "give the network with the types that it is deployed in"
            self.findings.add(warning("W311", message, facts.claim.span, help=hint))

    def check_pair(self, facts: CheckFacts) -> None:
        """E208 where probabilities would be compared with logits, W304 where both files are the same."""
        subjects = facts.subjects
        if isinstance(facts.claim, ast.StaysWithin | ast.Equals | ast.Satisfies):
            said = {gives(binding): binding for binding in (subjects.candidate, subjects.reference)}
            if "probabilities" in said and "logits" in said:
                message = f"'{said['probabilities'].name}' gives probabilities, '{said['logits'].name}' gives logits"
                words = [cast(ast.Network, said[kind].declaration).gives for kind in ("probabilities", "logits")]
                labels = [Label(word.span, "declared here") for word in words if word is not None]
                hint = "compare like with like: write the same behind both"
                raise Fault(error("E208", message, facts.claim.candidate.span, *labels, help=hint))
        first, second = self.as_given(subjects.candidate), self.as_given(subjects.reference)
        if first.identity == second.identity and takes_raw(subjects.candidate) == takes_raw(subjects.reference):
            alone = isinstance(facts.claim, ast.Satisfies | ast.Never)
            if alone and subjects.candidate is subjects.reference:
                return
            message = f"'{subjects.candidate.name}' and '{subjects.reference.name}' are the same file (sha256 equal)"
            span = facts.claim.candidate.span
            self.findings.add(warning("W304", message, span, help="is one of the paths wrong?"))

    def _load(self, binding: Binding) -> Network:
        declaration = cast(ast.Network, binding.declaration)
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
            network = self._file(binding, path, written, chosen)
        else:
            self._functions[binding] = Path(f"{network.source}:{network.sha256}"), network.output_name
            if chosen not in (None, network.output_name) and declaration.output is not None:
                message = (
                    f"the network that is given for '{binding.name}' is output {network.output_name!r} of its file"
                )
                hint = f"give eqspec.as_network(model, output={chosen!r})"
                raise Fault(error("E212", message, declaration.output.span, help=hint))
        space_binding = module.get("space", declaration.space)
        if space_binding not in self.spec.spaces:
            raise Fault
        _check_sizes(network, declaration, self.spec.spaces[space_binding])
        _check_scores(network, declaration)
        return network

    def _file(self, binding: Binding, path: Path, written: str, chosen: str | None) -> Network:
        self._functions[binding] = key = path.resolve(), chosen
        if key not in self._files:
            try:
                self._files[key] = self._read(path) if chosen is None else self._read(path, output=chosen)
            except NetworkError as problem:
                self._files[key] = problem
        network = self._files[key]
        if isinstance(network, NetworkError):
            raise Fault(_unreadable(network, written, cast(ast.Network, binding.declaration)))
        return network


def gives(binding: Binding) -> str | None:
    """What a network is declared to give."""
    word = cast(ast.Network, binding.declaration).gives
    return None if word is None else word.text


def takes_raw(binding: Binding) -> bool:
    """Whether the file has the normalisation inside."""
    word = cast(ast.Network, binding.declaration).takes
    return word is not None and word.text == "raw"


def _unreadable(problem: NetworkError, written: str, declaration: ast.Network) -> Diagnostic:
    """E207 for an operator that is not supported, E211 where onnxruntime answers something else, E212 for an output
    that has to be chosen or is not there, E210 for anything else that is wrong with a file.
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
            declared = f"{len(names)} {what}s: {enumerate_names((n for n, _ in names), 8)}"
            there = Label(declaration.space.span, f"space '{space.name}' declares {declared}")
            message = f"network '{declaration.name}' does not fit: {count} {what}s against {len(names)}"
            raise Fault(error("E201", message, declaration.path.span, here, there, help=hint))


def _ends_in_sigmoid(network: Network) -> bool:
    """Whether all outputs are those of a sigmoid, which is read as it stands."""
    last = network.steps[-1]
    if len(last.terms) != 1 or last.bias.any() or last.terms[0].source < 0:
        return False
    tile, function = last.terms[0].tile, network.steps[last.terms[0].source].function
    copies = tile.taps == 1 and bool((tile.weight == 1.0).all()) and bool((tile.index >= 0).all())
    return copies and isinstance(function, Curves) and function.uniform == Curve("sigmoid")


def _check_scores(network: Network, declaration: ast.Network) -> None:
    """E206 where 'gives probabilities' contradicts the file, which ends in Softmax, LogSoftmax or Sigmoid then."""
    word = declaration.gives
    tail = left_out(network)
    if word is not None and word.text == "probabilities" and tail is None and not _ends_in_sigmoid(network):
        label = Label(declaration.path.span, "this file")
        message = f"'{declaration.name}' does not end in Softmax but is declared 'gives probabilities'"
        raise Fault(error("E206", message, word.span, label, help="write 'gives logits', or leave 'gives' out"))
