"""Which specs `check`, `lint` and `fmt` take where folders are named, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from eqspec.cli import main
from eqspec.cli.spec_files import spec_files
from eqspec.errors import InputError
from small_specs import write_spec

ONE = "check same { prove pruned keeps top1 of full when margin >= 0.5 on near(1) }\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("b.eqspec", "deep/er/a.eqspec", ".hidden/c.eqspec", "b.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_name_all_below_this_folder_in_the_order_of_their_paths(folder: Path) -> None:
    assert [Path(name) for name in spec_files([])] == [Path("b.eqspec"), Path("deep/er/a.eqspec")]


def test_a_folder_stands_for_the_specs_below_it_and_each_counts_once(folder: Path) -> None:
    inside = Path("deep/er/a.eqspec")
    assert [Path(name) for name in spec_files(["deep", str(inside), "deep/er"])] == [inside]


def test_links_to_folders_are_followed_and_circles_end(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A spec that nobody looked at would pass unseen beside the others."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "far.eqspec").touch()
    (elsewhere / "back").symlink_to(folder)
    for name in ("linked", "twice"):
        (folder / name).symlink_to(elsewhere)
    assert spec_files([]) == ["b.eqspec", "deep/er/a.eqspec", "linked/far.eqspec"]


def test_a_file_is_taken_as_it_is_named(folder: Path) -> None:
    assert spec_files(["missing.eqspec", "b.txt"]) == ["missing.eqspec", "b.txt"]


def test_a_folder_without_specs_is_refused(folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match=r"no spec below empty: .*eqspec init"):
        spec_files(["empty"])


def test_what_is_found_is_checked_with_files_that_only_others_include(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_spec(tmp_path, ONE)
    (tmp_path / "base.eqspec").write_text("eqspec 1\nlet a = 1\n")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--no-cache"]) == 0
    shown = capsys.readouterr()
    assert "same" in shown.out
    assert "error" not in shown.err


def test_a_file_that_is_named_and_has_no_check_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody may have emptied it; the other file alone would look as if all was proved."""
    write_spec(tmp_path, ONE)
    (tmp_path / "base.eqspec").write_text("eqspec 1\n")
    monkeypatch.chdir(tmp_path)
    names = [path.name for path in tmp_path.glob("*.eqspec")]
    assert main(["check", "--no-cache", *names]) == 0
    assert "warning: nothing to check in base.eqspec" in capsys.readouterr().err
    assert main(["check", "--no-cache", "--check", "same", *names]) == 0
    assert main(["check", "--no-cache", "."]) == 0
    assert "nothing to check" not in capsys.readouterr().err


def test_lint_and_fmt_take_folders_as_check_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deep").mkdir()
    write_spec(tmp_path / "deep", ONE)
    (tmp_path / "base.eqspec").write_text("eqspec 1\nlet a=1\n")
    monkeypatch.chdir(tmp_path)
    for words in (["lint"], ["lint", "."], ["lint", "base.eqspec", "deep"]):
        assert main(words) == 0
        assert [line.split(":")[1] for line in capsys.readouterr().out.splitlines()] == [" 0 tasks", " 1 task"]
    assert main(["fmt", "--check", "."]) == 1
    assert "base.eqspec would change" in capsys.readouterr().out
    assert main(["fmt", "."]) == 0
    assert (tmp_path / "base.eqspec").read_text() == "eqspec 1\nlet a = 1\n"
