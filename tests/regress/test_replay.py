"""Every case in this folder once went wrong, as `python -m hunt` shrunk it. None may go wrong again, in any domain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from eqspec.tasks.task import Domain
from hunt.cases import Mode, read
from hunt.shrinking import wrong

CASES = sorted(Path(__file__).parent.glob("*.json"))
DOMAINS: tuple[Domain, ...] = ("shared", "paper", "naive")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_it_does_not_go_wrong_again(path: Path) -> None:
    case = read(path.read_text())
    assert wrong(case) is None
    for domain in DOMAINS:
        for lp in (True, False):
            mode: Mode = replace(case.mode, domain=domain, lp=lp)
            assert wrong(replace(case, mode=mode)) is None, mode
