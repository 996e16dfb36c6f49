"""Whatever is done to the files that are kept, by somebody without the key, no verdict changes.

Three questions are kept: one that holds, one that breaks and one that is undecided, with its stopped search. Then the
files are changed in every way that promises something, and all three are asked again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from eqspec.cache import Key, Store
from eqspec.property import Epsilon
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from small_tasks import identity, network, task, undecided_task

SHIFTED = network(([[1, 0], [0, 1]], [0.0, 0.25]))
HOLDS, BREAKS = (task(identity(2), SHIFTED, Epsilon(eps), id=eps) for eps in ("0.3", "0.2"))
HARD = replace(undecided_task(), property=Epsilon("0.6"))
"""Breaks, after some boxes."""
MINE, THEIRS = Key(b"m" * 32, "mine"), Key(b"t" * 32, "theirs")
FEW = Options(threads=1, boxes=4, domain="paper", lp=False)
PLENTY = replace(FEW, boxes=3000)


@dataclass(frozen=True)
class Kept:
    """The folder, and the files of each question."""

    folder: Path
    holds: Path
    breaks: Path
    undecided: Path
    search: Path
    told: list[str]

    def run(self, asked: Task, options: Options = FEW, key: Key = MINE, *, resume: bool = True) -> Result:
        cache = ResultCache(Store(self.folder, tell=self.told.append, key=key), resume)
        return Runner(options, cache).run(asked)

    def path_of(self, asked: Task, options: Options = FEW) -> Path:
        key = Runner(options).key(asked)
        (path,) = self.folder.rglob(f"{key}.result")
        return path


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    told: list[str] = []
    folder = tmp_path / "kept"
    for asked in (HOLDS, BREAKS, HARD):
        Runner(FEW, ResultCache(Store(folder, tell=told.append, key=MINE))).run(asked)
    nowhere = Path()
    made = Kept(folder, nowhere, nowhere, nowhere, nowhere, told)
    (search,) = folder.rglob("*.search")
    holds, breaks, undecided = (made.path_of(asked) for asked in (HOLDS, BREAKS, HARD))
    return Kept(folder, holds, breaks, undecided, search, told)


def sealed(kind: str, key: str, content: bytes, by: Key) -> bytes:
    """An entry, as the program writes it for another key."""
    seal = by.seal("entry", f"{kind}\0{key}\0".encode(), content).hex()
    return f"eqspec-memory/2 {kind} {key} {seal}\n".encode() + content


def content_of(path: Path) -> bytes:
    return path.read_bytes().partition(b"\n")[2]


def claimed(path: Path) -> bytes:
    """The result with another verdict: proved, without a witness."""
    data = json.loads(content_of(path))
    data["result"] |= {"verdict": "equivalent", "witness": None, "reason": None, "certified_fraction": 1.0}
    data["result"] |= {"open_boxes": 0}
    return json.dumps(data).encode()


def flip_with_a_digest(kept: Kept) -> None:
    """As was enough before entries were sealed with a key."""
    for path in (kept.breaks, kept.undecided):
        content = claimed(path)
        digest = hashlib.sha256(f"result\0{path.stem}\0".encode() + content).hexdigest()
        for mark in ("eqspec-memory/1", "eqspec-memory/2"):
            path.write_bytes(f"{mark} result {path.stem} {digest}\n".encode() + content)


def flip_and_leave_the_seal(kept: Kept) -> None:
    for path in (kept.breaks, kept.undecided):
        head = path.read_bytes().partition(b"\n")[0]
        path.write_bytes(head + b"\n" + claimed(path))


def seal_with_a_key_of_their_own(kept: Kept) -> None:
    for path in (kept.breaks, kept.undecided):
        path.write_bytes(sealed("result", path.stem, claimed(path), THEIRS))


def seal_with_no_key(kept: Kept) -> None:
    for path in (kept.breaks, kept.undecided):
        path.write_bytes(sealed("result", path.stem, claimed(path), Key(b"", "none")))


def swap(kept: Kept) -> None:
    holds, breaks = kept.holds.read_bytes(), kept.breaks.read_bytes()
    kept.breaks.write_bytes(holds)
    kept.undecided.write_bytes(holds)
    kept.holds.write_bytes(breaks)


def rename(kept: Kept) -> None:
    shutil.copy(kept.holds, kept.undecided)
    kept.holds.replace(kept.breaks)


def rename_and_write_the_new_name_into_it(kept: Kept) -> None:
    true = kept.holds.read_bytes()
    for path in (kept.breaks, kept.undecided):
        path.write_bytes(true.replace(kept.holds.stem.encode(), path.stem.encode()))


def pass_a_result_off_as_a_search(kept: Kept) -> None:
    kept.search.write_bytes(kept.holds.read_bytes().replace(b" result ", b" search "))


def link(kept: Kept) -> None:
    for path in (kept.breaks, kept.undecided):
        path.unlink()
        path.symlink_to(kept.holds)


def cut_off(kept: Kept) -> None:
    for path in (kept.holds, kept.breaks, kept.undecided, kept.search):
        path.write_bytes(path.read_bytes()[:-3])


def empty(kept: Kept) -> None:
    for path in (kept.holds, kept.breaks, kept.undecided, kept.search):
        path.write_bytes(b"")


def shorten_the_search(kept: Kept) -> None:
    """A state of less work: the core's own checksum is made good."""
    content = content_of(kept.search)
    about, _, state = content.partition(b"\n")
    magic, fingerprint, payload = state[:16], state[16:48], state[80:]
    changed = bytearray(payload)
    changed[len(changed) // 2] ^= 1
    forged = magic + fingerprint + hashlib.sha256(changed).digest() + bytes(changed)
    head = kept.search.read_bytes().partition(b"\n")[0]
    kept.search.write_bytes(head + b"\n" + about + b"\n" + forged)


def the_search_of_another_question(kept: Kept) -> None:
    kept.run(replace(HARD, property=Epsilon("0.65")))
    (other,) = set(kept.folder.rglob("*.search")) - {kept.search}
    kept.search.write_bytes(kept.search.read_bytes().partition(b"\n")[0] + b"\n" + content_of(other))


def in_layout(kept: Kept, mark: str, more: str, by: Key) -> None:
    """All entries as another version of eqspec might lay them out, the undecided one claimed to be proved."""
    for path in (kept.holds, kept.breaks, kept.undecided, kept.search):
        kind, content = path.suffix[1:], content_of(path) if path.suffix == ".search" else claimed(path)
        head, _, _ = sealed(kind, path.stem, content, by).partition(b"\n")
        path.write_bytes(head.replace(b"eqspec-memory/2", mark.encode()) + more.encode() + b"\n" + content)


def an_older_layout(kept: Kept) -> None:
    in_layout(kept, "eqspec-memory/1", "", MINE)


def a_newer_layout(kept: Kept) -> None:
    in_layout(kept, "eqspec-memory/3", " build=9.9 zstd", MINE)


def a_newer_layout_under_the_same_mark(kept: Kept) -> None:
    in_layout(kept, "eqspec-memory/2", " build=9.9", MINE)


def results_of_another_schema(kept: Kept) -> None:
    for path, version in ((kept.holds, None), (kept.breaks, 2), (kept.undecided, True)):
        data = json.loads(claimed(path))
        data["result"]["schema_version"] = version
        path.write_bytes(sealed("result", path.stem, json.dumps(data).encode(), MINE))


TAMPERINGS: list[Callable[[Kept], None]] = [
    flip_with_a_digest,
    flip_and_leave_the_seal,
    seal_with_a_key_of_their_own,
    seal_with_no_key,
    swap,
    rename,
    rename_and_write_the_new_name_into_it,
    pass_a_result_off_as_a_search,
    link,
    cut_off,
    empty,
    shorten_the_search,
    the_search_of_another_question,
    an_older_layout,
    a_newer_layout,
    a_newer_layout_under_the_same_mark,
    results_of_another_schema,
]


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda f: f.__name__)
def test_no_tampering_changes_a_verdict(kept: Kept, tamper: Callable[[Kept], None]) -> None:
    tamper(kept)
    assert kept.run(HOLDS).verdict is Verdict.EQUIVALENT
    assert kept.run(BREAKS).verdict is Verdict.DIFFERENT
    assert kept.run(HARD).verdict in (Verdict.UNKNOWN, Verdict.DIFFERENT)
    assert kept.run(HARD, PLENTY).verdict is Verdict.DIFFERENT
    assert kept.told, "nothing was said about it"
    # And what is kept now counts again.
    assert kept.run(BREAKS).cached
    assert kept.run(HARD).cached


def test_without_tampering_all_is_remembered(kept: Kept) -> None:
    """Else the test above says nothing."""
    assert kept.run(HOLDS).cached
    assert kept.run(BREAKS).cached
    assert kept.run(HARD, resume=False).cached
    assert kept.run(HARD, replace(FEW, boxes=8)).resumed
    assert not kept.told


def test_the_seal_is_what_keeps_it_out(kept: Kept) -> None:
    """Who knows the key can write what he likes: that is what the key is for."""
    kept.breaks.write_bytes(sealed("result", kept.breaks.stem, claimed(kept.breaks), MINE))
    assert kept.run(BREAKS).verdict is Verdict.EQUIVALENT


def test_an_earlier_entry_of_the_same_question_costs_time_and_nothing_else(kept: Kept) -> None:
    early, result = kept.search.read_bytes(), kept.undecided.read_bytes()
    later = kept.run(HARD, replace(FEW, boxes=12))
    assert later.resumed
    assert later.verdict is Verdict.UNKNOWN
    kept.search.write_bytes(early)
    again = kept.run(HARD, replace(FEW, boxes=8))
    assert again.resumed
    assert again.verdict is Verdict.UNKNOWN
    assert kept.run(HARD, PLENTY).verdict is Verdict.DIFFERENT
    kept.undecided.write_bytes(result)
    assert kept.run(HARD, PLENTY).verdict is Verdict.DIFFERENT


def test_results_of_another_user_are_decided_anew(kept: Kept) -> None:
    for asked, verdict in ((HOLDS, Verdict.EQUIVALENT), (BREAKS, Verdict.DIFFERENT)):
        result = kept.run(asked, key=THEIRS)
        assert (result.verdict, result.cached) == (verdict, False)
    assert sum("sealed with another key" in message for message in kept.told) == 2  # once by each of two stores
    for asked in (HOLDS, BREAKS):
        assert kept.run(asked, key=THEIRS).cached
        assert kept.run(asked).cached


def test_what_another_version_kept_is_not_used_and_a_stopped_search_of_it_is_told_about(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eqspec.run.cache_key.build", lambda: "9.9.9 of tomorrow")
    hostile = kept.search.with_name("0" * 64 + ".search")
    for content in (b"", b"no line", b"x\n" + b"[" * 8000, b"x\n[]", b"x\n\xff\n"):
        hostile.write_bytes(content)
        assert not kept.run(HOLDS).cached
        kept.path_of(HOLDS).unlink()  # so that it is asked again
    result = kept.run(HARD)
    assert (result.verdict, result.cached, result.resumed) == (Verdict.UNKNOWN, False, False)
    assert kept.run(HARD, replace(FEW, boxes=8)).resumed
    told = [message for message in kept.told if "stopped searches of another version of eqspec (1)" in message]
    assert told
    count = len(kept.told)
    assert not kept.run(BREAKS, resume=False).cached
    assert len(kept.told) == count, "only who wants to go on is told"
    assert kept.search.exists()
    monkeypatch.undo()
    assert kept.run(HARD, replace(FEW, boxes=8)).resumed, "the version that kept it goes on with it"


def test_a_changed_key_in_the_environment_is_another_key(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    for secret in ("the first secret", "the first secret", "the second secret"):
        monkeypatch.setenv("EQSPEC_CACHE_KEY", secret)
        asked.append(Runner(FEW, ResultCache(Store(kept.folder, tell=kept.told.append))).run(HOLDS).cached)
    assert asked == [False, True, False]
