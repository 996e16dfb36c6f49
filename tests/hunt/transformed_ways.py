"""Ways to ask one question, all of which must give the same answer: specs, calls, commands, VNN-LIB, kept results."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any

import onnx

import eqspec
from eqspec.api.cache_choice import open_cache
from eqspec.certificates import Certifier
from eqspec.cli import main
from eqspec.errors import EqspecError, SpecError
from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.tasks.result import Result
from hunt.auditor_here import AuditorHere
from hunt.transformed_questions import Point, Question
from oracle.pairs import Random
from unit.certificates.proofs import unpack

BOXES = 200
SECONDS = 30.0
"""Of a question: boxes are what ends a search, so that the same one is given up at the same place."""
COMMAND_SECONDS = 4.0
"""Of a command, which knows no limit of boxes."""


@dataclass(frozen=True)
class Answer:
    """What was said: a verdict, or `refused` with codes; a point that breaks the claim; and what else is wrong."""

    verdict: str
    witness: Point | None = None
    detail: str = ""
    wrong: str | None = None

    @property
    def decided(self) -> bool:
        """Whether it is a verdict."""
        return self.verdict in ("equivalent", "different")


@dataclass(frozen=True)
class Desk:
    """Where files are written."""

    folder: Path

    def write(self, question: Question, clauses: str = "") -> Path:
        """Both files and the spec."""
        for name, model in (("f", question.f), ("g", question.g)):
            onnx.save(model, self.folder / f"{name}.onnx")
        path = self.folder / "q.eqspec"
        path.write_text(question.spec(clauses))
        return path


def _answer(result: Result) -> Answer:
    witness = None if result.witness is None else [Fraction(x) for x in result.witness.raw]
    detail = str(result.reason.value) if result.reason is not None else ("vacuous" if result.vacuous else "")
    return Answer(result.verdict.value, witness, detail)


def _refused(error: EqspecError) -> Answer:
    if isinstance(error, SpecError):
        return Answer("refused", detail=", ".join(sorted({d.code for d in error.diagnostics if d.severity == "error"})))
    return Answer("refused", detail=f"{type(error).__name__}: {str(error)[:160]}")


def _run(
    question: Question, desk: Desk, options: Options, clauses: str = "", cache: ResultCache | None = None
) -> Result:
    desk.write(question, clauses)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec = eqspec.loads(question.spec(clauses), directory=desk.folder)
        (result,) = spec.run(spec.select(), options, cache=cache, progress=False).results
    return result


def _limits(**more: Any) -> Options:
    return Options(**{"timeout": SECONDS, "threads": 1, "boxes": BOXES, **more})


def by_spec(question: Question, desk: Desk, _: Random) -> Answer:
    """The text of a spec, in this process."""
    return _answer(_run(question, desk, _limits()))


def by_two_threads(question: Question, desk: Desk, _: Random) -> Answer:
    """The same with two threads."""
    return _answer(_run(question, desk, _limits(threads=2)))


def by_certificate(question: Question, desk: Desk, _: Random) -> Answer:
    """The same with a certificate, which is audited, and audited again."""
    folder = desk.folder / "certificates"
    with Certifier(folder, AuditorHere()) as certifier:
        answer = _answer(_run(question, desk, _limits(certifier=certifier)))
        made = next(iter(certifier.made.values()), None)
    if made is None or not answer.decided:
        return answer
    if made.reason is None:
        again = AuditorHere().ask(made.path)
        if again.refused is not None or again.verdict != answer.verdict:
            return Answer(answer.verdict, answer.witness, wrong=f"audited again, it is refused: {again.refused}")
        if (told := _other_files(made.path, desk)) is not None:
            return Answer(answer.verdict, answer.witness, wrong=told)
        return Answer(answer.verdict, answer.witness, "audited")
    return Answer(answer.verdict, answer.witness, f"no certificate: {made.reason}"[:110])


def _other_files(certificate: Path, desk: Desk) -> str | None:
    """Whether a certificate names another file than one that was asked about."""
    asked = unpack(certificate).header["task"]
    for role in ("reference", "candidate"):
        content = (desk.folder / f"{asked[role]['name']}.onnx").read_bytes()
        if asked[role]["sha256"] != sha256(content).hexdigest():
            return f"its certificate names another file as the {role}"
    return None


def by_cache(question: Question, desk: Desk, _: Random) -> Answer:
    """With few boxes first, then gone on with, then from what is kept."""
    kept = desk.folder / "kept"
    rmtree(kept, ignore_errors=True)
    first = _answer(_run(question, desk, _limits(boxes=7), cache=open_cache(kept, resume=False)))
    second = _answer(_run(question, desk, _limits(), cache=open_cache(kept, resume=True)))
    third = _run(question, desk, _limits(), cache=open_cache(kept, resume=True))
    said = {a.verdict for a in (first, second, _answer(third)) if a.decided}
    wrong = f"kept results say {sorted(said)}" if len(said) > 1 else None
    if second.decided and third.verdict.value != second.verdict:
        wrong = f"{second.verdict}, and from the cache {third.verdict.value}"
    return Answer(second.verdict, second.witness, second.detail, wrong)


def by_float32(question: Question, desk: Desk, _: Random) -> Answer:
    """With `arithmetic float32`, a claim of its own: what breaks it breaks the real one."""
    answer = _answer(_run(question, desk, _limits(), "arithmetic float32"))
    return Answer(f"float32 {answer.verdict}" if answer.verdict != "different" else "different", answer.witness)


def by_call(question: Question, desk: Desk, _: Random) -> Answer:
    """A call of `eqspec.verify`."""
    desk.write(question)
    asked = _property(question)
    if asked is None:
        return Answer("not asked")
    f, g = (desk.folder / f"{name}.onnx" for name in ("gf" if question.claim.exchanged else "fg"))
    more: dict[str, Any] = {"scores": question.gives.split()[-1]} if question.gives else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _answer(eqspec.verify(str(f), str(g), *question.box, asked, options=_limits(), progress=False, **more))


def _property(question: Question) -> Property | None:
    claim = question.claim
    match claim.kind:
        case "distance":
            return Epsilon(claim.bound, claim.norm)  # type: ignore[arg-type]
        case "linear":
            rows = [[int(i == at) for i in range(question.outputs)] for at in claim.outputs]
            return Linear(tuple(rows[0]), tuple(-n for n in rows[1]), claim.bound)
        case "top1":
            return Top1()
        case "margin":
            return Margin(claim.bound)
        case "confidence":
            return Confidence(claim.bound)
    return None


def by_verify(question: Question, desk: Desk, _: Random) -> Answer:
    """The command `eqspec verify`."""
    desk.write(question)
    claim, ends = question.claim, [",".join(str(x) for x in end) for end in question.box]
    words = {
        "distance": ["--eps", str(claim.bound), "--norm", claim.norm],
        "top1": ["--top1"],
        "margin": ["--margin", str(claim.bound)],
        "confidence": ["--confidence", str(claim.bound)],
    }
    if claim.kind not in words:
        return Answer("not asked")
    f, g = (str(desk.folder / f"{name}.onnx") for name in ("gf" if claim.exchanged else "fg"))
    asked = ["verify", f, g, f"--lower={ends[0]}", f"--upper={ends[1]}", *words[claim.kind], "--takes", "raw"]
    asked += ["--no-cache", "--threads", "1", "--timeout", str(COMMAND_SECONDS), "--format", "json"]
    asked += ["--" + question.gives.split()[-1]] if question.gives else []
    said = _command(asked)[0]
    return _of_json(said)


def _of_json(text: str) -> Answer:
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return Answer("refused", detail="no result: " + text[:160])
    found = found[0] if isinstance(found, list) else found
    witness = found.get("witness")
    point = None if witness is None else [Fraction(str(x)) for x in witness.get("raw_exact", witness["raw"])]
    return Answer(found["verdict"], point, str(found.get("reason")))


def _command(asked: list[str]) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(SystemExit):
            main(asked)
    return out.getvalue(), err.getvalue()


def by_vnnlib(question: Question, desk: Desk, rng: Random) -> Answer:
    """Exported to VNN-LIB, as a pair or as one product, and answered there; the assignment is only counted."""
    path, to = desk.write(question), desk.folder / "exported"
    rmtree(to, ignore_errors=True)
    form = str(rng.choice(["vnnlib2", "product-onnx"]))
    _, told = _command(["export", str(path), "--to", form, "-o", str(to)])
    queries = list(to.glob("vnnlib/*.vnnlib"))
    if len(queries) != 1:
        return Answer("refused", detail=f"no {form}: {told[:100]}")
    network, query, _ = (to / "instances.csv").read_text().strip().rsplit(",", 2)
    limits = ["--timeout", str(COMMAND_SECONDS), "--threads", "1"]
    name = network.strip('"')
    if name.startswith("["):
        pairs = [part.split(",") for part in name.strip("[]() ").replace("'", "").split("),")]
        networks = [f"--network={a.strip('( ')}={_found(to, b.strip(' )'))}" for a, b in pairs]
    else:
        networks = [f"--network=n={_found(to, name)}"]
    said, told = _command(["verify-vnnlib", str(to / query.strip('"')), *networks, *limits])
    word = said.split("\n", 1)[0].strip()
    covers_more = "unless" in queries[0].read_text().lower() or question.claim.kind == "confidence" or form != "vnnlib2"
    verdict = {"unsat": "equivalent", "sat": "" if covers_more else "different"}.get(word, "unknown")
    return Answer(verdict or "sat", None, f"{form} {word}: {told[:100] if word == 'error' else ''}")


def _found(folder: Path, name: str) -> Path:
    path = Path(name)
    return path if path.is_absolute() else folder / path


def by_import(question: Question, desk: Desk, _: Random) -> Answer:
    """Exported to VNN-LIB 2.0, imported as a spec, and this checked."""
    path, to = desk.write(question), desk.folder / "exported"
    rmtree(to, ignore_errors=True)
    told = _command(["export", str(path), "--to", "vnnlib2", "-o", str(to)])[1]
    queries = list(to.glob("vnnlib/*.vnnlib"))
    if len(queries) != 1:
        return Answer("refused", detail=f"no export: {told[:100]}")
    files = [f"--network={name}={desk.folder / name}.onnx" for name in ("f", "g")]
    text, told = _command(["import", str(queries[0]), *files])
    if not text.startswith("eqspec 1"):
        return Answer("refused", detail=f"no import: {told[:100]}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec = eqspec.loads(text, directory=desk.folder)
        answers = [_answer(r) for r in spec.run(spec.select(), _limits(), progress=False).results]
    worst = min(answers, key=lambda answer: ("different", "unknown", "equivalent").index(answer.verdict))
    # VNN-LIB says of confidences only what their leads imply, which lower ones can have too.
    return Answer("sat") if worst.verdict == "different" and question.claim.kind == "confidence" else worst


def by_interrupt(question: Question, desk: Desk, rng: Random) -> Answer:
    """`eqspec check` in a process of its own, ended by Ctrl-C after a while, and gone on with."""
    path, kept = desk.write(question), desk.folder / "interrupted"
    rmtree(kept, ignore_errors=True)
    said = desk.folder / "said.json"
    asked = [sys.executable, "-m", "eqspec", "check", str(path), "--threads", "1", "--cache", str(kept)]
    asked += ["--timeout", str(2 * COMMAND_SECONDS), "-o", str(said), "--format", "json"]
    answers = []
    for again in (False, True):
        said.unlink(missing_ok=True)
        process = subprocess.Popen(
            [*asked, *(["--resume"] if again else [])], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "EQSPEC_CACHE_KEY": "a secret of a test"},
        )  # fmt: skip
        if not again:
            time.sleep(float(rng.uniform(0.8, 3)))
            process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        if said.exists() and said.stat().st_size:
            answers.append(_of_json(said.read_text()))
    decided = {a.verdict for a in answers if a.decided}
    wrong = f"before and after Ctrl-C: {sorted(decided)}" if len(decided) > 1 else None
    return Answer(answers[-1].verdict, answers[-1].witness, answers[-1].detail, wrong) if answers else Answer("refused")


WAYS: tuple[Callable[[Question, Desk, Random], Answer], ...] = (
    by_two_threads, by_certificate, by_certificate, by_cache, by_float32, by_call, by_verify, by_vnnlib, by_import,
)  # fmt: skip
RARE = by_interrupt
"""It costs seconds."""


def ask(way: Callable[[Question, Desk, Random], Answer], question: Question, desk: Desk, rng: Random) -> Answer:
    """The answer to a question; what is refused is one, too."""
    try:
        return way(question, desk, rng)
    except EqspecError as error:
        return _refused(error)
