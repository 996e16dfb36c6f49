"""Results that are kept, and searches that go on: for the same question only, and never without a replay."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqspec.cache import Store
from eqspec.property import Confidence, Epsilon, Margin, Property
from eqspec.run import cache_key, core
from eqspec.run.monitor import Monitor
from eqspec.run.options import Options
from eqspec.run.result_cache import Effort, ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Budget, LinearConstraint, Task
from eqspec.tasks.verdict import Reason, Verdict
from small_tasks import hard, identity, network, space, task

SHIFTED = network((np.eye(2), [0.0, 0.25]))


def close(eps: str = "0.3", **fields: Any) -> Task:
    return task(identity(2), SHIFTED, Epsilon(eps), **fields)


def slow(boxes: int) -> tuple[Task, Options]:
    """A pair that needs some hundred boxes, and a limit on them."""
    rng = np.random.default_rng(4)
    layers = [(rng.normal(size=(m, n)), rng.normal(size=m)) for m, n in ((8, 3), (8, 8), (2, 8))]
    other = [(w + 0.05 * rng.normal(size=w.shape), b) for w, b in layers]
    return task(network(*layers), network(*other), Epsilon("1.1907"), id="slow"), Options(threads=1, boxes=boxes)


class Cache:
    """A store in a folder, asked by runners of their own, as by different processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told: list[str] = []

    def run(self, what: Task, options: Options | None = None, *, resume: bool = False, **more: Any) -> Result:
        results = ResultCache(Store(self.folder, tell=self.told.append), resume=resume, keep_every=0.05)
        return Runner(options, results).run(what, **more)

    def entries(self, suffix: str) -> list[Path]:
        return list(self.folder.rglob(f"*.{suffix}"))


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path)


@pytest.mark.parametrize("eps", ["0.3", "0.2"])
def test_what_was_decided_is_kept_whole(cache: Cache, eps: str) -> None:
    first, second = cache.run(close(eps)), cache.run(close(eps))
    assert (first.cached, second.cached) == (False, True)
    assert first.verdict is (Verdict.EQUIVALENT if eps == "0.3" else Verdict.DIFFERENT)
    assert replace(second, cached=False).to_json() == json.loads(json.dumps(first.to_json()))
    assert not cache.told


def test_names_and_places_are_those_of_today(cache: Cache) -> None:
    cache.run(close("0.2"))
    moved = replace(SHIFTED, source="elsewhere.onnx")
    again = task(
        identity(2),
        moved,
        Epsilon("0.2"),
        id="other",
        check="renamed",
        candidate_name="small",
        expected="different",
        tags=("new",),
        space=space(2, 2, features=("left", "right")),
    )
    result = cache.run(again)
    assert result.cached
    assert (result.id, result.check, result.expected, result.tags) == ("other", "renamed", "different", ("new",))
    assert result.networks["candidate"]["path"] == "elsewhere.onnx"
    assert "small" in result.claim
    assert result.witness is not None
    assert result.witness.features == ("left", "right")
    assert result.as_expected is True


CHANGED: list[Task] = [
    close("0.31"),
    task(identity(2), SHIFTED, Epsilon("0.3", "l1")),
    task(identity(2), SHIFTED, Epsilon("0.3", "linf", (0,))),
    task(identity(2), SHIFTED, Margin("0.3")),
    task(identity(2), SHIFTED, Confidence("0.9")),
    close(upper=[1, 2]),
    close(constraints=(LinearConstraint((1, 1), 1),)),  # type: ignore[arg-type]
    close(space=space(2, 2, scale=(2, 1))),
    task(identity(2), network((np.eye(2), [0.0, np.nextafter(0.25, 1)])), Epsilon("0.3")),
    task(SHIFTED, identity(2), Epsilon("0.3")),
]


@pytest.mark.parametrize("other", CHANGED, ids=lambda t: f"{t.property}")
def test_another_question_is_another_entry(cache: Cache, other: Task) -> None:
    cache.run(close())
    assert not cache.run(other).cached


def test_settings_that_the_way_depends_on_are_part_of_the_question(cache: Cache) -> None:
    cache.run(close())
    assert not cache.run(close(), Options(domain="paper")).cached
    assert not cache.run(close(), Options(lp=False)).cached
    assert cache.run(close(), Options(timeout=1.0, threads=1, boxes=7)).cached
    assert cache.run(close(budget=Budget(memory=1 << 20))).cached


def test_another_build_of_the_core_proves_again(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.run(close())
    monkeypatch.setattr("eqspec.run.cache_key.build", lambda: "another")
    assert not cache.run(close()).cached


def test_another_version_of_any_file_of_eqspec_proves_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads networks, and not the core alone: every file of the package, and none that Python compiles them to."""
    package = Path(cache_key.__file__).parents[1]
    known = {cache_key.build.__wrapped__()}
    assert known == {cache_key.build.__wrapped__()}
    for name in ("networks/readers/onnx_reader.py", "run/lowering.py", "spec/eqspec.lark", "_core.pyi"):
        copied = tmp_path / str(len(known))
        shutil.copytree(package, copied, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        with (copied / name).open("a") as file:
            file.write("\n")
        with monkeypatch.context() as patched:
            patched.setattr(cache_key, "__file__", str(copied / "run" / "cache_key.py"))
            known.add(cache_key.build.__wrapped__())
            (copied / "run" / "__pycache__").mkdir()
            (copied / "run" / "__pycache__" / "cache_key.pyc").write_bytes(b"compiled")
            known.add(cache_key.build.__wrapped__())
        monkeypatch.setattr(core, "FILE", str(copied / name))
        known.add(cache_key.build.__wrapped__())
        monkeypatch.undo()
    assert len(known) == 1 + 4 + 4


def test_a_witness_is_replayed_and_must_break_the_claim(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    true = cache.run(close("0.2"))
    (path,) = cache.entries("result")
    store, key = Store(cache.folder), path.stem
    content = store.read("result", key)
    assert content is not None
    data = json.loads(content)
    data["result"]["witness"]["normalised_exact"] = ["5", "0"]  # outside
    store.write("result", key, json.dumps(data).encode())
    again = cache.run(close("0.2"))
    assert not again.cached
    assert again.witness == true.witness
    assert any("does not break the claim" in message for message in cache.told)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"result": {}, "effort": {}}', b'{"result": {"verdict": "equ']
)
def test_an_entry_of_another_shape_is_told_about_and_not_used(cache: Cache, content: bytes) -> None:
    cache.run(close())
    (path,) = cache.entries("result")
    Store(cache.folder).write("result", path.stem, content)
    assert not cache.run(close()).cached
    assert len(cache.told) == 1
    assert cache.run(close()).cached


def test_damage_costs_a_run_and_nothing_else(cache: Cache) -> None:
    cache.run(close())
    (path,) = cache.entries("result")
    path.write_bytes(path.read_bytes().replace(b'"equivalent"', b'"different" '))
    assert not cache.run(close()).cached
    assert "damaged" in cache.told[0]


def test_undecided_counts_for_no_more_effort_than_was_spent(cache: Cache) -> None:
    what, options = slow(40)
    first = cache.run(what, options)
    assert (first.verdict, first.reason) == (Verdict.UNKNOWN, Reason.BOXES)
    assert cache.run(what, options).cached
    assert cache.run(what, replace(options, boxes=30)).cached
    assert not cache.run(what, replace(options, threads=2)).cached
    more = cache.run(what, replace(options, boxes=60))
    assert (more.cached, more.resumed, more.boxes) == (False, False, 60)
    decided = cache.run(what, Options(threads=1))
    assert decided.verdict is Verdict.EQUIVALENT
    assert not decided.cached
    # Decided is decided, whatever may be spent; and a run that gives up does not put it out.
    assert cache.run(what, replace(options, boxes=1)).verdict is Verdict.EQUIVALENT


def test_a_search_goes_on_where_it_stopped(cache: Cache) -> None:
    what, options = slow(40)
    straight = Runner(Options(threads=1)).run(what)
    assert straight.verdict is Verdict.EQUIVALENT
    assert straight.boxes > 200
    legs, boxes = 0, 40
    while True:
        legs += 1
        result = cache.run(what, replace(options, boxes=boxes), resume=True)
        assert result.resumed is (legs > 1)
        assert not result.cached
        if result.verdict is not Verdict.UNKNOWN:
            break
        assert result.boxes == boxes
        assert len(cache.entries("search")) == 1
        boxes += 40
    assert legs == -(-straight.boxes // 40)
    same = ("verdict", "boxes", "splits", "certified_fraction", "vacuous", "initial_bound")
    assert [getattr(result, name) for name in same] == [getattr(straight, name) for name in same]
    # A saved box does not know which neurons are inactive on its parent, so a claim may be closed on its parts instead.
    assert result.stages.keys() == straight.stages.keys()
    assert all(abs(result.stages[stage] - straight.stages[stage]) <= 2 for stage in result.stages)
    assert not cache.entries("search")
    assert not cache.entries("lock")
    assert cache.run(what, options).cached


def test_without_resume_a_search_begins_anew(cache: Cache) -> None:
    what, options = slow(40)
    cache.run(what, options)
    assert cache.run(what, replace(options, boxes=50)).resumed is False
    assert cache.run(what, replace(options, boxes=60), resume=True).resumed is True


@pytest.mark.parametrize("change", ["flip", "cut", "other"])
def test_a_state_that_cannot_be_used_is_told_about_and_the_search_begins_anew(cache: Cache, change: str) -> None:
    what, options = slow(40)
    cache.run(what, options)
    (path,) = cache.entries("search")
    whole = path.read_bytes()
    if change == "flip":
        path.write_bytes(whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:])
    elif change == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    else:  # whole, sealed, and of another question: the core itself refuses it
        Store(cache.folder).write("search", path.stem, b'{"seconds": 1.0}\n', b"eqspec search 3\n" + bytes(64))
    result = cache.run(what, Options(threads=1), resume=True)
    assert result.verdict is Verdict.EQUIVALENT
    assert not result.resumed
    assert len(cache.told) == 1


def test_ctrl_c_keeps_what_is_left_and_no_result(cache: Cache) -> None:
    class Impatient(Monitor):
        def progress(self, task: Task, progress: object) -> None:
            raise KeyboardInterrupt

    stopped = cache.run(hard(), Options(threads=2, domain="paper"), monitor=Impatient())
    assert stopped.reason is Reason.INTERRUPTED
    assert not cache.entries("result")
    (path,) = cache.entries("search")
    with Store(cache.folder).search(path.stem) as saved:
        assert saved is not None
        loaded = saved.load()
    assert loaded is not None
    again = cache.run(hard(), Options(threads=1, domain="paper"), resume=True, monitor=Impatient())
    assert again.resumed
    assert again.boxes >= stopped.boxes
    assert again.seconds > loaded[0]["seconds"] > 0  # those of the search; what was loaded for a result comes on top
    assert again.certified_fraction >= stopped.certified_fraction


def test_a_short_run_does_not_replace_the_state_of_a_long_one(cache: Cache) -> None:
    what, options = slow(40)
    cache.run(what, options)
    (path,) = cache.entries("search")
    store = Store(cache.folder)
    with store.search(path.stem) as saved:
        assert saved is not None
        loaded = saved.load()
        assert loaded is not None
        saved.keep({"seconds": 1e6}, loaded[1])
    whole = path.read_bytes()
    cache.run(what, replace(options, boxes=50))
    assert path.read_bytes() == whole
    cache.run(what, replace(options, boxes=50), resume=True)
    assert path.read_bytes() != whole


@pytest.mark.parametrize("claim", [Epsilon("0.3"), Margin("0.1")])
def test_efforts_compare_in_everything(claim: Property) -> None:
    effort = Effort(10.0, 2, 100, 1000)
    assert effort.within(effort)
    for name in ("timeout", "threads", "boxes", "memory"):
        more = replace(effort, **{name: float("inf")})
        assert effort.within(more)
        assert not more.within(effort)
        assert Effort.from_json(json.loads(json.dumps(more.to_json()))) == more
