"""The key that seals what is kept: made once, for its owner alone, and refused where it could be known to others."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from eqspec.cache import Key, Store
from eqspec.cache.key import NoKeyError, given_key, key_file, user_key
from eqspec.errors import InputError

KEY = "ab" * 32


def test_a_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "eqspec" / "cache.key"
    before = os.umask(0)
    try:
        made = user_key(path)
    finally:
        os.umask(before)
    assert user_key(path) == made
    assert len(made.secret) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]
    assert user_key(tmp_path / "another").id != made.id
    assert made.secret.hex() not in repr(made)


def test_processes_that_begin_at_once_agree_on_one_key(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from eqspec.cache.key import user_key
sys.stdin.read(1)
print(user_key(Path(sys.argv[1])).id)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "cache.key")]
    pipes = subprocess.PIPE
    started = [subprocess.Popen(command, stdin=pipes, stdout=pipes, text=True) for _ in range(4)]
    for process in started:
        assert process.stdin is not None
        process.stdin.write(".")
        process.stdin.flush()
    assert len({process.communicate(timeout=60)[0] for process in started}) == 1


def test_it_lies_with_the_data_of_the_user_and_not_where_results_are_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("EQSPEC_CACHE_KEY")
    if sys.platform == "linux":
        assert key_file() == tmp_path / "data" / "eqspec" / "cache.key"
    assert Store(tmp_path / "cache").write("result", KEY, b"true")
    assert key_file().is_file()
    assert not list((tmp_path / "cache").rglob("*.key"))


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o620, 0o602, 0o601])
def test_a_key_that_others_may_know_or_change_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "cache.key"
    user_key(path)
    path.chmod(mode)
    with pytest.raises(NoKeyError, match=f"mode is {mode:04o}.*remove it"):
        user_key(path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_key_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cache.key"
    user_key(path)
    os.chown(path, 12345, -1)
    with pytest.raises(NoKeyError, match="belongs to another user"):
        user_key(path)


@pytest.mark.parametrize("content", [b"", b"ab", b"zz" * 32, b"ab" * 31, b"ab" * 33, b"ab" * 10**6, b"\xff" * 64])
def test_a_damaged_key_is_refused_and_not_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cache.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(NoKeyError, match="is damaged; remove it"):
        user_key(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_no_key_and_nobody_waits_for_it(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "cache.key"
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    with pytest.raises(NoKeyError, match="is not a file"):
        user_key(path)


def test_where_no_key_can_be_made_nothing_is_kept_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("no folder")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("EQSPEC_CACHE_KEY")
    told: list[str] = []
    store = Store(tmp_path / "kept", tell=told.append)
    assert not store.write("result", KEY, b"true")
    assert store.read("result", KEY) is None
    with store.search(KEY) as saved:
        assert saved is None
    assert len(told) == 1
    assert "EQSPEC_CACHE_KEY" in told[0]
    with pytest.raises(InputError, match=r"the key .* is not to be had: Not a directory"):
        store.require()
    store.clear()
    assert store.usage().results == 0


def test_the_environment_can_hold_a_key() -> None:
    long = "0123456789abcdef"
    first = given_key({"EQSPEC_CACHE_KEY": long})
    assert first is not None
    assert first == given_key({"EQSPEC_CACHE_KEY": f" {long}\n"})
    other = given_key({"EQSPEC_CACHE_KEY": long + "0"})
    assert other is not None
    assert other.id != first.id
    assert given_key({}) is given_key({"EQSPEC_CACHE_KEY": ""}) is given_key({"EQSPEC_CACHE_KEY": " "}) is None
    with pytest.raises(InputError, match=r"has 15 characters.*openssl rand"):
        given_key({"EQSPEC_CACHE_KEY": long[:-1]})


def test_a_seal_is_of_one_use_and_of_all_its_parts() -> None:
    key = Key(b"k" * 32, "here")
    seals = {key.seal("a", b"bc"), key.seal("ab", b"c"), key.seal("a", b"b"), Key(b"l" * 32, "here").seal("a", b"bc")}
    assert len(seals) == 4
    assert key.seal("a", b"b", b"c") == key.seal("a", b"bc")
