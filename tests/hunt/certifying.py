"""A case with a certificate, which is audited; then the same proof under a claim that breaks, which must be refused.

That a proof finds no certificate is no wrong verdict (the auditor bounds more simply than the search, and says so), but
it is counted, and a hunt in which it happens often has failed.

Where the hunt asks for it (`--kernel`), the proved checker reads every certificate that the auditor accepts. What it
refuses for another reason than precision, time, or a form that it has no rule for, is a finding; so is anything false
that it accepts.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from eqspec.certificates import Auditor, Certifier
from eqspec.certificates.certifier import name_of
from eqspec.kernel import BinaryError, check, find
from eqspec.networks import Network, read_network
from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks import serialisation
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from hunt.cases import Case
from hunt.onnx_styles import write_styled
from oracle.pairs import Random
from oracle.pieces import Layers
from unit.certificates.files import in_files, write
from unit.certificates.proofs import pack, unpack

_UNPROVED = ("is not proved on leaf", "stays open in the enclosures of the auditor")
_HOLDS = "the claim holds"
_UNREAD = "the auditor does not read"
_WEAK = (
    "a part is not proved by the bounds that the prover finds",
    "took longer than",
    "needs more memory than there is",
)
_NAMED = ("the kernel checks ", "the kernel has no rule for ", "the kernel reads ")
_SECONDS = 20.0
"""Of the kernel for one certificate: enough for nearly all of these tiny pairs."""


@dataclass(frozen=True)
class Audited:
    """The result, what is wrong about its certificate, and what it was an example of."""

    result: Result
    trouble: str | None = None
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Desk:
    """A folder for files and certificates, one for all cases of a process, and a second auditor."""

    folder: Path
    certifier: Certifier
    auditor: Auditor


@cache
def _desk() -> _Desk:
    folder, auditor = TemporaryDirectory(prefix="hunt-"), Auditor()
    certifier = Certifier(Path(folder.name))
    for close in (folder.cleanup, *(lambda of=of: of.__exit__(None, None, None) for of in (certifier, auditor))):
        atexit.register(close)
    return _Desk(Path(folder.name), certifier, auditor)


@dataclass
class _Checkers:
    """Whether the kernel reads certificates too; of a process, as the desk is."""

    kernel: bool = False


_checkers = _Checkers()


def ask_kernel(asked: bool) -> None:
    """Have the kernel read every certificate too, or no longer; a BinaryError says that it is not there."""
    if asked:
        find()
    _checkers.kernel = asked


def certify(case: Case, task: Task, options: Options) -> Audited:
    """Decide the task of a case, and have audited what was written about it."""
    desk = _desk()
    rng = np.random.default_rng([case.mode.seed, 5])
    styled = partial(_styled, rng=rng, root=float(rng.choice([2.0, 3.0, 5.0])) if rng.random() < 0.25 else None)
    made = in_files(task, desk.folder, styled if case.mode.styled else write)
    result = Runner(replace(options, certifier=desk.certifier)).run(made)
    certificate = desk.certifier.made.pop(name_of(made), None)
    verdict = result.verdict
    if verdict is Verdict.UNKNOWN:
        return Audited(result, None if certificate is None else "a certificate of nothing")
    if certificate is None:
        return Audited(result, "no certificate was made")
    if certificate.reason is not None:
        barely = case.mode.arithmetic == "float32" and _HOLDS in certificate.reason  # its radii are its own
        if _UNREAD in certificate.reason:
            return Audited(result, None, ("not read by the auditor",))
        excused = barely or (verdict is Verdict.EQUIVALENT and any(words in certificate.reason for words in _UNPROVED))
        return Audited(result, None if excused else f"no certificate: {certificate.reason}", ("no certificate",))
    also = ["audited", f"audited {verdict.value}"]
    again = desk.auditor.ask(certificate.path)
    if again.refused is not None or again.verdict != verdict.value:
        return Audited(result, f"audited again, it is refused: {again.refused}", tuple(also))
    if verdict is Verdict.EQUIVALENT and _checkers.kernel:
        trait, trouble = judged_by_kernel(certificate.path)
        also.append(trait)
        if trouble is not None:
            return Audited(result, trouble, tuple(also))
    if verdict is Verdict.EQUIVALENT and (false := next(_false_claims(case), None)) is not None:
        forged = unpack(certificate.path)
        forged.header["task"] = serialisation.to_json(replace(made, property=false))
        also.append("forged")
        path = pack(certificate.path.with_suffix(".forged"), forged)
        if desk.auditor.ask(path).refused is None:
            return Audited(result, f"the auditor accepts {false} with the proof of {case.claim}", tuple(also))
        if _checkers.kernel and judged_by_kernel(path)[0] == "kernel accepts":
            return Audited(result, f"the kernel accepts {false} with the proof of {case.claim}", tuple(also))
    return Audited(result, None, tuple(also))


def judged_by_kernel(path: Path) -> tuple[str, str | None]:
    """What the kernel says of a certificate, as a trait, and what is wrong about that."""
    try:
        refused = check(path, seconds=_SECONDS).refused
    except BinaryError as problem:
        refused = str(problem)
    if refused is None:
        return "kernel accepts", None
    if any(words in refused for words in _WEAK):
        return "kernel is too weak", None
    if refused.startswith(_NAMED):
        return "kernel has no rule", None
    return "kernel refuses", f"the auditor accepts, and the kernel refuses: {refused}"


def _styled(path: Path, layers: Layers, rng: Random, root: float | None) -> Network:
    write_styled(path, layers, rng, root=root)
    return read_network(path)


def _false_claims(case: Case) -> Iterator[Property]:
    """Claims much like that of the case that break, the closest first."""
    for stronger in _stronger(case.claim):
        try:
            if case.oracle.breaks(stronger) is True:
                yield stronger
        except ArithmeticError:
            continue


def _stronger(claim: Property) -> Iterator[Property]:
    for shift in (Fraction(1, 2**20), Fraction(1, 2**9), Fraction(1, 8), Fraction(1, 2), Fraction(7, 8)):
        match claim:
            case Epsilon(eps):
                yield replace(claim, eps=Fraction(eps) * (1 - shift))
            case Margin(margin):
                yield replace(claim, margin=Fraction(margin) * (1 - shift))
            case Confidence(delta):
                yield replace(claim, delta=Fraction(delta) * (1 - shift))
            case Linear(_, _, bound, _):
                yield replace(claim, bound=Fraction(bound) - max(abs(Fraction(bound)), Fraction(1, 8)) * shift)
    if isinstance(claim, Margin | Confidence):
        yield Top1()
