"""Others may write to the folder of results: what they put there is not used, not followed, not waited for."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import pytest

from eqspec.cache import Key, Store

KEY, OTHER = "ab" * 32, "cd" * 32
MINE, THEIRS = Key(b"m" * 32, "mine"), Key(b"t" * 32, "theirs")


class Told(list[str]):
    """What a store tells."""

    def store(self, folder: Path, key: Key = MINE, limit: int = 1 << 20) -> Store:
        return Store(folder, tell=self.append, key=key, limit=limit)


def entry(folder: Path, key: str = KEY, kind: str = "result") -> Path:
    return folder / kind / MINE.id / f"{key}.{kind}"


def forged(kind: str, key: str, content: bytes) -> bytes:
    """As good as anybody can make it who does not know the key."""
    digest = hashlib.sha256(f"{kind}\0{key}\0".encode() + content).hexdigest()
    return b"eqspec-memory/2 " + f"{kind} {key} {digest}\n".encode() + content


def test_what_is_sealed_without_the_key_is_not_used(tmp_path: Path) -> None:
    told = Told()
    store = told.store(tmp_path)
    store.write("result", KEY, b"different")
    true = entry(tmp_path).read_bytes()
    for content in (
        forged("result", KEY, b"equivalent"),
        true.replace(b"different", b"equivalent"),
        true + b"more",
        true.replace(b" result ", b" result  "),
        b"eqspec-memory/1 result " + KEY.encode() + b" " + hashlib.sha256(b"equivalent").hexdigest().encode() + b"\n",
        b"\n",
        b"",
    ):
        entry(tmp_path).write_bytes(content)
        assert store.read("result", KEY) is None, content
        assert not entry(tmp_path).exists()
    entry(tmp_path).write_bytes(true)
    assert store.read("result", KEY) == b"different"


def test_entries_of_another_key_are_neither_used_nor_replaced_and_that_is_said_once(tmp_path: Path) -> None:
    told, theirs = Told(), Told()
    theirs.store(tmp_path, THEIRS).write("result", KEY, b"equivalent")
    theirs.store(tmp_path, THEIRS).write("result", OTHER, b"equivalent")
    store = told.store(tmp_path)
    assert store.read("result", KEY) is None
    assert store.read("result", OTHER) is None
    assert len(told) == 1
    assert "sealed with another key" in told[0]
    assert "EQSPEC_CACHE_KEY" in told[0]
    assert (store.usage().results, store.usage().foreign) == (0, 2)
    store.write("result", KEY, b"different")
    assert (store.usage().results, store.usage().foreign) == (1, 2)
    assert theirs.store(tmp_path, THEIRS).read("result", KEY) == b"equivalent"
    assert not theirs
    # Passed off as mine, it is still theirs.
    entry(tmp_path).write_bytes((tmp_path / "result" / THEIRS.id / f"{KEY}.result").read_bytes())
    assert store.read("result", KEY) is None
    store.clear()
    assert theirs.store(tmp_path, THEIRS).usage().bytes == 0


def test_a_stopped_search_that_is_no_longer_whole_is_put_aside_and_not_deleted(tmp_path: Path) -> None:
    told = Told()
    store = told.store(tmp_path)
    with store.search(KEY) as saved:
        assert saved is not None
        saved.keep({"seconds": 1.0}, b"state")
        path = entry(tmp_path, kind="search")
        damaged = path.read_bytes()[:-1] + b"x"
        path.write_bytes(damaged)
        assert saved.load() is None
        assert not path.exists()
        assert path.with_suffix(".unusable").read_bytes() == damaged
        assert saved.keep({"seconds": 2.0}, b"new")
        assert saved.load() == ({"seconds": 2.0}, b"new")
        assert path.with_suffix(".unusable").exists()
        saved.drop()
    assert len(told) == 1
    assert "is damaged" in told[0]
    assert f"{KEY}.unusable" in told[0]
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_a_stopped_search_that_cannot_be_read_now_is_neither_used_nor_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the process has too many files open, or a network drive is away for a moment."""
    told = Told()
    store = told.store(tmp_path)
    with store.search(KEY) as saved:
        assert saved is not None
        saved.keep({"seconds": 3600.0}, b"hours of work")
    whole = entry(tmp_path, kind="search").read_bytes()

    def busy(path: Path, most: int) -> bytes:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patched, store.search(KEY) as saved:
        patched.setattr("eqspec.cache.store.read_file", busy)
        assert saved is not None
        assert saved.load() is None
        assert not saved.keep({"seconds": 9999.0}, b"anew")
        saved.drop()
    assert entry(tmp_path, kind="search").read_bytes() == whole
    assert len(told) == 1
    assert "Too many open files" in told[0]
    assert "stays as it is" in told[0]
    with store.search(KEY) as saved:
        assert saved is not None
        assert saved.load() == ({"seconds": 3600.0}, b"hours of work")


@pytest.mark.parametrize("kind", ["link", "loop", "pipe", "folder", "large"])
def test_what_is_no_plain_file_is_not_followed_and_not_waited_for(tmp_path: Path, kind: str) -> None:
    told = Told()
    store = told.store(tmp_path)
    store.write("result", KEY, b"true")
    path, secret = entry(tmp_path), tmp_path / "secret"
    true = path.read_bytes()
    secret.write_bytes(true)
    path.unlink()
    match kind:
        case "link":
            path.symlink_to(secret)
        case "loop":
            path.symlink_to(path)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "large":
            with path.open("wb") as file:
                file.truncate(1 << 40)  # of which nothing is on the disk
    assert store.read("result", KEY) is None
    assert secret.read_bytes() == true
    if kind != "folder":
        assert store.write("result", KEY, b"again")
        assert store.read("result", KEY) == b"again"
    assert secret.read_bytes() == true


def test_a_folder_inside_that_is_a_link_is_not_written_to_and_not_cleared(tmp_path: Path) -> None:
    told = Told()
    elsewhere, kept = tmp_path / "elsewhere", tmp_path / "kept"
    elsewhere.mkdir()
    kept.mkdir()
    precious = elsewhere / f"{KEY}.result"
    precious.write_bytes(b"somebody's")
    (kept / "result").symlink_to(elsewhere)
    store = told.store(kept)
    assert not store.write("result", KEY, b"true")
    assert len(told) == 1
    store.clear()
    assert list(elsewhere.iterdir()) == [precious]


def test_files_of_others_in_the_folder_stay(tmp_path: Path) -> None:
    """Somebody may keep results in a folder that has a `result` of its own."""
    precious = tmp_path / "result" / "2024" / "thesis.txt"
    precious.parent.mkdir(parents=True)
    precious.write_text("years of work")
    os.utime(precious, (1000.0, 1000.0))
    store = Told().store(tmp_path, limit=100)
    store.write("result", KEY, b"x" * 50)
    store.write("result", OTHER, b"x" * 50)
    store.tidy()
    store.clear()
    assert precious.read_text() == "years of work"
    assert store.usage().bytes == 0


def test_the_lock_of_a_search_empties_no_file_that_a_link_leads_to(tmp_path: Path) -> None:
    store = Told().store(tmp_path)
    with store.search(KEY) as saved:
        assert saved is not None
        saved.keep({}, b"state")
    precious = tmp_path / "precious"
    precious.write_text("not empty")
    lock = entry(tmp_path, kind="search").with_suffix(".lock")
    lock.unlink(missing_ok=True)
    lock.symlink_to(precious)
    with store.search(KEY) as saved:
        assert saved is not None
    assert precious.read_text() == "not empty"


def test_what_is_kept_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = Told().store(tmp_path / "kept")
        store.write("result", KEY, b"true")
        with store.search(KEY) as saved:
            assert saved is not None
            saved.keep({}, b"state")
            modes = {p: stat.S_IMODE(p.stat().st_mode) for p in [tmp_path / "kept", *(tmp_path / "kept").rglob("*")]}
    finally:
        os.umask(before)
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    folder = entry(tmp_path / "kept").parent
    folder.chmod(0o777)
    assert store.write("result", KEY, b"again")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root becomes somebody else")
def test_a_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told()
    store = told.store(tmp_path)
    store.write("result", KEY, b"true")
    os.chown(tmp_path / "result", 12345, -1)
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    assert not store.write("result", KEY, b"again")
    assert "belongs to another user" in told[0]
