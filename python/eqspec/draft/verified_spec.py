"""What `eqspec verify` asks, as a spec: one pair, one region, one claim."""

from __future__ import annotations

from pathlib import Path

from eqspec.draft import drafted_claim, drafted_numbers, region
from eqspec.draft.named_pair import Pair
from eqspec.draft.space import DraftedSpace, Inputs, draft_space, networks
from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.spec import ast, printer


@dataclass(frozen=True)
class Where:
    """The region: `sigma`, or `lower` and `upper`, as they were typed; with none of them what the table spans."""

    sigma: str | None = None
    lower: str | None = None
    upper: str | None = None


@dataclass(frozen=True)
class What:
    """The claim: a distance `eps`, or `top1` with a `confidence`, a `margin` or neither; numbers as they were typed.

    With `float32` it is about what every float32 runtime computes; `gives` is what the networks say that they
    give: logits, probabilities, or nothing.
    """

    eps: str | None = None
    norm: str | None = None
    comparing: tuple[str, ...] = ()
    top1: bool = False
    confidence: str | None = None
    margin: str | None = None
    float32: bool = False
    gives: str | None = None


def draft(pair: Pair, inputs: Inputs, where: Where, what: What, folder: Path, timeout: float | None = None) -> ast.File:
    """The spec, with paths as seen from `folder`. InputError where something is missing or contradicts itself."""
    refuse_incomplete(where, what, has_data=inputs.data is not None)
    space = draft_space(pair, inputs, folder, sigma=where.sigma is not None)
    region_name, term = _region(where, inputs, space)
    clauses: list[ast.CheckClause] = [_claim(pair, what), region.use(region_name)]
    if what.float32:
        clauses.append(ast.Arithmetic(ast.Name("float32")))
    if timeout is not None:
        seconds = drafted_numbers.exactly(drafted_numbers.rounded(timeout, 1e-3))
        clauses.append(ast.Budget((ast.Setting(ast.Name("timeout"), ast.Quantity(f"{printer.text(seconds)}s")),)))
    declarations: list[ast.Declaration] = [space.node, *networks(pair, space, folder, gives=what.gives)]
    declarations.append(region.region(region_name, term))
    declarations.append(ast.Check(ast.Name("verify"), tuple(clauses)))
    return ast.File(ast.Number("1"), tuple(declarations))


def refuse_incomplete(where: Where, what: What, *, has_data: bool) -> None:
    """InputError where the region or the claim is missing, contradicts itself, or has a number that is none."""
    _check(where, has_data=has_data)
    chosen = [option for option, is_wanted in _wanted(what).items() if is_wanted]
    if len(chosen) > 1:
        raise InputError(f"{' and '.join(chosen)} are claims of their own; ask for one at a time, or write a spec")
    if not chosen:
        raise InputError("what is claimed? give --top1, --confidence D, --margin T or --eps E")
    if what.eps is None and (what.norm is not None or what.comparing):
        raise InputError("--norm and --comparing go with --eps; a decision has no distance")
    numbers = {"--sigma": where.sigma, "--eps": what.eps, "--confidence": what.confidence, "--margin": what.margin}
    for option, typed in numbers.items():
        if typed is not None:
            drafted_numbers.given(typed, option)


def _check(where: Where, *, has_data: bool) -> None:
    bounds = where.lower is not None, where.upper is not None
    if any(bounds) and not all(bounds):
        missing, there = ("--upper", "--lower") if bounds[0] else ("--lower", "--upper")
        raise InputError(f"{there} without {missing}; every input needs both bounds")
    if where.sigma is not None and any(bounds):
        raise InputError("--sigma and --lower/--upper both give a region; choose one, or write a spec that has both")
    if where.sigma is None and not any(bounds) and not has_data:
        raise InputError("on which inputs? give --sigma K, --lower and --upper, or --data FILE for what it spans")


def _region(where: Where, inputs: Inputs, space: DraftedSpace) -> tuple[str, ast.Term]:
    if where.sigma is not None:
        return "core", region.within_sigma(drafted_numbers.given(where.sigma, "--sigma"))
    if where.lower is not None and where.upper is not None:
        lower = drafted_numbers.several(where.lower, "--lower", space.features)
        upper = drafted_numbers.several(where.upper, "--upper", space.features)
        return "bounds", region.between(space.features, lower, upper)
    assert inputs.data is not None
    return "spanned", region.spanned(space.features, inputs.data)


def _wanted(what: What) -> dict[str, bool]:
    """Which claims were asked for, by their options."""
    return {
        "--eps": what.eps is not None,
        "--top1": what.top1 and what.confidence is None and what.margin is None,
        "--confidence": what.confidence is not None,
        "--margin": what.margin is not None,
    }


def _claim(pair: Pair, what: What) -> ast.Claim:
    if what.eps is not None:
        return drafted_claim.stays_within(pair, drafted_numbers.given(what.eps, "--eps"), what.norm, what.comparing)
    if what.confidence is not None:
        return drafted_claim.keeps_top1(pair, "confidence", drafted_numbers.given(what.confidence, "--confidence"))
    if what.margin is not None:
        return drafted_claim.keeps_top1(pair, "margin", drafted_numbers.given(what.margin, "--margin"))
    return drafted_claim.keeps_top1(pair)
