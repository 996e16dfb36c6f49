"""Shows that the Rust tests can fail: breaks the core on purpose, one place at a time, and runs them against it.

`python tests/mutation/run.py` copies the crate aside, so the repository is never touched. Every mutant of mutants.toml
names the text it replaces, which must occur exactly once; if the sources have moved on, the run stops before it starts
and says which to write anew. The signs of the table of phase pairs are not listed but found, so that a new row is
mutated, too.

A mutant is *unsound* unless it says otherwise: some bound would be wrong, and a test must notice. `looser` mutants give
true but weaker bounds, `rounding` mutants drop an allowance for the rounding of an allowance, far below what a test can
meet; both may survive. The result goes to RESULTS.md with `--write`. It takes about twenty minutes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).with_name("RESULTS.md")
PHASES = "Inactive|Active|Unstable"
TABLE = "rust/src/domain/relu.rs"
#: Fast to compile, and fast enough to run.
PROFILE = ("profile.dev.opt-level=1", "profile.dev.debug=false", 'profile.dev.package."*".opt-level=2')
#: A mutant that makes the tests run for longer than this many seconds is noticed by whoever runs them.
PATIENCE = 900


class StaleError(Exception):
    """Some mutant does not fit the sources any more."""


@dataclass(frozen=True)
class Mutant:
    """One change to one file; `tests` are the filters of `cargo test` that ought to notice it."""

    what: str
    file: str
    find: str
    replace: str
    kind: str
    tests: tuple[str, ...]


UNCHANGED = Mutant("nothing changed, all tests", TABLE, "", "", "unsound", ())


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant."""

    mutant: Mutant
    killed: bool
    by: str


def table_of_phase_pairs(source: str) -> Iterator[Mutant]:
    """Every coefficient of every row of the table, with its sign flipped and left out; StaleError if the table is not
    found whole."""
    arm = re.compile(rf"\(({PHASES}), ({PHASES})\)( if share_fresh)? => (?:Row \{{ (.*), \.\.zero \}},|zero,|\{{)")
    rows = [(found, found[4]) for found in arm.finditer(source)]
    pairs = {(found[1], found[2]) for found, _ in rows}
    if len(pairs) != 9 or len(rows) != 11:
        raise StaleError(f"{TABLE}: expected 9 pairs of phases in 11 rows, found {len(pairs)} in {len(rows)}")
    for found, fields in rows:
        for field in (fields or "").split(", "):
            if not field:
                continue
            name, value = field.split(": ")
            for change, instead in (("flipped", f"-({value})"), ("left out", "0.0")):
                what = f"{found[1]}, {found[2]}{found[3] or ''}: {name} {change}"
                row = found[0].replace(f"{name}: {value}", f"{name}: {instead}", 1)
                yield Mutant(what, TABLE, found[0], row, "unsound", ("containment", "published"))


def listed() -> Iterator[Mutant]:
    """The mutants of mutants.toml."""
    with Path(__file__).with_name("mutants.toml").open("rb") as file:
        document = tomllib.load(file)
    for source in document["file"]:
        for place in source["place"]:
            for what, part, instead, *kind in place["changes"]:
                if place["text"].count(part) != 1:
                    raise StaleError(f"{source['path']}: {what}: {part!r} must occur once in {place['text']!r}")
                changed = place["text"].replace(part, instead)
                word = kind[0] if kind else "unsound"
                yield Mutant(what, source["path"], place["text"], changed, word, tuple(source["tests"]))


def checked(mutants: list[Mutant]) -> list[Mutant]:
    """The same mutants; StaleError, with all of them, if some do not fit."""
    stale = []
    for mutant in mutants:
        count = (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.find)
        if count != 1:
            stale.append(f"{mutant.file}: {mutant.what}: found {count} times: {mutant.find!r}")
    if stale:
        raise StaleError("these mutants must be written anew:\n  " + "\n  ".join(stale))
    return mutants


def cargo(crate: Path, target: Path, *arguments: str) -> subprocess.CompletedProcess[str] | None:
    """Runs `cargo test`; None if it takes too long."""
    command = ["cargo", "test", "--quiet", *(part for option in PROFILE for part in ("--config", option))]
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(target),
        "PROPTEST_MAX_SHRINK_ITERS": "0",
        "RUST_BACKTRACE": "0",
    }
    try:
        return subprocess.run(
            [*command, "--lib", "--test", "core", *arguments],
            cwd=crate,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None


def judge(mutant: Mutant, crate: Path, target: Path) -> Outcome:
    """Compiles and tests one mutant in the copied crate, which is restored afterwards."""
    path = crate / mutant.file
    original = path.read_text(encoding="utf-8")
    path.write_text(original.replace(mutant.find, mutant.replace) if mutant.find else original, encoding="utf-8")
    try:
        built = cargo(crate, target, "--no-run")
        if built is None or built.returncode:
            raise StaleError(f"{mutant.what} does not compile:\n{built.stderr if built else 'no end'}")
        tested = cargo(crate, target, "--", *mutant.tests)
    finally:
        path.write_text(original, encoding="utf-8")
    if tested is None:
        return Outcome(mutant, True, "never ends")
    failed = re.findall(r"^    (\w+(?:::\w+)+)$", tested.stdout, re.MULTILINE)
    if tested.returncode and not failed:
        return Outcome(mutant, True, "crash")
    return Outcome(mutant, bool(failed), failed[0] if failed else "")


def report(outcomes: list[Outcome]) -> str:
    """RESULTS.md: counts by file, then every survivor with the reason why it may survive."""
    lines = ["# What the Rust tests notice", "", "Written by `run.py --write`, which explains the words.", ""]
    lines += [
        "| file | unsound, killed | unsound, survived | looser or rounding, killed | survived |",
        "|---|---|---|---|---|",
    ]
    for file in dict.fromkeys(o.mutant.file for o in outcomes):
        count = Counter((o.mutant.kind == "unsound", o.killed) for o in outcomes if o.mutant.file == file)
        numbers = [count[unsound, killed] for unsound in (True, False) for killed in (True, False)]
        lines.append(f"| `{file.removeprefix('rust/src/')}` | " + " | ".join(map(str, numbers)) + " |")
    lines += ["", "Survivors:", ""]
    survivors = [o.mutant for o in outcomes if not o.killed]
    lines += [f"- {m.kind}, `{m.file.removeprefix('rust/src/')}`, {m.what}" for m in survivors] or ["- none"]
    lines += ["", "Tests that killed most:", ""]
    by = Counter(o.by for o in outcomes if o.killed)
    lines += [f"- {test}: {count}" for test, count in by.most_common(12)]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Exit code 0 if every unsound mutant was killed, 1 if not, 2 if the mutants do not fit the sources."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", action="append", default=[], help="mutants whose file or description contains this; may be repeated"
    )
    parser.add_argument("--target", type=Path, help="keep compiled dependencies here for the next run")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument("--list", action="store_true", help="list the mutants, after checking that they fit")
    options = parser.parse_args()
    table = (ROOT / TABLE).read_text(encoding="utf-8")
    outcomes = []
    try:
        mutants = checked([*table_of_phase_pairs(table), *listed()])
        wanted = options.only or [""]
        mutants = [m for m in mutants if any(word in f"{m.file} {m.what}" for word in wanted)]
        if options.list:
            print(*(f"{m.file}: {m.what} ({m.kind})" for m in mutants), sep="\n")
            return 0
        with tempfile.TemporaryDirectory() as folder:
            crate = Path(folder) / "crate"
            target = (options.target or Path(folder) / "target").resolve()
            crate.mkdir()
            for name in ("Cargo.toml", "Cargo.lock", "rust", "tests/rust", "benches/core"):
                source = ROOT / name
                (shutil.copytree if source.is_dir() else shutil.copy)(source, crate / name)
            for mutant in [UNCHANGED, *mutants]:
                start = time.monotonic()
                outcome = judge(mutant, crate, target)
                if mutant is UNCHANGED and outcome.killed:
                    print(f"{outcome.by} fails without any mutant", file=sys.stderr)
                    return 2
                outcomes += [outcome] if mutant is not UNCHANGED else []
                word = f"killed by {outcome.by}" if outcome.killed else "all pass"
                print(f"{time.monotonic() - start:4.0f} s  {word}: {mutant.file}: {mutant.what}", flush=True)
    except StaleError as error:
        print(error, file=sys.stderr)
        return 2
    if options.write:
        RESULTS.write_text(report(outcomes), encoding="utf-8")
    print(report(outcomes))
    return int(any(not o.killed and o.mutant.kind == "unsound" for o in outcomes))


if __name__ == "__main__":
    sys.exit(main())
