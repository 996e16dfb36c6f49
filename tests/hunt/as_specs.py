"""A case as users would write it: two ONNX files and a spec with a space, a region in raw units, and a check.

The normalisation is drawn anew: raw = mean + std x with rational mean and std, so that the box, the constraints and
the points of the spec are all in other numbers than the case, and mean exactly the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import eqspec
from eqspec.errors import SpecError
from eqspec.networks.network import Arithmetic
from eqspec.spec.numbers import MOST_DIGITS
from eqspec.tasks.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.tasks.result import Result
from eqspec.tasks.run import Options
from oracle.pairs import Pair, Random
from unit.certificates.files import write


def expressible(pair: Pair, claim: Property) -> bool:
    """Whether the language can say it: regions are closed, a decision needs two classes, an inequality an output, and
    numbers have an end."""
    if isinstance(claim, Linear) and all(Fraction(c) == 0 for c in (*claim.candidate, *claim.reference)):
        return False
    if any(len(digits) > MOST_DIGITS for digits in re.findall(r"\d+", _sentence(claim))):
        return False
    decision = isinstance(claim, Top1 | Margin | Confidence)
    return not any(c.strict for c in pair.constraints) and (pair.outputs > 1 or not decision)


def run_spec(
    pair: Pair, claim: Property, options: Options, rng: Random, arithmetic: Arithmetic = "real"
) -> Result | None:
    """What eqspec says of it as a spec; None if it says that the region is empty (E133)."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        try:
            spec = eqspec.loads(write_spec(pair, claim, folder, rng, arithmetic), directory=folder)
        except SpecError as error:
            if any(finding.code == "E133" for finding in error.diagnostics):
                return None
            raise
        (result,) = spec.run(spec.select(), options).results
        return result


def write_spec(
    pair: Pair, claim: Property, folder: Path, rng: Random, arithmetic: Arithmetic = "real", *more: Property
) -> str:
    """The text of a spec with the check `c`, then `c1` and so on, and in the folder the networks it names."""
    for name, layers in (("f", pair.reference), ("g", pair.candidate)):
        write(folder / f"{name}.onnx", layers)
    size = len(pair.lower)
    mean = [Fraction(int(n), int(rng.integers(1, 8))) for n in rng.integers(-20, 21, size)]
    std = [Fraction(int(n), int(rng.integers(1, 8))) for n in rng.integers(1, 21, size)]
    raw = [[m + s * x for m, s, x in zip(mean, std, ends, strict=True)] for ends in (pair.lower, pair.upper)]
    bounds = [_bound(f"x{i}", low, high) for i, (low, high) in enumerate(zip(*raw, strict=True))]
    where = []
    for constraint in pair.constraints:
        terms = [(a / s, f"x{i}") for i, (a, s) in enumerate(zip(constraint.coefficients, std, strict=True))]
        offset = sum((a * m / s for a, m, s in zip(constraint.coefficients, mean, std, strict=True)), Fraction(0))
        where.append(f"{_sum(terms)} {'<' if constraint.strict else '<='} {_shown(constraint.bound + offset)}")
    joined = f" and where {{ {', '.join(where)} }}" if where else ""
    return "\n".join(
        [
            "eqspec 1",
            "space s {",
            f"  features {', '.join(f'x{i}' for i in range(size))}",
            f"  normalise zscore mean {_listed(mean)} std {_listed(std)}",
            f"  outputs {pair.outputs}",
            f"  decide {pair.decide}",
            "}",
            'network f = "f.onnx" in s',
            'network g = "g.onnx" in s',
            f"region r in s = box {{ {'  '.join(bounds)} }}{joined}",
            *(
                f"check c{number or ''} {{ prove {_sentence(one)} on r  arithmetic {arithmetic} }}"
                for number, one in enumerate((claim, *more))
            ),
            "",
        ]
    )


def _sentence(claim: Property) -> str:
    match claim:
        case Epsilon(eps, norm, chosen):
            comparing = "" if chosen is None else f" comparing [{', '.join(map(str, chosen))}]"
            return f"g stays within {_shown(Fraction(eps))} of f in {norm}{comparing}"
        case Top1():
            return "g keeps top1 of f"
        case Margin(margin):
            return f"g keeps top1 of f when margin >= {_shown(Fraction(margin))}"
        case Confidence(delta):
            return f"g keeps top1 of f when confidence >= {_shown(Fraction(delta))}"
        case Linear(candidate, reference, bound, strict):
            rows = (("g", candidate), ("f", reference))
            terms = [(Fraction(c), f"{name}[{o}]") for name, row in rows for o, c in enumerate(row)]
            return f"g satisfies {_sum(terms)} {'<' if strict else '<='} {_shown(Fraction(bound))}"


def _bound(name: str, low: Fraction, high: Fraction) -> str:
    return f"{name} = {_shown(low)}" if low == high else f"{name}: {_shown(low)} .. {_shown(high)}"


def _shown(number: Fraction) -> str:
    return str(number)


def _sum(terms: Sequence[tuple[Fraction, str]]) -> str:
    return " + ".join(f"({_shown(c)}) * {name}" for c, name in terms)


def _listed(numbers: Sequence[Fraction]) -> str:
    return f"[{', '.join(map(_shown, numbers))}]"
