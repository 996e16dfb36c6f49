"""What both checkers of certificates accept and cost: `python -m benches.checkers lhc acas-0.05` from the root.

Every query of the acceptance families (`tests/acceptance/families.py`; `specs` are the proofs of our own specs) is
proved with one thread and a certificate, which the auditor and the kernel (`make -C kernel`) then check. Certificates
are kept in `benches/results/checkers`, so that another kernel can be tried on the same ones. All times are CPU seconds:
of the whole process of the auditor, and of reading, writing and checking for the kernel. Every query is a line of the
log at once; a run goes on where the last one stopped, and no query begins after `--minutes`. `--table` prints what a
log says.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import resource
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from eqspec.__main__ import ONE_THREAD

os.environ.update(dict.fromkeys(ONE_THREAD, "1"))  # as the command does, before numpy is loaded

from acceptance import families as acceptance
from acceptance.published import Query
from benches import RESULTS, ROOT
from benches.families import spec_queries
from eqspec.certificates import SUFFIX, Auditor, Certifier
from eqspec.certificates.certifier import name_of
from eqspec.kernel import check
from eqspec.run.options import Options
from eqspec.run.runner import Runner

FOLDER = RESULTS / "checkers"
KEPT = Path(__file__).parent / "checkers.csv"
SPECS = ("tiny/tiny", "lhc", "digits", "cells")


@dataclass(frozen=True)
class Outcome:
    """Of one query. `kernel` is `accepted`, the reason of a refusal, or empty where there is nothing to check."""

    family: str
    query: str
    verdict: str
    certificate: str
    size: int = 0
    leaves: int = 0
    auditor: float = 0.0
    reading: float = 0.0
    checking: float = 0.0
    kernel: str = ""
    kernel_leaves: int = 0

    @property
    def ratio(self) -> float:
        """The kernel's CPU over the auditor's."""
        return (self.reading + self.checking) / max(self.auditor, 1e-9)


def queries(family: str) -> list[Query]:
    """Of a family by its name; `specs` are the checks of our own specs."""
    if family == "specs":
        return [query for name in SPECS for query in spec_queries(ROOT / "specs" / f"{name}.eqspec")()]
    return acceptance.FAMILIES[family].queries()


def outcome(family: str, query: Query, folder: Path, seconds: float, timeout: float) -> Outcome:
    """Prove, audit, check; where the certificate is there from an earlier run it is taken."""
    path = folder / (re.sub(r"[^\w.,=-]+", "_", f"{family} {query.name}") + SUFFIX)
    verdict = "equivalent"
    if not path.exists():
        with TemporaryDirectory(dir=folder) as new:
            with Certifier(Path(new)) as certifier:
                result = Runner(Options(threads=1, timeout=timeout, certifier=certifier)).run(query.task)
                made = certifier.made.get(name_of(query.task))
            verdict = result.verdict.value
            if made is None or made.reason is not None:
                return Outcome(family, query.name, verdict, "none" if made is None else made.reason or "")
            if verdict == "equivalent":
                next(Path(new).glob(f"*{SUFFIX}")).rename(path)
    if verdict != "equivalent":
        return Outcome(family, query.name, verdict, "a counterexample")
    auditor, leaves = audited(path)
    before, children = cpu(), cpu(resource.RUSAGE_CHILDREN)
    answer = check(path, path.parent, seconds)
    reading, checking = cpu() - before, cpu(resource.RUSAGE_CHILDREN) - children
    said = "accepted" if answer.refused is None else answer.refused
    kernel_leaves = int(answer.fields.get("leaves", 0))
    size = path.stat().st_size
    return Outcome(
        family, query.name, verdict, "written", size, leaves, auditor, reading, checking, said, kernel_leaves
    )


def audited(path: Path) -> tuple[float, int]:
    """CPU seconds of the auditor's process, its start included, and the leaves that it checked."""
    before = cpu(resource.RUSAGE_CHILDREN)
    with Auditor() as auditor:
        answer = auditor.ask(path)
    if answer.refused is not None:
        raise SystemExit(f"the auditor refuses {path}: {answer.refused}")
    return cpu(resource.RUSAGE_CHILDREN) - before, answer.leaves


def cpu(who: int = resource.RUSAGE_SELF) -> float:
    """User and system time so far."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def read(log: Path) -> list[Outcome]:
    """What a log has."""
    if not log.exists():
        return []
    kinds = {f.name: {"int": int, "float": float}.get(str(f.type), str) for f in fields(Outcome)}
    with log.open(newline="") as file:
        return [Outcome(**{name: kinds[name](value) for name, value in row.items()}) for row in csv.DictReader(file)]


def append(log: Path, found: Outcome) -> None:
    """One more line, with a head on the first."""
    row = {name: f"{value:.2f}" if isinstance(value, float) else value for name, value in asdict(found).items()}
    first = not log.exists()
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(row), lineterminator="\n")
        if first:
            writer.writeheader()
        writer.writerow(row)


def table(found: Sequence[Outcome]) -> Iterator[str]:
    """Per family: how many proofs are accepted, what both cost, and why the others are refused."""
    heads = ("family", "queries", "proofs", "certificates", "accepted", "auditor, CPU s", "kernel, CPU s", "ratio")
    yield f"| {' | '.join(heads)} in sum, median, largest | largest certificate |"
    yield "|---" * (len(heads) + 1) + "|"
    for family in dict.fromkeys(o.family for o in found):
        here = [o for o in found if o.family == family]
        proofs = [o for o in here if o.verdict == "equivalent"]
        written = [o for o in proofs if o.certificate == "written"]
        accepted = [o for o in written if o.kernel == "accepted"]
        auditor, kernel = sum(o.auditor for o in accepted), sum(o.reading + o.checking for o in accepted)
        ratios = sorted(o.ratio for o in accepted) or [0.0]
        cells = [family, *map(str, map(len, (here, proofs, written, accepted))), f"{auditor:.0f}", f"{kernel:.0f}"]
        cells.append(f"{kernel / max(auditor, 1e-9):.1f}, {ratios[len(ratios) // 2]:.1f}, {ratios[-1]:.1f}")
        yield f"| {' | '.join(cells)} | {max((o.size for o in written), default=0):,} B |"
    refused = Counter(re.sub(r"\d+", "N", o.kernel) for o in found if o.kernel not in ("", "accepted"))
    for reason, count in refused.most_common():
        yield f"\n{count} refused: {reason}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser("python -m benches.checkers", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("families", nargs="*", help=f"of {', '.join(['specs', *acceptance.FAMILIES])}")
    parser.add_argument(
        "--log", type=Path, default=KEPT, help="where outcomes are kept (default: benches/checkers.csv)"
    )
    parser.add_argument("--seconds", type=float, default=600, help="for the kernel, per certificate")
    parser.add_argument("--minutes", type=float, default=60, help="after which no query begins")
    parser.add_argument("--timeout", type=float, default=120, help="for each proof")
    parser.add_argument("--only", default="", help="only queries with this in their names")
    parser.add_argument("--table", action="store_true", help="print what the log says")
    given = parser.parse_args()
    if given.table:
        print("\n".join(table(read(given.log))))
        return
    began, known = perf_counter(), {(o.family, o.query) for o in read(given.log)}
    FOLDER.mkdir(parents=True, exist_ok=True)
    for family in given.families:
        for query in queries(family):
            if (family, query.name) in known or given.only not in query.name:
                continue
            if perf_counter() - began > 60 * given.minutes:
                return
            found = outcome(family, query, FOLDER, given.seconds, given.timeout)
            append(given.log, found)
            print(f"{family} {query.name}: {found.verdict}, {found.kernel or found.certificate}", flush=True)


if __name__ == "__main__":
    main()
