"""One network in place of two, for tools that know only one: f and g side by side, on the same input.

Shapes: I inputs, O outputs each. Both networks are brought to the same depth; their layers then stand side by side in
one chain, and the last layer is a matrix R over [f; g]: what the claim compares. So every weight of the pair occurs
unchanged; a pair whose operators were folded with rounding is refused, because a file has no place for the errors.

    stays within    R has the rows y_f - y_g (linf), or their sums for each pattern of signs (l1)
    keeps top1      R is [f; g] itself; with a guard it has the rows y_f[k] - y_f[l] and y_g[k] - y_g[l], k < l
    satisfies       R is the one row that is bounded
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import ExactLayer, Network, exact_layers
from eqspec.property import Epsilon, Linear, Top1, exact
from eqspec.spec.findings import Fault
from eqspec.tasks.task import Task
from eqspec.vnnlib.cases import Case, cases
from eqspec.vnnlib.composing import side_by_side, steps_behind
from eqspec.vnnlib.onnx_program import ExactProgram, exact_program
from eqspec.vnnlib.query import All, Element, Formula, Monomial, Some, compare
from eqspec.vnnlib.unsafe_outputs import NOWHERE, unsafe_outputs

Array = NDArray[np.float64]
MOST_ROWS = 100_000
_FIX = "export it to vnnlib2, which names the files themselves"


@dataclass(frozen=True, eq=False)
class Product:
    """The one network, R behind it (None: nothing), and the unsafe set over its outputs."""

    network: tuple[ExactLayer, ...] | ExactProgram
    rows: Array | None
    formula: Formula
    notes: tuple[str, ...]


def about_one_network(task: Task) -> bool:
    """Whether the claim is about one network only."""
    claim = task.property
    same = task.reference_name == task.candidate_name and task.reference.identity == task.candidate.identity
    return same and isinstance(claim, Linear) and not any(exact(c) for c in claim.reference)


def product(task: Task) -> Product:
    """The product network of a task in network units. InputError where it would be no linear query."""
    outputs = task.reference.output_size
    if isinstance(task.property, Epsilon) and task.property.norm == "l2":
        message = f"{task.id}: an l2 distance is not a linear query, so it cannot be asked about one network"
        raise InputError(f"{message}; export it to vnnlib2, or claim linf")
    where = unsafe_outputs(task.property, outputs, task.space.decide)
    alternatives = _alternatives(task, where.formula)
    if isinstance(task.property, Top1):
        rows: list[dict[Element, Fraction]] = [
            {Element(n, True, i): Fraction(1)} for n in (0, 1) for i in range(outputs)
        ]
        formula = _renumbered(alternatives, outputs)
    else:
        rows, formula = _by_rows(alternatives)
    if len(rows) > MOST_ROWS:
        raise InputError(f"{task.id}: the product network would have {len(rows)} outputs; export it to vnnlib2")
    only = about_one_network(task)
    networks = [task.candidate] if only else [task.reference, task.candidate]
    matrix = np.zeros((len(rows), outputs if only else 2 * outputs))
    for row, coefficients in enumerate(rows):
        for element, coefficient in coefficients.items():
            column = element.entry if only else element.network * outputs + element.entry
            matrix[row, column] = _exactly(coefficient, task)
    return Product(_one(networks, task.id), None if isinstance(task.property, Top1) else matrix, formula, where.notes)


def _one(networks: Sequence[Network], name: str) -> tuple[ExactLayer, ...] | ExactProgram:
    """The networks as one, their outputs one behind the other."""
    if all(network.is_chain for network in networks):
        found = [exact_layers(n.layers, n.source, _FIX) for n in networks]
        return found[0] if len(found) == 1 else exact_layers(side_by_side(*networks), name, _FIX)
    if len(networks) == 1:
        return exact_program(networks[0], _FIX)
    outputs = sum(network.output_size for network in networks)
    steps = steps_behind(networks, np.eye(outputs), np.zeros(outputs))
    return exact_program(Network(steps, networks[0].input_size, name, ""), _FIX)


def _alternatives(task: Task, formula: Formula) -> list[Case]:
    try:
        return cases(formula, NOWHERE)
    except Fault as fault:
        cause = fault.diagnostic.message if fault.diagnostic else "too much"
        raise InputError(f"{task.id} cannot be written for one network: {cause}; export it to vnnlib2") from None


def _renumbered(alternatives: Sequence[Case], outputs: int) -> Formula:
    """The same over one network, whose outputs are those of the reference and then those of the candidate."""
    kept = []
    for case in alternatives:
        parts = []
        for c in case:
            terms: dict[Monomial, Fraction] = {
                (Element(0, True, m[0].network * outputs + m[0].entry),): x for m, x in c.terms
            }
            parts.append(compare(terms, c.relation, c.bound, c.span))
        kept.append(_all(parts))
    return Some(tuple(kept))


def _by_rows(alternatives: Sequence[Case]) -> tuple[list[dict[Element, Fraction]], Formula]:
    """Every sum that is compared becomes an output of its own, the same up to its sign only once."""
    rows: list[dict[Element, Fraction]] = []
    known: dict[object, int] = {}
    kept = []
    for case in alternatives:
        parts = []
        for c in case:
            opposite = tuple((m, -x) for m, x in c.terms)
            sign = -1 if c.terms not in known and opposite in known else 1
            key = opposite if sign < 0 else c.terms
            whole = lcm(*(x.denominator for _, x in c.terms))  # so that the row is exact in floats
            if key not in known:
                known[key] = len(rows)
                rows.append({e: x * whole for e, x in c.coefficients.items()})
            term: dict[Monomial, Fraction] = {(Element(0, True, known[key]),): Fraction(sign)}
            parts.append(compare(term, c.relation, c.bound * whole, c.span))
        kept.append(_all(parts))
    return rows, Some(tuple(kept))


def _all(parts: Sequence[Formula]) -> Formula:
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def _exactly(coefficient: Fraction, task: Task) -> float:
    value = float(coefficient)
    if Fraction(value) != coefficient:
        message = f"{task.id}: the coefficient {coefficient} is not a float, so the product would not be exact"
        raise InputError(f"{message}; export it to vnnlib2")
    return value
