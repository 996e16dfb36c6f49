"""False claims with changed records, by the hundred thousand: none may be accepted.

    PYTHONPATH=tests python -m unit.kernel.campaign --cases 100000 --seed 1

A slice of it is a test. Exit code 1 if the kernel accepted something false. One process of the kernel is asked about
all false claims: to start one costs many times what most of them do.
"""

from __future__ import annotations

import argparse
import selectors
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic

from eqspec.kernel import find
from eqspec.kernel.binary import ask, stream
from unit.kernel.pairs import (
    Claim,
    Pair,
    blurred,
    changed,
    claims,
    points,
    question,
    random_pair,
    stored,
    twins,
    with_room,
)

EACH = 25
"""Changes of the records of one claim."""


@dataclass
class Counts:
    """What came of them."""

    true: int = 0
    accepted: int = 0
    false: int = 0
    wrong: int = 0


def hunt(cases: int, seed: int, folder: Path, minutes: float = float("inf")) -> Counts:
    """At least so many false claims, or as many as the time is enough for.

    Their records prove a weaker claim or try to prove the false one.
    """
    end = monotonic() + 60 * minutes
    random, counts = Random(seed), Counts()
    with closing(Kernel()) as kernel:
        while counts.false < cases and monotonic() < end:
            if random.random() < 0.2:
                pair = stored(random)
                _levels(blurred(pair, random) if random.random() < 0.3 else pair, random, folder, counts, kernel)
                continue
            pair = twins(random) if random.random() < 0.2 else random_pair(random)
            pair = blurred(pair, random) if random.random() < 0.3 else pair
            for claim, threshold in claims(pair, random):
                _one(pair, claim, threshold, random, folder, counts, kernel)
    return counts


class Kernel:
    """A process of the kernel that is asked about one stream after the other."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        command = [str(find()), "--each"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def close(self) -> None:
        """End it."""
        with self._process as process:
            process.kill()

    def accepts(self, data: bytes, seconds: float = 20.0) -> bool:
        """Whether it accepts a stream within this time; a new process takes the place of one that does not answer."""
        pipe, found = self._process.stdout, b""
        assert pipe is not None
        assert self._process.stdin is not None
        self._process.stdin.write(b"%d\n%b" % (len(data), data))
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while not found.endswith(b"\n\n"):
                more = pipe.read(65536) if selector.select(seconds) else b""
                if not more:
                    self.close()
                    self._start()
                    return False
                found += more
        return found.startswith(b"accepted\n")


def _one(
    pair: Pair, claim: Claim, broken: Fraction, random: Random, folder: Path, counts: Counts, kernel: Kernel
) -> None:
    binary, text, records = find(), pair.text(), list[str]()
    for factor in (Fraction(3, 2), Fraction(4), Fraction(100)):
        counts.true += 1
        data = stream(text, question(pair, claim(broken * factor + 1)), ["P 3"])
        if ask(binary, data, 20, folder / "records").refused is None:
            assert kernel.accepts(data), "one stream has two answers"
            counts.accepted += 1
            records = (folder / "records").read_text().splitlines()
            break
    false = [question(pair, claim(broken * part)) for part in (Fraction(1), Fraction(9, 10), Fraction(0))]
    for _ in range(EACH):
        _false(stream(text, random.choice(false), changed(records or ["P 2"], random)), counts, kernel)


def _levels(pair: Pair, random: Random, folder: Path, counts: Counts, kernel: Kernel) -> None:
    """That levels fit their types though at some point they do not: with the proof that they fit wider ones."""
    for wrapping in (False, True):
        if all(pair.fits(point, wrapping) for point in points(pair, random, 30)):
            continue
        claim, roomy, records = f"fits {int(wrapping)}", with_room(pair), list[str]()
        counts.true += 1
        data = stream(roomy.text(), question(roomy, claim), ["P 3"])
        if ask(find(), data, 20, folder / "records").refused is None:
            counts.accepted += 1
            records = (folder / "records").read_text().splitlines()
        text, false = pair.text(), question(pair, claim)
        for _ in range(EACH):
            _false(stream(text, false, changed(records or ["P 2"], random)), counts, kernel)


def _false(data: bytes, counts: Counts, kernel: Kernel) -> None:
    counts.false += 1
    if kernel.accepts(data):
        counts.wrong += 1
        kept = Path(f"wrong-{counts.wrong}.stream")
        kept.write_bytes(data)
        print(f"ACCEPTED: {kept}", file=sys.stderr)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time, and say the counts")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        counts = hunt(arguments.cases, arguments.seed, Path(folder), arguments.minutes)
    print(f"true claims {counts.true}, accepted {counts.accepted}; false ones {counts.false}, accepted {counts.wrong}")
    return int(counts.wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
