"""The whole tool as a state machine: specs are checked, killed, resumed and certified, files change and are tampered
with, in any order; after every step what eqspec says is held against the exact oracle.

What must never be: `equivalent` where the oracle has an input that breaks the claim; `different` without a true
witness; a certificate that the auditor accepts and whose claim is false; an exit code or a report that says something
else than the results; a command that hangs, or fails in a way of its own. A kill, a cache full of forgeries or a
changed file may cost time, never a verdict.

Rules draw the same data whatever files there are, and do nothing where theirs are missing: a kill at a random moment
leaves one file or another, and a run that is to be shrunk has to be drawn again.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import signal
import xml.etree.ElementTree as Xml
from collections import Counter
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hypothesis import currently_in_test_context, note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import eqspec
from eqspec.cache import Store
from eqspec.certificates import Auditor, Certifier
from eqspec.errors import EqspecError
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from model.commands import Commands, Finished, Kill
from model.world import NAMES, SPEC, World, WrongError, as_expected, breaks, exit_code, judge, load, world

SEEN: Counter[str] = Counter()
"""What runs were examples of, for the summary of a campaign and for the test that all of it happens."""

_MEMORY = Path("/dev/shm")
_STOPPED: dict[int, int] = {signal.SIGINT: 130, signal.SIGTERM: 143}
BOXES = st.sampled_from([None, 1, 2, 5, 20])
TRUTH, MOSTLY = st.booleans(), st.sampled_from([True, True, True, False])
THREADS = st.integers(1, 2)
DOMAIN = st.sampled_from(["paper", "paper", "naive", "shared"])
KILLS = st.one_of(
    st.builds(Kill, st.sampled_from([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]), at=st.integers(0, 30)),
    st.builds(Kill, st.sampled_from([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]), after=st.floats(0.0, 0.2)),
)


@cache
def commands() -> Commands:
    """One process that forks, for all machines."""
    return Commands()


@cache
def auditor() -> Auditor:
    """One auditor, for all machines."""
    return Auditor()


def remark(text: str) -> None:
    """Shown with the steps of a run that fails."""
    if currently_in_test_context():
        note(text)


class Tool(RuleBasedStateMachine):
    """A folder with a spec and its networks, a cache, certificates and results."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(mkdtemp(prefix="model-", dir=_MEMORY if _MEMORY.is_dir() else None))
        self.cache, self.certificates = self.folder / "cache", self.folder / "certificates"
        self.results = self.folder / "results.json"
        self.whole = False  # whether the results are as they were written
        self.current = False  # and of the files as they are
        self.earlier: list[tuple[Path, bytes]] = []
        self.world: World

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize(seed=st.sampled_from(range(5000)))
    def begin(self, seed: int) -> None:
        self.world = next(made for at in count(seed) if (made := world(at)) is not None)
        self.world.write(self.folder)

    @rule(
        boxes=BOXES,
        threads=THREADS,
        domain=DOMAIN,
        lp=MOSTLY,
        cached=MOSTLY,
        resume=MOSTLY,
        certify=st.sampled_from([False, False, False, True]),
        jobs=st.integers(1, 2),
        kill=st.one_of(st.none(), st.none(), KILLS),
    )
    def check_by_command(
        self,
        boxes: int | None,
        threads: int,
        domain: str,
        lp: bool,
        cached: bool,
        resume: bool,
        certify: bool,
        jobs: int,
        kill: Kill | None,
    ) -> None:
        arguments: list[object] = ["check", SPEC, "--threads", threads, "--domain", domain, "--jobs", jobs]
        arguments += ["--timeout", 30, "--format", "json", "-o", self.results, "--report", "results.xml"]
        arguments += ["--cache", self.cache] if cached else ["--no-cache"]
        arguments += ["--resume"] if resume and cached else []
        arguments += [] if lp else ["--no-lp"]
        arguments += ["--certify", self.certificates] if certify else []
        self.results.unlink(missing_ok=True)
        self.whole = self.current = False
        done = self._run(arguments, boxes, kill)
        if not self.results.exists() or not self.results.read_text():
            if kill is None:
                raise WrongError(f"no results: {done}")
            return
        results = load(self.results)
        self.whole = self.current = True
        judge(self.world, results)
        self._count(results, cached=cached)
        if not self._stopped(done, kill):
            self._is_consistent(done, results, certify=certify)

    def _run(self, arguments: list[object], boxes: int | None = None, kill: Kill | None = None) -> Finished:
        done = commands().run(arguments, self.folder, boxes=boxes, kill=kill)
        remark(f"{done.code}: {done.err}")
        SEEN[f"{arguments[0]} ended with {done.code}"] += 1
        if done.code == 999 or done.code == 4 or "Traceback" in done.err:
            raise WrongError(f"{' '.join(map(str, arguments))} failed or hangs: {done}")
        return done

    def _stopped(self, done: Finished, kill: Kill | None) -> bool:
        return kill is not None and done.code in (-kill.signal, _STOPPED.get(kill.signal, 0), 130)

    def _is_consistent(self, done: Finished, results: list[dict[str, Any]], *, certify: bool) -> None:
        if [result["id"] for result in results] != list(NAMES):
            raise WrongError(f"results of {[result['id'] for result in results]}")
        if [result["as_expected"] for result in results] != [as_expected(result) for result in results]:
            raise WrongError("what is as expected is not what the verdicts say")
        lacking = certify and "no certificate" in done.err  # which may have an exit code of its own
        if done.code != exit_code(results) and not lacking:
            raise WrongError(f"the exit code is {done.code} for {[(r['verdict'], r['vacuous']) for r in results]}")
        self._counts_alike("results.xml", results)

    def _count(self, results: list[dict[str, Any]], *, cached: bool) -> None:
        for result in results:
            SEEN[result["verdict"]] += 1
            SEEN["from the cache"] += result["cached"]
            SEEN["resumed"] += result["resumed"]
            if (result["cached"] or result["resumed"]) and not cached:
                raise WrongError("an answer from a cache that was not asked for")

    @rule(
        boxes=BOXES, threads=THREADS, domain=DOMAIN, cached=st.booleans(), resume=st.booleans(), certify=st.booleans()
    )
    def check_by_api(
        self, boxes: int | None, threads: int, domain: Any, cached: bool, resume: bool, certify: bool
    ) -> None:
        cache = ResultCache(Store(self.cache, tell=remark), resume, keep_every=0.0) if cached else None
        spec = eqspec.load(self.folder / SPEC)
        certifier = Certifier(self.certificates) if certify and not cached else None
        options = Options(timeout=30.0, threads=threads, domain=domain, boxes=boxes, certifier=certifier)
        try:
            report = spec.run(spec.select(), options, cache=cache)
        finally:
            if certifier is not None:
                certifier.__exit__(None, None, None)
        results = report.to_json()
        judge(self.world, results)
        self._count(results, cached=cached)

    @rule(by=st.integers(0, 1000), role=st.sampled_from(["reference", "candidate"]))
    def change_a_network(self, by: int, role: str) -> None:
        try:
            changed = self.world.with_network(by, role)
        except ArithmeticError:
            return
        if changed.oracle.pieces:
            self._become(changed)

    @rule(number=st.integers(0, 1), by=st.integers(0, 1000))
    def change_the_claim(self, number: int, by: int) -> None:
        try:
            self._become(self.world.with_claim(number, by))
        except ArithmeticError:
            return

    def _become(self, changed: World) -> None:
        self.world = changed
        self.world.write(self.folder)
        self.current = False

    @rule(
        number=st.integers(0, 100),
        way=st.sampled_from(["flip", "flip", "cut", "empty", "exchange", "earlier", "verdict", "digest", "remove"]),
        place=st.integers(0, 10**6),
    )
    def tamper(self, number: int, way: str, place: int) -> None:
        if not (files := self._files()):
            return
        path, other = files[number % len(files)], files[(number // 7 + 1) % len(files)]
        content = path.read_bytes()
        if path == self.results:
            self.whole = False
        SEEN[f"tampered with {path.suffix}"] += 1
        match way:
            case "flip" if content:
                at = place % len(content)
                path.write_bytes(content[:at] + bytes([content[at] ^ 1 << place % 8]) + content[at + 1 :])
            case "cut":
                path.write_bytes(content[: place % (len(content) + 1)])
            case "empty":
                path.write_bytes(b"")
            case "exchange":
                path.write_bytes(other.read_bytes())
                other.write_bytes(content)
                self.whole &= self.results not in (path, other)
            case "earlier" if self.earlier:
                path, content = self.earlier[place % len(self.earlier)]
                self.whole &= path != self.results
                path.write_bytes(content)
            case "verdict":
                path.write_bytes(
                    content.replace(b'"different"', b'"equivalent"').replace(b'"unknown"', b'"equivalent"')
                )
            case "digest":
                self._forge(path, content)
            case "remove":
                path.unlink()

    def _forge(self, path: Path, content: bytes) -> None:
        """An entry that says it is proved, with all digests made good for which no key is needed."""
        first, _, rest = content.partition(b"\n")
        if path.suffix == ".result" and rest.startswith(b"{"):
            data = json.loads(rest)
            data["result"] |= {"verdict": "equivalent", "witness": None, "reason": None, "certified_fraction": 1.0}
            rest = json.dumps(data).encode()
            digest = hashlib.sha256(f"result\0{path.stem}\0".encode() + rest).hexdigest()
            path.write_bytes(b" ".join([*first.split(b" ")[:3], digest.encode()]) + b"\n" + rest)
        elif path.suffix == ".eqcert":
            try:
                head, _, proof = gzip.decompress(content).partition(b"\n")
                header = json.loads(head)
                text = json.dumps(header["task"]["property"])
                header["task"]["property"] = json.loads(text.replace("/", "/1").replace('"bound": "', '"bound": "-'))
            except (OSError, EOFError, ValueError, KeyError):
                return
            path.write_bytes(gzip.compress(json.dumps(header).encode() + b"\n" + proof))

    def _files(self) -> list[Path]:
        kept = [path for path in self.cache.rglob("*") if path.suffix in (".result", ".search")]
        results = [self.results] if self.results.exists() else []
        found: list[Path] = sorted([*kept, *self.certificates.glob("*.eqcert"), *results])
        return [path for path in found if path.is_file()]

    @rule(number=st.integers(0, 100))
    def remember_a_file(self, number: int) -> None:
        """As it is now, so that it can be put back later."""
        if not (files := self._files()):
            return
        path = files[number % len(files)]
        self.earlier.append((path, path.read_bytes()))

    @rule()
    def audit(self) -> None:
        """Whatever happened to them: what is accepted is true of the networks as they are."""
        accepted = []
        for path in sorted(self.certificates.glob("*.eqcert")):
            try:
                answer = auditor().ask(path, self.folder)
            except EqspecError as error:
                raise WrongError(f"the auditor dies of {path.read_bytes()!r}: {error}") from None
            if answer.refused is not None:
                SEEN["certificate refused"] += 1
                continue
            SEEN["certificate accepted"] += 1
            accepted.append(path)
            with gzip.open(path) as file:
                broken = breaks(self.world, json.loads(file.readline()))
            if broken is (answer.verdict == "equivalent"):
                raise WrongError(f"the auditor accepts {answer.verdict}: {answer.claim}")

    @rule()
    def audit_by_command(self) -> None:
        if not any(self.certificates.glob("*.eqcert")):
            return
        done = self._run(["audit", self.certificates, "--networks", self.folder])
        refused = done.out.count("refused: ")
        if done.code != (1 if refused else 0):
            raise WrongError(f"audit refuses {refused} and ends with {done.code}")

    @rule()
    def replay(self) -> None:
        if not self.results.exists():
            return
        done = self._run(["replay", self.results])
        if self.whole and self.current:
            different = sum(result["verdict"] == "different" for result in load(self.results))
            said = f"{different} input{'s' * (different != 1)} confirmed, 0 not" if different else "no witnesses"
            if done.code != 0 or said not in done.out:
                raise WrongError(f"{different} witnesses, and replay says {done}")
        elif done.code not in (0, 1, 2):
            raise WrongError(f"replay ends with {done.code}")

    @rule(form=st.sampled_from(["html", "jsonl", "xml", "sarif", "txt"]))
    def report(self, form: str) -> None:
        if not self.results.exists():
            return
        target = f"report.{form}"
        done = self._run(["report", self.results, "-o", target])
        if self.whole:
            if done.code != 0:
                raise WrongError(f"no report: {done}")
            self._counts_alike(target, load(self.results))
        elif done.code not in (0, 2):
            raise WrongError(f"report ends with {done.code}")

    def _counts_alike(self, target: str, results: list[dict[str, Any]]) -> None:
        """Every form tells of as many tasks, failures and undecided ones."""
        text = (self.folder / target).read_text()
        failed, undecided = ([as_expected(r) for r in results].count(what) for what in (False, None))
        found: Any = None
        wanted: Any = (len(results), failed, undecided)
        match target.rpartition(".")[2]:
            case "xml":
                suites = Xml.fromstring(text)
                found = tuple(int(suites.get(name, "-1")) for name in ("tests", "failures", "errors"))
            case "sarif":
                (run,) = json.loads(text)["runs"]
                levels = [result["level"] for result in run["results"]]
                found = (run["properties"]["tasks"], levels.count("error"), levels.count("warning"))
            case "jsonl":
                lines = [json.loads(line) for line in text.splitlines()]
                found, wanted = lines, results
            case "txt":
                last = text.rstrip().splitlines()[-1]
                found = tuple(words in last for words in (f"{len(results)} tasks", "not as expected", "undecided"))
                wanted = (True, failed > 0, undecided > 0)
            case "html":
                found, wanted = [name in text for name in NAMES], [True, True]
        if found != wanted:
            raise WrongError(f"{target} says {found} of {wanted}")

    @invariant()
    def nothing_is_left_half_written(self) -> None:
        """But by a kill, which may leave a temporary file behind; it is never taken for an entry."""
        for path in self.cache.rglob("*") if self.cache.is_dir() else ():
            known = (".result", ".search", ".trail", ".agreement", ".lock", ".part", ".unusable", ".TAG")
            if path.is_file() and path.suffix not in known:
                raise WrongError(f"what is {path}?")
