"""What the name at a place stands for, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from eqspec import compile as compiler
from eqspec.language_server.hover import hover
from eqspec.language_server.meaning import LocalName, NamedFile, meaning
from eqspec.language_server.understanding import ReadNetworks, Understanding, understand, with_files
from eqspec.report.statement import statement
from small_specs import CHECKS, HEADER, write_onnx

TEXT = (
    HEADER
    + "param width = 20\nregion wide(r) in plane = near(r) and where { left <= width * r }\n"
    + CHECKS
    + "check only { prove pruned stays within 1 of full comparing [b] on wide(1) }\n"
    + "check least { prove pruned satisfies pruned[a] <= full[b] on near(1) }\n"
)


@pytest.fixture(scope="module")
def networks() -> ReadNetworks:
    return ReadNetworks()


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory, networks: ReadNetworks) -> Understanding:
    folder = tmp_path_factory.mktemp("spec")
    write_onnx(folder / "full.onnx", [[1, 0], [0, 1]], [0, 0])
    write_onnx(folder / "pruned.onnx", [[1, 0], [0, 1]], [0, 0.25])
    return with_files(understand(TEXT, folder / "a.eqspec", {}), networks)


@pytest.mark.parametrize(
    ("used", "declared"),
    [
        ('full   = "full.onnx"   in ▸plane', "space ▸plane"),
        ("region near(r) in ▸plane", "space ▸plane"),
        ("prove  ▸pruned stays", "network ▸pruned"),
        ("within eps of ▸full", "network ▸full"),
        ("pruned keeps top1 of ▸full", "network ▸full"),
        ("on     ▸near(1)", "region ▸near"),
        ("= ▸near(r) and", "region ▸near"),
        ("= near(▸r) and", "region wide(▸r)"),
        ("all within ▸r sigma", "region near(▸r)"),
        ("where { ▸left", "features  ▸left"),
        ("left <= ▸width", "param ▸width"),
        ("stays within ▸eps", "for    ▸eps"),
        ("different  if ▸eps", "for    ▸eps"),
        ("comparing [▸b]", "outputs   a, ▸b"),
        ("satisfies pruned[▸a]", "outputs   ▸a"),
        ("satisfies pruned[a] <= ▸full", "network ▸full"),
        ("check ▸close", "check ▸close"),
    ],
)
def test_a_name_leads_to_its_declaration(spec: Understanding, used: str, declared: str) -> None:
    found = meaning(spec, place(used))
    assert found is not None
    assert not isinstance(found, NamedFile)
    assert found.declared is not None
    assert found.declared.start == place(declared)
    assert hover(spec, found, ReadNetworks())


def place(marked: str) -> int:
    before, _, after = marked.partition("▸")
    return TEXT.index(before + after) + len(before)


def test_every_place_can_be_asked_about(spec: Understanding, networks: ReadNetworks) -> None:
    for offset in range(len(TEXT) + 1):
        found = meaning(spec, offset)
        if found is not None:
            assert found.used.start <= offset <= found.used.end
            assert hover(spec, found, networks)
            if not isinstance(found, NamedFile | LocalName) and found.declared is not None:
                assert found.declared.text in (found.used.text, "a", "b")


@pytest.mark.parametrize("marked", ["# ▸Not", "prove  pruned stays ▸within", "eqspec ▸1"])
def test_what_is_no_name_means_nothing(spec: Understanding, marked: str) -> None:
    if marked.startswith("#"):
        assert meaning(understand("# Not\n" + TEXT, spec.program.root.directory / "a.eqspec", {}), 3) is None
    else:
        assert meaning(spec, place(marked)) is None


def test_a_check_is_said_in_the_words_of_explain(spec: Understanding, networks: ReadNetworks) -> None:
    compiled = compiler.load(_saved(spec))
    (same,) = [task for task in compiled.tasks if task.check == "same"]
    found = meaning(spec, place("check ▸same"))
    assert found is not None
    text = hover(spec, found, networks)
    said = statement(same)
    assert said.words in text
    assert said.formula in text
    assert all(line in text for line in said.region)


def _saved(spec: Understanding) -> Path:
    path = Path(spec.source.name)
    path.write_text(TEXT)
    return path


def test_a_network_is_its_file_and_has_a_shape(spec: Understanding, networks: ReadNetworks) -> None:
    found = meaning(spec, place('"▸pruned.onnx"'))
    assert isinstance(found, NamedFile)
    assert found.path == spec.program.root.directory / "pruned.onnx"
    assert "2 inputs -> 2 outputs" in hover(spec, found, networks)
    assert "not read yet" in hover(spec, found, ReadNetworks())


def test_a_network_that_has_changed_is_read_again(tmp_path: Path) -> None:
    networks, path = ReadNetworks(), tmp_path / "n.onnx"
    write_onnx(path, [[1, 0], [0, 1]], [0, 0])
    first = networks.read(path)
    assert networks.read(path) is first
    write_onnx(path, [[1, 0, 0], [0, 1, 0]], [0, 0], ("batch", 3))
    assert networks.known(path) is None
    assert networks.read(path).input_size == 3


def test_open_texts_count_more_than_their_files(tmp_path: Path) -> None:
    (tmp_path / "s.eqspec").write_text("eqspec 1\nlet a = 1\n")
    text = 'eqspec 1\ninclude "s.eqspec"\nlet c = b\n'
    opened = {(tmp_path / "s.eqspec").resolve(): "eqspec 1\nlet b = 1\n"}
    assert [found.code for found in understand(text, tmp_path / "a.eqspec", {}).findings] == ["E101"]
    assert not understand(text, tmp_path / "a.eqspec", opened).findings
