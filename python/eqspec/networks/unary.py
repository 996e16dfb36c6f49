"""Subgraphs of elementwise operators with one variable source that are one known function of it.

Exporters write GELU as five nodes, SiLU as two, HardSwish as x clip(x + 3, 0, 6) / 6. Node by node that would be
products of two variables; here the value behind such nodes is seen to be one function of one value, entry by entry.
`remember` keeps of every elementwise operator what it was applied to. At an operator that joins such values,
`recognised` goes back to each value X that all its operands are functions of, writes the result as an expression of X
(`expressions`, `elementwise_operators`), and compares it with the functions that are known: F(X) = a f(b X + c) + d.

Sound because an expression is the real function of the nodes, with the constants of the file as they are, and is
compared with known functions in exact arithmetic (`known_functions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks import expressions as ex
from eqspec.networks.affine import Affine
from eqspec.networks.curve_definitions import problem
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.elementwise_operators import EXPRESSED, applied
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.expressions import Expression, Form, Interval, Lines, TooComplexError, X, point
from eqspec.networks.known_functions import Known, recognise
from eqspec.networks.operators.operator_call import OperatorCall, Value
from eqspec.networks.runtime_functions import any_infinity_vanishes, as_computed, may_be_one
from eqspec.networks.stepped import JUMPING, Stepped

_DEEPEST = 16
_MOST_CONSTANTS = 4096
"""Different tuples of constants that entries of a value may have."""
_JOINING = ("Add", "Div", "Log", "Max", "Min", "Mul", "Reciprocal", "Sub", "Sum", "Where")
_STRAIGHT = Curve("identity")
"""Of what has jumps and no jump left, as sign(x) relu(|x|)."""
_BENDING = ("Clip", "LeakyRelu", "Relu")

Operand = Affine | Enclosure


@dataclass(frozen=True, eq=False)
class Origin:
    """The operator that gave a value, and what it was applied to."""

    kind: str
    operands: tuple[Operand, ...]
    attributes: tuple[float, ...]
    depth: int


def remember(call: OperatorCall, results: Sequence[Value]) -> None:
    """Keep what an elementwise operator was applied to."""
    kind = call.node.op_type
    if kind == "Cast" and isinstance(call.inputs[0], Affine) and isinstance(results[0], Affine):
        _pass_on(call.inputs[0], results[0])
        return
    if (kind not in EXPRESSED and kind not in _JOINING) or call.opset < 7 or len(results) != 1:
        return
    (result,) = results
    if not isinstance(result, Affine) or result._origin or not _followed(call):
        return
    operands = _operands(call)
    if operands is None:
        return
    before = max((o._origin[0].depth for o in operands if isinstance(o, Affine) and o._origin), default=0)
    if before < _DEEPEST and not any(o is result for o in operands):
        result._origin.append(Origin(kind, tuple(operands), _attributes(call), before + 1))


def _pass_on(value: Affine, same: Affine) -> None:
    """What a value was made of, for a cast of it: truth values as numbers, numbers of another type."""
    if value is not same and not same.unit and not same._origin:
        same._origin.extend(value._origin)


def _operands(call: OperatorCall) -> list[Operand] | None:
    """What an operator is applied to; an end that a Clip has not is NaN. None where it is something else."""
    found: list[Operand] = []
    for value in call.inputs:
        if isinstance(value, np.ndarray):
            value = Enclosure(value.astype(np.float64))
        if value is None and call.node.op_type == "Clip":
            value = Enclosure(np.array(np.nan))
        if not isinstance(value, Affine | Enclosure):
            return None
        found.append(value)
    return found


def _attributes(call: OperatorCall) -> tuple[float, ...]:
    match call.node.op_type:
        case "LeakyRelu":
            return (call.real("alpha", float(np.float32(0.01))),)
        case "HardSigmoid":
            return call.real("alpha", float(np.float32(0.2))), call.real("beta", 0.5)
        case "Clip" if call.opset < 11:
            ends = [call.attribute(name) for name in ("min", "max")]
            return tuple(np.nan if end is None else float(end.f) for end in ends)
        case _:
            return ()


def recognised(call: OperatorCall) -> list[Value] | None:
    """The result of a node that makes a known function of one value; None where it does not."""
    kind = call.node.op_type
    if (kind not in _JOINING and (call.given.unit or not _bends_again(call))) or call.opset < 7:
        return None
    if not _followed(call):
        return None
    values = [v for v in call.inputs if isinstance(v, Affine)]
    if not any(value._origin for value in values) or (len(values) < 2 and kind in ("Add", "Sub", "Mul", "Sum")):
        return None
    if len(values) == 1 and kind == "Div" and values[0] is call.inputs[0]:
        return None
    operands = _operands(call)
    if operands is None:
        return None
    node = Origin(kind, tuple(operands), _attributes(call), 0)
    for base in _bases(values) if kind in _JOINING else [_in_front(values[0])]:
        if len(values) < 2 and not _interior(node, base):
            continue
        made = _as_function(node, base)
        if made is not None:
            reading = base.parts[0].units.reading
            reading.neurons -= base.size * _interior(node, base)
            return [made]
    return None


def _followed(call: OperatorCall) -> bool:
    """Whether functions that are written out are looked for: over the reals, and where it is known what they miss."""
    return not call.given.unit or call.given.reading.missed > 0.0


def _bends_again(call: OperatorCall) -> bool:
    """Whether it is a ReLU or Clip of one that nothing else reads: together they are one function."""
    if call.node.op_type not in _BENDING or not (call.alone and call.alone[0]):
        return False
    x = call.inputs[0]
    return isinstance(x, Affine) and bool(x._origin) and x._origin[0].kind in _BENDING


def _in_front(x: Affine) -> Affine:
    """What stands in front of all ReLUs and Clips that are behind one another, a sum and its bias as they are."""
    while x._origin and x._origin[0].kind in _BENDING:
        inner = x._origin[0].operands[0]
        assert isinstance(inner, Affine)
        x = inner
    return x


def _bases(values: Sequence[Affine]) -> list[Affine]:
    """All values that these were made of, the nearest first."""
    found: dict[int, Affine] = {}
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if id(value) not in found:
            found[id(value)] = value
            waiting += [o for origin in value._origin for o in origin.operands if isinstance(o, Affine)]
    depth = {key: value._origin[0].depth if value._origin else 0 for key, value in found.items()}
    return sorted(found.values(), key=lambda value: -depth[id(value)])


def _interior(node: Origin, base: Affine) -> int:
    """How many functions stand between a node and its base, which nothing else is expected to read."""
    seen, waiting, count = {id(base)}, [o for o in node.operands if isinstance(o, Affine)], 0
    while waiting:
        value = waiting.pop()
        if id(value) in seen or not value._origin:
            continue
        seen.add(id(value))
        (origin,) = value._origin
        count += origin.kind in EXPRESSED
        waiting += [o for o in origin.operands if isinstance(o, Affine)]
    return count


def _as_function(node: Origin, base: Affine) -> Affine | None:
    constants: list[Enclosure] = []
    if not _collect(node, base, constants, {id(base)}):
        return None
    shape = base.shape
    try:
        columns = [np.broadcast_to(a, shape).reshape(-1) for c in constants for a in (c.value, c.radius)]
    except ValueError:
        return None
    size = base.size
    table = np.stack(columns, axis=1) if columns else np.zeros((size, 0))
    kinds, which = np.unique(table, axis=0, return_inverse=True)
    which = which.reshape(-1)
    if len(kinds) > _MOST_CONSTANTS or size == 0:
        return None
    found = list[Known]()
    for row in kinds.tolist():
        numbers = [
            (Fraction(v) - Fraction(r), Fraction(v) + Fraction(r)) if v == v else None
            for v, r in zip(row[::2], row[1::2], strict=True)
        ]
        known = _known(node, base, {id(c): n for c, n in zip(constants, numbers, strict=True)})
        if known is None:
            return None
        found.append(known)
    jumps = any(one.curve == _STRAIGHT for one in found)
    if base.unit and (
        jumps
        or not may_be_one([one.curve for one in found], list(_between(node, base, set())))
        or not any_infinity_vanishes(list(_exponentials(node, base)))
    ):
        return None
    return _written(base, found, which)


def _between(node: Origin, base: Affine, seen: set[int]) -> Iterator[tuple[str, int, int]]:
    """Every operator between a node and its base: its kind, how many of its operands are constants, and values."""
    values = [operand for operand in node.operands if isinstance(operand, Affine)]
    yield node.kind, len(node.operands) - len(values), len(values)
    for value in values:
        if value is not base and id(value) not in seen:
            seen.add(id(value))
            yield from _between(value._origin[0], base, seen)


def _exponentials(node: Origin, base: Affine, *, divided: bool = False) -> Iterator[bool]:
    """For every way from a node to an exponential behind its base: whether that stands in a denominator."""
    if node.kind == "Exp":
        yield divided
    for place, operand in enumerate(node.operands):
        if isinstance(operand, Affine) and operand is not base:
            below = node.kind == "Reciprocal" or (node.kind == "Div" and place == 1)
            yield from _exponentials(operand._origin[0], base, divided=divided or below)


def _collect(node: Origin, base: Affine, constants: list[Enclosure], seen: set[int]) -> bool:
    """The constants between a node and its base; whether everything between is elementwise, of the base's shape."""
    for operand in node.operands:
        if isinstance(operand, Enclosure):
            constants.append(operand)
        elif operand.shape != base.shape:
            return False
        elif id(operand) not in seen:
            seen.add(id(operand))
            if not operand._origin or not _collect(operand._origin[0], base, constants, seen):
                return False
    return True


def _jumps(node: Origin, base: Affine) -> bool:
    """Whether a jump stands between a value and what its operators were applied to."""
    return any(kind in JUMPING for kind, _, _ in _between(node, base, set()))


def _known(node: Origin, base: Affine, numbers: dict[int, Interval | None]) -> Known | None:
    try:
        found = _expression(node, base, numbers, {})
        if isinstance(found, Lines) and not found.knots and _jumps(node, base):
            return Known(_STRAIGHT, point(found.slopes[0]), point(found.at_zero), point(1), point(0))
        return None if isinstance(found, Stepped) else recognise(found)
    except (TooComplexError, ZeroDivisionError):
        return None


def _expression(
    node: Origin, base: Affine, numbers: dict[int, Interval | None], known: dict[int, Expression | Stepped]
) -> Expression | Stepped:
    given: list[Expression | Stepped | None] = []
    for operand in node.operands:
        if operand is base:
            given.append(X)
        elif isinstance(operand, Enclosure):
            number = numbers[id(operand)]
            given.append(None if number is None else _constant(number))
        else:
            if id(operand) not in known:
                known[id(operand)] = _expression(operand._origin[0], base, numbers, known)
            given.append(known[id(operand)])
    return applied(node.kind, given, node.attributes)


def _constant(number: Interval) -> Expression:
    return ex.constant(number[0]) if ex.is_point(number) else Form(((ex.ONE, number),))


def _written(base: Affine, found: Sequence[Known], which: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Affine | None:
    """outer f(inner X + shift) + rest, entry by entry."""
    straight = [one.curve == _STRAIGHT for one in found]
    if any(straight) and not all(straight):
        return None
    if not any(straight) and any(problem(one.curve) is not None for one in found):
        return None

    def array(choose: Callable[[Known], Interval]) -> Enclosure:
        numbers = en.from_intervals([choose(one) for one in found])
        if len(found) == 1:
            return numbers.rearranged(lambda a: a.reshape(()))
        return numbers.rearranged(lambda a: a[which].reshape(base.shape))

    x = base
    inner, shift, outer, rest = (array(lambda one, n=n: getattr(one, n)) for n in ("inner", "shift", "outer", "rest"))  # type: ignore[misc]
    if not _is(inner, 1.0):
        x = af.scale(x, inner)
    if not _is(shift, 0.0):
        x = af.shift(x, shift)
    if all(straight):
        return x
    curves = Curves.of_rows([found[i].curve for i in which.tolist()])
    made = as_computed(af.curve(x, curves), curves, x)
    if not _is(outer, 1.0):
        made = af.scale(made, outer)
    return made if _is(rest, 0.0) else af.shift(made, rest)


def _is(numbers: Enclosure, number: float) -> bool:
    return numbers.error is None and bool((numbers.value == number).all())
