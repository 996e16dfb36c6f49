"""A case as users would write it: two ONNX files and a spec with a space, a region in raw units, and a check.

The normalisation is drawn anew: raw = mean + std x with rational mean and std, so that the box, the constraints and
the points of the spec are all in other numbers than the case, and mean exactly the same.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import eqspec
from eqspec.errors import SpecError
from eqspec.networks.network import Arithmetic
from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Property, Top1
from eqspec.run.options import Options
from eqspec.spec.numbers import MOST_DIGITS
from eqspec.tasks.result import Result
from hunt.onnx_styles import write_styled
from hunt.spec_styles import Plain, Styled
from oracle.pairs import Pair, Random
from unit.certificates.files import write


def expressible(pair: Pair, claim: Property) -> bool:
    """Whether the language can say it: regions are closed, a decision needs two classes, an inequality an output, and
    numbers have an end."""
    if isinstance(claim, Linear) and all(Fraction(c) == 0 for c in (*claim.candidate, *claim.reference)):
        return False
    if any(len(digits) > MOST_DIGITS for digits in re.findall(r"\d+", _sentence(claim, Plain()))):
        return False
    return not any(c.strict for c in pair.constraints) and (pair.outputs > 1 or not _decides(claim))


def run_spec(
    pair: Pair,
    claim: Property,
    options: Options,
    rng: Random,
    arithmetic: Arithmetic = "real",
    *,
    styled: bool = False,
) -> Result | None:
    """What eqspec says of it as a spec; None if it says that the region is empty (E133)."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        try:
            spec = eqspec.loads(write_spec(pair, claim, folder, rng, arithmetic, styled=styled), directory=folder)
        except SpecError as error:
            if any(finding.code == "E133" for finding in error.diagnostics):
                return None
            raise
        (result,) = spec.run(spec.select(), options).results
        return result


def write_spec(
    pair: Pair,
    claim: Property,
    folder: Path,
    rng: Random,
    arithmetic: Arithmetic = "real",
    *more: Property,
    styled: bool = False,
) -> str:
    """The text of a spec with the check `c`, then `c1` and so on, and in the folder the networks it names.

    Styled, both are written as people might.
    """
    claims = (claim, *more)
    size = len(pair.lower)
    words: Plain = Styled(rng) if styled else Plain()
    if styled and rng.random() < 0.5:  # a normalisation that a file can apply without rounding
        mean = [Fraction(int(n), 8) for n in rng.integers(-40, 41, size)]
        std = [Fraction(2) ** int(k) for k in rng.integers(-3, 6, size)]
        exact = (np.array([float(m) for m in mean]), np.array([float(s) for s in std]))
    else:
        mean = [Fraction(int(n), int(rng.integers(1, 8))) for n in rng.integers(-20, 21, size)]
        std = [Fraction(int(n), int(rng.integers(1, 8))) for n in rng.integers(1, 21, size)]
        exact = None
    root = float(rng.choice([2.0, 3.0, 5.0])) if styled and rng.random() < 0.25 else None
    networks = []
    for name, layers in (("f", pair.reference), ("g", pair.candidate)):
        raw, softmax = False, False
        if styled:
            raw = exact is not None and rng.random() < 0.5
            softmax = pair.decide == "max" and all(map(_decides, claims)) and rng.random() < 0.3
            write_styled(
                folder / f"{name}.onnx", layers, rng, softmax=softmax, before=exact if raw else None, root=root
            )
        else:
            write(folder / f"{name}.onnx", layers)
        networks.append(f'network {name} = "{name}.onnx" in s{" takes raw" if raw else ""}')
    low, high = ([m + s * x for m, s, x in zip(mean, std, ends, strict=True)] for ends in (pair.lower, pair.upper))
    where = []
    for constraint in pair.constraints:
        terms = [(a / s, f"x{i}") for i, (a, s) in enumerate(zip(constraint.coefficients, std, strict=True))]
        offset = sum((a * m / s for a, m, s in zip(constraint.coefficients, mean, std, strict=True)), Fraction(0))
        where.append(words.below(terms, constraint.bound + offset, strict=constraint.strict))
    normalisation = f"mean {words.listed(mean)} std {words.listed(std)}"
    region, sentences = words.region(low, high, mean, std, where), [_sentence(one, words) for one in claims]
    return "\n".join(
        [
            "eqspec 1",
            *words.declared,
            "space s {",
            f"  features {', '.join(f'x{i}' for i in range(size))}",
            f"  normalise zscore {normalisation}",
            f"  outputs {pair.outputs}",
            f"  decide {pair.decide}",
            "}",
            *networks,
            f"region r in s = {region}",
            *(
                f"check c{number or ''} {{ prove {sentence} on r  arithmetic {arithmetic} }}"
                for number, sentence in enumerate(sentences)
            ),
            "",
        ]
    )


def _decides(claim: Property) -> bool:
    return isinstance(claim, Top1 | Margin | Confidence)


def _sentence(claim: Property, words: Plain) -> str:
    match claim:
        case Epsilon(eps, norm, chosen):
            comparing = "" if chosen is None else f" comparing [{', '.join(map(str, chosen))}]"
            return f"g stays within {words.number(Fraction(eps))} of f in {norm}{comparing}"
        case Top1():
            return "g keeps top1 of f"
        case Margin(margin):
            return f"g keeps top1 of f when margin >= {words.number(Fraction(margin))}"
        case Confidence(delta):
            return f"g keeps top1 of f when confidence >= {words.number(Fraction(delta))}"
        case Linear(candidate, reference, bound, strict):
            rows = (("g", candidate), ("f", reference))
            terms = [(Fraction(c), f"{name}[{o}]") for name, row in rows for o, c in enumerate(row)]
            subject = "g" if any(candidate) else "f"
            return f"{subject} satisfies {words.below(terms, Fraction(bound), strict=strict)}"
        case NeverWraps():
            return "g never wraps"
        case NeverSaturates():
            return "g never saturates"
