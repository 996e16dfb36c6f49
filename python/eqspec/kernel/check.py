"""A certificate, checked by the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from eqspec.audit.bounds import AFFINE, CURVED, FACTS
from eqspec.audit.claim import claim as obligations_of
from eqspec.audit.opening import Bounded, header, limits, opened, plain, question
from eqspec.audit.reading import network
from eqspec.audit.reading.pair import Pair
from eqspec.audit.rounding import Refused
from eqspec.lazy_dataclass import dataclass

from . import questions
from .binary import BinaryError, ask, find, stream
from .canonical import canonical
from .commands import DEPTH, Guarded, Quantities, commands
from .rounds import Facts, Places
from .smooth import NAMES
from .validation import validate
from .weights import chosen

MOST_WEIGHTED = 200
"""Weighted groups that are taken from a certificate."""
FORMAT = "eqspec-certificate/5"
SECONDS_A_STEP = 1.0
"""For each leaf and each round that the auditor checked, of which most take the kernel less than a tenth of it."""


def allowed(steps: int) -> float:
    """Seconds for a certificate of so many leaves and rounds, if nothing else is said."""
    return max(limits.SECONDS, SECONDS_A_STEP * steps)


@dataclass(frozen=True)
class Checked:
    """What the kernel says: `refused` is None where it accepts, with what it counted in `fields`."""

    refused: str | None
    fields: Mapping[str, str]
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The answer as `eqspec audit --format json` writes it."""
        return {"accepts": self.refused is None, "refused": self.refused, **self.fields}

    def said(self) -> list[tuple[str, str]]:
        """What the kernel counted, in headings and sentences."""
        leaves, bounds, records = (int(self.fields.get(name, 0)) for name in ("leaves", "pulls", "records"))
        errors = ", with the errors of float32" if self.fields.get("arithmetic") == "float32" else ""
        return [
            ("kernel", f"accepted: leaves {leaves}, backward bounds {bounds}, records {records}"),
            ("pair", f"{self.fields.get('pair', '')}, sha256 of both networks in the kernel's form{errors}"),
            ("question", f"{self.fields.get('question', '')}, sha256 of region and claim in the kernel's form"),
        ]


def check(
    path: Path,
    folder: Path | None = None,
    seconds: float = limits.SECONDS,
    records: Path | None = None,
    progress: Callable[[float, int], None] | None = None,
) -> Checked:
    """Have the kernel check a certificate; the networks are where the task says, or in `folder`.

    A BinaryError says that there is no program. `seconds` are for reading the files as well. `records`, a file, takes
    what the kernel took, as its reader reads it. `progress` is told, in another thread, which part of the certificate
    is done, and how many leaves the kernel closed.
    """
    binary, began = find(), perf_counter()
    try:
        asked = prepared(path, folder or path.parent)
    except Refused as reason:
        return Checked(plain(str(reason)), {}, perf_counter() - began)
    except MemoryError:
        return Checked("it needs more memory than there is", {}, perf_counter() - began)
    told = None if progress is None else lambda read, leaves: progress(min(1.0, read / max(1, asked.commands)), leaves)
    left = max(0.0, seconds - (perf_counter() - began))
    try:
        answer = ask(binary, asked.stream, left, records, told)
    except BinaryError as problem:  # it ran into a limit, or was killed: nothing is shown
        return Checked(str(problem), {}, perf_counter() - began)
    refused = answer.refused
    if refused is not None and asked.claim.startswith("keeps-confident"):
        refused += "; of a confidence the kernel knows how far groups of classes are behind, not the whole softmax"
    fields = {**answer.fields, "arithmetic": asked.arithmetic} if refused is None else answer.fields
    return Checked(refused, fields, perf_counter() - began)


@dataclass(frozen=True)
class Prepared:
    """A stream for the kernel, the claim in it, whether it is one over the real numbers or about float32; and how many
    commands are in the stream."""

    stream: bytes
    claim: str
    arithmetic: str
    commands: int


def prepared(path: Path, folder: Path) -> Prepared:
    """The stream of a certificate; Refused by name if the kernel cannot check it."""
    with opened(path, limits.CERTIFICATE) as opened_file:
        file = Bounded(opened_file)
        head = header(file)
        asked = question(head.get("task"))
        if head.get("format") != FORMAT:
            raise Refused(f"the kernel reads certificates of the format {FORMAT}")
        if head.get("verdict") != "equivalent":
            raise Refused("the kernel checks proofs; a counterexample is evaluated by the auditor, in rationals")
        claimed = questions.claim(asked)  # what it cannot check is refused before any file is read
        arithmetic = str(asked["arithmetic"])
        networks = [network(asked, role, folder) for role in ("reference", "candidate")]
        of_levels = asked["property"]["kind"] == "never"  # of one network, which stands beside itself
        steps = [one.steps() for one in (networks[1:] * 2 if of_levels else networks)]
        if arithmetic == "float32" and any(c.name in NAMES for one in steps for s in one for c in s.curves):
            raise Refused("the kernel checks claims about float32 of networks with piecewise linear functions")
        pair = canonical(steps[0], steps[1], len(networks[0].scale), every_step=of_levels)
        validate(pair.text, pair.grain, steps, every_step=of_levels)
        if of_levels or "decision" in head:  # by exact integers: there is no tree, the kernel shows the claim by itself
            text = questions.question(asked, pair.grain)
            return Prepared(stream(pair.text, text, [f"P {DEPTH}"]), claimed, arithmetic, 1)
        rows_and_obligations = obligations_of(asked, networks[0].outputs)
        both = Pair.of(networks[0], networks[1], (rows_and_obligations[0], rows_and_obligations[1]))
        guarded = None
        if claimed.startswith("keeps-confident"):
            guarded = Guarded(facts_of_steps(both), networks[0].outputs, [])
        backwards = claimed.startswith("manhattan")  # sums of l1 come in the other order of signs
        places = Places(pair.inputs, both.widths, len(pair.widths), pair.behind, backwards)
        facts = Facts.of(both.steps, places, networks[0].outputs)
        quantities = Quantities(places, pair.grain, facts, guarded)
        order = numbers(claimed, len(rows_and_obligations[2]))
        records = list(commands(file, quantities, order))
        if tuple(both.widths[: len(pair.widths)]) != pair.widths:  # other layers than those that the cuts are of
            records = [f"P {DEPTH}"]
        groups = chosen(guarded.found, guarded.outputs, MOST_WEIGHTED // guarded.outputs) if guarded else []
        text = questions.question(asked, pair.grain, groups)
        return Prepared(stream(pair.text, text, records), claimed, arithmetic, len(records))


def facts_of_steps(pair: Pair) -> int:
    """How many facts come before those of a confidence, as the auditor numbers them."""
    return sum(len(CURVED if s.curved else FACTS if s.curves else AFFINE) * s.width for s in pair.steps)


def numbers(claimed: str, obligations: int) -> list[int]:
    """The kernel's numbers of the obligations of a certificate: sums of l1 come in the other order of signs."""
    return list(range(obligations))[:: -1 if claimed.startswith("manhattan") else 1]
