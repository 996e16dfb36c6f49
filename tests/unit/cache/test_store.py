"""The store: what reads back was written, whole and under that key; nothing that goes wrong in it reaches the run."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from eqspec.cache import Store, chosen_folder, replace_file
from eqspec.cache.store import LIMIT, Kind
from eqspec.errors import InputError

KEY, OTHER = "ab" * 32, "cd" * 32


class Told(list[str]):
    """What a store tells."""

    def store(self, folder: Path, limit: int = LIMIT) -> Store:
        return Store(folder, tell=self.append, limit=limit)


def only_file(folder: Path, suffix: str, key: str = "*") -> Path:
    (path,) = folder.rglob(f"{key}.{suffix}")
    return path


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    told = Told()
    store = told.store(tmp_path / "new" / "folder")
    assert store.read("result", KEY) is None
    assert store.write("result", KEY, b"one ", b"\ntwo\n")
    assert store.read("result", KEY) == b"one \ntwo\n"
    assert store.read("search", KEY) is None
    assert store.read("result", OTHER) is None
    store.write("result", KEY, b"")
    assert store.read("result", KEY) == b""
    store.remove("result", KEY)
    assert store.read("result", KEY) is None
    assert not told


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    told = Told()
    store = told.store(tmp_path)
    store.write("result", KEY, b'{"verdict": "equivalent"}')
    path = only_file(tmp_path, "result")
    whole = path.read_bytes()
    for position in range(8 * len(whole)):
        broken = bytearray(whole)
        broken[position // 8] ^= 1 << position % 8
        path.write_bytes(broken)
        assert store.read("result", KEY) is None, position
        assert not path.exists()
    assert len(told) == 8 * len(whole)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert store.read("result", KEY) is None, length
    path.write_bytes(whole)
    assert store.read("result", KEY) == b'{"verdict": "equivalent"}'


def test_an_entry_counts_under_its_own_key_and_kind_only(tmp_path: Path) -> None:
    told = Told()
    store = told.store(tmp_path)
    store.write("result", KEY, b"true")
    store.write("result", OTHER, b"false")
    store.write("search", KEY, b"state")
    path, other = (next(tmp_path.rglob(f"{key}.result")) for key in (KEY, OTHER))
    other.write_bytes(path.read_bytes())
    assert store.read("result", OTHER) is None
    path.write_bytes(only_file(tmp_path, "search").read_bytes())
    assert store.read("result", KEY) is None
    assert len(told) == 2
    assert all("is not used and removed" in message for message in told)


def test_a_folder_that_cannot_be_written_is_told_about_once(tmp_path: Path) -> None:
    told = Told()
    occupied = tmp_path / "file"
    occupied.write_text("no folder")
    store = told.store(occupied)
    assert not store.write("result", KEY, b"one")
    assert not store.write("result", OTHER, b"two")
    assert store.read("result", KEY) is None
    with store.search(KEY) as saved:
        assert saved is None
    assert len(told) == 1
    assert str(occupied) in told[0]
    with pytest.raises(InputError, match="cannot keep results in"):
        store.require()


def test_a_full_disk_leaves_the_old_entry_and_no_half_of_the_new(tmp_path: Path) -> None:
    """A limit on the size of files fails a write half-way, as a full disk does."""
    script = """
import resource, signal, sys
from pathlib import Path
from eqspec.cache import Store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
told = []
store = Store(Path(sys.argv[1]), tell=told.append)
assert store.write("result", "ab" * 32, b"old" * 100)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
assert not store.write("result", "ab" * 32, b"new" * 10_000)
assert not store.write("result", "cd" * 32, b"new" * 10_000)
assert store.read("result", "ab" * 32) == b"old" * 100
print(len(told), told[0])
"""
    assert hasattr(resource, "RLIMIT_FSIZE")
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("1 cannot keep results in")
    assert "the run goes on without" in done.stdout
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.suffix for path in files] == [".result"]


def test_replacing_a_file_fails_without_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "there"
    replace_file(path, b"whole")
    with pytest.raises(TypeError):
        replace_file(path, b"half ", None)  # type: ignore[arg-type]
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]


def test_another_thread_may_give_a_search_up(tmp_path: Path) -> None:
    told = Told()
    first, second = told.store(tmp_path), told.store(tmp_path)
    held = ExitStack()
    mine = held.enter_context(first.search(KEY))
    assert mine is not None
    assert mine.keep({"seconds": 1.0}, b"state")
    with ThreadPoolExecutor(1) as another:
        another.submit(held.close).result()
    with second.search(KEY) as theirs:
        assert theirs is not None


def test_a_stopped_search_has_one_owner(tmp_path: Path) -> None:
    told = Told()
    first, second = told.store(tmp_path), told.store(tmp_path)
    with first.search(KEY) as mine, second.search(KEY) as theirs, second.search(OTHER) as another:
        assert mine is not None
        assert theirs is None
        assert another is not None
        assert mine.load() is None
        assert mine.keep({"seconds": 2.5}, b"state\nof bytes")
        assert mine.load() == ({"seconds": 2.5}, b"state\nof bytes")
    with second.search(KEY) as theirs:
        assert theirs is not None
        assert theirs.load() == ({"seconds": 2.5}, b"state\nof bytes")
        theirs.drop()
    with first.search(KEY) as mine:
        assert mine is not None
        assert mine.load() is None
    assert not list(tmp_path.rglob("*.lock"))
    assert not told


def test_the_lock_goes_with_a_process_that_is_killed(tmp_path: Path) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from eqspec.cache import Store
with Store(Path(sys.argv[1])).search("ab" * 32) as saved:
    saved.keep({"seconds": 1.0}, b"state")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert done.returncode == -9
    with Store(tmp_path).search(KEY) as saved:
        assert saved is not None
        assert saved.load() == ({"seconds": 1.0}, b"state")


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    store = Told().store(tmp_path, limit=4000)
    keys = [f"{i:02x}" * 32 for i in range(5)]
    for age, key in enumerate(keys):
        store.write("result", key, b"x" * 1000)
        path = next(tmp_path.rglob(f"{key}.result"))
        os.utime(path, (1000.0 + age, 1000.0 + age))
    assert store.read("result", keys[0]) is not None  # used just now
    abandoned = only_file(tmp_path, "result", keys[0]).with_name(f".{keys[0]}.result.x9_.part")
    abandoned.write_bytes(b"half")
    os.utime(abandoned, (1000.0, 1000.0))
    store.tidy()
    left = [key for key in keys if store.read("result", key) is not None]
    assert left == [keys[0], keys[3], keys[4]]
    assert not abandoned.exists()
    assert store.usage().results == 3
    store.clear()
    assert (store.usage().results, store.usage().bytes) == (0, 0)


def test_trails_take_a_quarter_at_most(tmp_path: Path) -> None:
    """The oldest go, and results stay that were not used for longer."""
    store = Told().store(tmp_path, limit=40_000)
    keys = [f"{i:02x}" * 32 for i in range(15)]
    for age, key in enumerate(keys):
        kind: Kind = "trail" if age else "result"
        store.write(kind, key, b"x" * 1000)
        path = next(tmp_path.rglob(f"{key}.{kind}"))
        os.utime(path, (1000.0 + age, 1000.0 + age))
    store.tidy()
    assert store.read("result", keys[0]) is not None
    left = [key for key in keys if store.read("trail", key) is not None]
    assert left == keys[-len(left) :]
    assert 7 <= len(left) <= 9  # each has a head


def test_one_entry_may_not_fill_the_store(tmp_path: Path) -> None:
    told = Told()
    store = told.store(tmp_path, limit=1000)
    assert not store.write("search", KEY, b"x" * 501)
    assert store.write("search", KEY, b"x" * 500)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("named", "environ", "expected"),
    [
        (None, {"EQSPEC_CACHE": "/some/where"}, Path("/some/where")),
        ("/named", {"EQSPEC_CACHE": "/some/where"}, Path("/named")),
        ("/named", {"EQSPEC_CACHE": "off"}, Path("/named")),
        (None, {"EQSPEC_CACHE": "off"}, None),
        (None, {"EQSPEC_CACHE": " OFF "}, None),
        (None, {"EQSPEC_CACHE": "0"}, None),
        (None, {"EQSPEC_CACHE": "false"}, None),
    ],
)
def test_where_it_lies(named: str | None, environ: Mapping[str, str], expected: Path | None) -> None:
    assert chosen_folder(named, environ) == expected


def test_where_it_lies_if_nobody_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert chosen_folder(None, {}) == chosen_folder(None, {"EQSPEC_CACHE": ""}) == tmp_path / "eqspec"
