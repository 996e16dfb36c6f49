"""The core asked in every combination of what can be switched, without believing a single counterexample."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from eqspec import _core
from eqspec.lp import HighsSolver
from eqspec.tasks.task import Domain

Array = NDArray[np.float64]
Weights = list[tuple[Array, Array]]
LpAnswer = tuple[Array, Array, Array | None]

DOMAINS: tuple[Domain, ...] = ("shared", "paper", "naive")
SMALLEST = 5e-324


def layer(weight: Sequence[Sequence[float]], bias: Sequence[float] | None = None) -> tuple[Array, Array]:
    """A layer, without bias unless given."""
    matrix = np.array(weight, np.float64)
    return matrix, np.zeros(len(matrix)) if bias is None else np.array(bias, np.float64)


def refuse(_: Array) -> bool:
    """Believes no counterexample."""
    return False


def settings(**given: object) -> _core.Settings:
    """Few boxes on one thread, unless told otherwise."""
    return _core.Settings(**({"boxes": 40, "threads": 1} | given))  # type: ignore[arg-type]


def modes() -> Iterator[dict[str, object]]:
    """Every combination of what can be switched."""
    programs = ({"lp": True}, {"lp": True, "dual": False}, {"lp": False})
    for domain, how, contract in itertools.product(DOMAINS, programs, (True, False)):
        yield {"domain": domain, "contract": contract, **how}


def verdicts(
    networks: _core.Pair,
    box: tuple[Array, Array],
    claim: _core.Property,
    answer: Callable[..., list[LpAnswer]] | None = None,
    **given: object,
) -> set[str]:
    """What the core says in every mode when no counterexample is believed."""
    answer = answer or HighsSolver().answer
    return {
        _core.solve(networks, *box, claim, settings(**mode, **given), answer_lps=answer, confirm=refuse).verdict
        for mode in modes()
    }
