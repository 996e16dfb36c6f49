"""A fixed slice of damaged files for every reader, and files made to do harm: no crash, no hang, no memory blow-up."""

from __future__ import annotations

import multiprocessing
import os
import queue
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from fuzz.apart import Answers, read
from fuzz.hostile import HOSTILE
from fuzz.limits import MOST_BYTES, TooSlowError, in_time, limited
from fuzz.readers import PLAIN, READERS, prepare
from fuzz.trying import attempt, outcome

CASES = 24
MOST_MEGABYTES = 1500
"""That reading any hostile file may add, far below what they declare."""
READ_ALIKE = {
    **dict.fromkeys(("scaler csv", "rows csv", "header csv", "table csv"), "csv"),
    **dict.fromkeys(("scaler npz", "rows npz", "table npz"), "npz"),
    **dict.fromkeys(("vnnlib", "vnnlib answered"), "vnnlib"),
}
"""Readers that share the parser of a format: by default each hostile file of it is read by one of them, in turn."""
GOOD: dict[str, bytes] = {
    "spec": PLAIN.encode(),
    "scaler json": b'{"mean_": [1.5, 2], "scale_": [0.25, 1e-3]}',
    "scaler csv": b"mean,std\n1.5,0.25\n2,1e-3\n",
    "rows csv": b"1,2\n3,4\n",
    "header csv": b"a [m],b\n1,2\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("fuzz")
    prepare(made)
    return made


@pytest.mark.parametrize("kind", READERS)
def test_damaged_files_are_read_or_refused(kind: str, folder: Path) -> None:
    outcomes: Counter[str] = Counter()
    with limited(MOST_BYTES):
        for number in range(CASES):
            found, path = attempt(kind, 0, number, folder)
            assert found in ("read", "refused"), (number, path.read_bytes()[:2000])
            outcomes[found] += 1
    assert outcomes["refused"] > CASES / 5, outcomes


@pytest.mark.parametrize("kind", GOOD)
def test_whole_files_are_read(kind: str, folder: Path) -> None:
    """Otherwise all of the above is refused for some other reason than its damage."""
    path = folder / READERS[kind].name
    path.write_bytes(GOOD[kind])
    assert outcome(kind, path) == "read"


@pytest.fixture(scope="module")
def answered(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Answers]]:
    """What a reader made of the hostile files of this run, as far as it came; every reader has a process of its own.

    They are forked from one that has imported what they need, which finds it on the path of the tests.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["fuzz.apart"])

    asked: dict[str, list[str]] = {}
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.function is test_files_made_to_do_harm_do_none:
            params = item.callspec.params
            asked.setdefault(str(params["kind"]), []).append(str(params["name"]))

    @cache
    def of(kind: str) -> Answers:
        folder = tmp_path_factory.mktemp("hostile")
        prepare(folder)
        answers: multiprocessing.Queue[tuple[str, str, str, int]] = context.Queue()
        process = context.Process(target=read, args=(kind, asked[kind], folder, answers))
        process.start()
        found: Answers = {}
        while len(found) < len(asked[kind]) and (process.is_alive() or not answers.empty()):
            with suppress(queue.Empty):
                _, name, word, megabytes = answers.get(timeout=1)
                found[kind, name] = (word, megabytes)
        process.kill()
        process.join()
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        yield of


def hostile() -> Iterator[ParameterSet]:
    """Each reader and file; the same of readers that are alike is for the whole alone."""
    alike: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for kind, files in HOSTILE.items():
        for name in files:
            alone = name.removeprefix("h.onnx: ")  # a network that a certificate names
            reader = READ_ALIKE.get(kind, kind) if alone == name else "audited graphs"
            alike.setdefault((reader, alone), []).append((kind, name))
    for number, cases in enumerate(alike.values()):
        for place, (kind, name) in enumerate(cases):
            marks = [] if place == number % len(cases) else [pytest.mark.whole]
            yield pytest.param(kind, name, marks=marks)


@pytest.mark.parametrize(("kind", "name"), list(hostile()))
def test_files_made_to_do_harm_do_none(kind: str, name: str, answered: Callable[[str], Answers]) -> None:
    answers = answered(kind)
    assert (kind, name) in answers, f"died or hung after {list(answers)[-1:]}"
    word, megabytes = answers[kind, name]
    assert word in ("read", "refused")
    assert megabytes < MOST_MEGABYTES


def test_limits_are_limits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forever() -> None:
        while True:
            pass

    with pytest.raises(TooSlowError), in_time(1):
        forever()
    with limited(MOST_BYTES), pytest.raises(MemoryError):
        bytearray(MOST_BYTES)
    monkeypatch.setitem(READERS, "nnet", READERS["nnet"].__class__("n.nnet", lambda _: b"", lambda _: 1 / 0))
    assert attempt("nnet", 0, 0, folder)[0].startswith("ZeroDivisionError: division by zero in test_fuzz.py")
