"""`eqspec check` with a cache: what is kept, what is said about it, and how to do without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eqspec.cli import main
from small_specs import CHECKS, write_spec


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def results(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(capsys, *arguments, "--format", "json")[1])
    return found


def test_a_second_run_says_that_it_kept_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, kept = write_spec(tmp_path), tmp_path / "kept"
    first = run(capsys, "check", spec, "--cache", kept)
    second = run(capsys, "check", spec, "--cache", kept)
    assert (first[0], second[0]) == (0, 0)
    assert "kept from before" not in first[1]
    assert second[1].count("kept from before") == 3 + 1
    assert "(3 kept from before)" in second[1]
    assert [r["cached"] for r in results(capsys, "check", spec, "--cache", kept)] == [True] * 3
    assert [r["cached"] for r in results(capsys, "check", spec, "--no-cache")] == [False] * 3


def test_only_what_changed_is_decided_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, kept = write_spec(tmp_path), tmp_path / "kept"
    run(capsys, "check", spec, "--cache", kept)
    spec.write_text(spec.read_text().replace("[0.2, 0.3]", "[0.2, 0.35]") + "# a comment\n")
    found = results(capsys, "check", spec, "--cache", kept)
    assert {r["id"]: r["cached"] for r in found} == {"close[eps=0.2]": True, "close[eps=0.35]": False, "same": True}
    # The expectation is not part of the question.
    spec.write_text(spec.read_text().replace("expect different  if eps <= 0.2", "expect equivalent if eps <= 0.2"))
    again = results(capsys, "check", spec, "--cache", kept)
    assert [r["cached"] for r in again] == [True] * 3
    assert again[0]["as_expected"] is False


def test_a_search_for_a_certificate_is_not_said_to_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing of it is kept, as a certificate needs the whole proof, made in one run."""
    words = ("check", write_spec(tmp_path), "--domain", "paper", "--timeout", "1e-6", "--cache", tmp_path / "kept")
    code, _, err = run(capsys, *words)
    assert code == 3
    assert "--resume goes on with it" in err
    code, _, err = run(capsys, *words, "--certify", tmp_path / "certificates", "--resume")
    assert code == 3
    assert "goes on with it" not in err
    assert "--resume is of no use with --certify" in " ".join(err.split())


def test_the_environment_names_the_folder_or_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = write_spec(tmp_path)
    monkeypatch.setenv("EQSPEC_CACHE", str(tmp_path / "named"))
    run(capsys, "check", spec)
    assert (tmp_path / "named").is_dir()
    code, out, _ = run(capsys, "cache")
    assert code == 0
    assert out.startswith("There are 3 results and 0 stopped searches, ")
    assert "Removed 3 results" in run(capsys, "cache", "clear")[1]
    assert "There are 0 results" in run(capsys, "cache")[1]
    monkeypatch.setenv("EQSPEC_CACHE", "off")
    assert "EQSPEC_CACHE is off" in run(capsys, "cache")[1]
    code, _, err = run(capsys, "check", spec, "--resume")
    assert code == 2
    assert "resume goes on from what is kept, and EQSPEC_CACHE is off" in err


def test_a_folder_that_was_named_must_be_writable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = write_spec(tmp_path)
    code, _, err = run(capsys, "check", spec, "--cache", spec)
    assert code == 2
    assert f"cannot keep results in {spec}" in err
    code, _, err = run(capsys, "check", spec, "--no-cache", "--resume")
    assert code == 2


def test_damage_is_told_and_costs_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, kept = write_spec(tmp_path, CHECKS), tmp_path / "kept"
    run(capsys, "check", spec, "--cache", kept)
    entries = sorted(kept.rglob("*.result"))
    entries[0].write_bytes(entries[0].read_bytes()[:-1])
    entries[1].write_bytes(b"")
    code, out, err = run(capsys, "check", spec, "--cache", kept)
    assert code == 0
    assert "(1 kept from before)" in out
    assert err.count("is not used and removed") == 2
    assert "(3 kept from before)" in run(capsys, "check", spec, "--cache", kept)[1]


@pytest.mark.skipif(sys.platform != "linux", reason="needs the limit on the size of files")
def test_a_full_disk_is_told_once_and_the_results_come_all_the_same(tmp_path: Path) -> None:
    spec, kept = write_spec(tmp_path), tmp_path / "kept"
    script = """
import resource, signal, sys

sys.dont_write_bytecode = True  # a file of compiled code that is cut off would stay and fail every later start
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from eqspec.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
sys.exit(main(sys.argv[1:]))
"""
    command = [sys.executable, "-c", script, "check", str(spec), "--cache", str(kept)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"}, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("cannot keep results in") == 1
    assert "3 tasks" in done.stdout
    assert not [path for path in kept.rglob("*") if path.suffix in (".result", ".part")]
