"""Which operators of the reader the auditor does not read: the page on certificates lists them, and they are tried."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from onnx import TensorProto

from conformance.building import Builder
from conformance.generating import NEWEST
from conformance.generators import GENERATORS, SINCE, UNTIL
from conformance.judging import audited
from conformance.spoiling import needed
from eqspec.audit import Refused

PAGE = Path(__file__).resolve().parents[2] / "docs" / "certificates.md"
TRIES = 12
LISTED = re.compile(r"no certificate where the result counts: (.*?)\.", re.DOTALL)


def unread() -> set[str]:
    """The operators that the page lists."""
    (found,) = LISTED.findall(PAGE.read_text())
    return set(re.findall(r"`(\w+)`", found))


def is_read(operator: str) -> bool:
    """Whether one of several small graphs, whose output depends on this operator, is read."""
    for number in range(TRIES):
        rng = np.random.default_rng([11, sum(map(ord, operator)), number])
        opset = int(rng.integers(max(7, SINCE.get(operator, 7)), min(NEWEST, UNTIL.get(operator, NEWEST)) + 1))
        builder = Builder(rng, opset, TensorProto.FLOAT, (1, 4) if number % 2 else (1, 2, 3, 3))
        GENERATORS[operator](builder)
        if not builder.nodes:
            continue
        model = builder.model()
        if not any(node.op_type == operator for node in needed(model)):
            continue
        try:
            audited(model.SerializeToString(), 4 if number % 2 else 18, 1).steps()
        except Refused as reason:
            if not re.search(r"it has \d+ outputs, the task 1", str(reason)):
                continue
        return True
    return False


def test_the_page_lists_what_is_not_read() -> None:
    listed = unread()
    assert listed < GENERATORS.keys()
    assert {operator for operator in GENERATORS if not is_read(operator)} == listed
