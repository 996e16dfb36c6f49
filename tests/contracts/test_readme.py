"""What the documents show is true: commands are the ones that run in `.ci/run`, examples run, links lead somewhere."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import eqspec

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "specs/README.md", "tests/README.md")
PAGES = [str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").rglob("*.md"))]


def blocks(document: Path, language: str) -> list[str]:
    """The fenced code blocks of one language."""
    text = document.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def test_the_gate_runs_the_commands_as_printed(root: Path) -> None:
    commands = [line for block in blocks(root / "README.md", "sh") for line in block.splitlines()]
    assert len(commands) == 2
    assert "eqspec check specs/lhc.eqspec" in commands[0]
    assert commands[1].endswith(".venv/bin/pytest")
    gate = re.findall(r'^run "(.*)"$', (root / ".ci" / "run").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [command for command in commands if command not in gate] == []


def test_the_spec_shown_is_the_spec_that_runs(root: Path) -> None:
    shown = blocks(root / "README.md", "eqspec")
    assert shown
    text = (root / "specs" / "lhc.eqspec").read_text(encoding="utf-8")
    for block in shown:
        assert block in text


def test_the_sentences_shown_are_sentences(root: Path) -> None:
    """Each row of the table, and each ending it mentions, compiles to a claim of its own."""
    text = (root / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(g .*?)` \|(.*)\|$", text, flags=re.MULTILINE)
    assert len(rows) >= 5
    claims = [row for row, _ in rows] + [f"{rows[0][0]} {ending}" for ending in re.findall(r"`(.*?)`", rows[0][1])]
    (search,) = re.findall(r"`(find .*?)`", text)
    space = "space s { features x, y normalise none outputs a, b }\nregion all in s = box { x: 0 .. 1 y: 0 .. 1 }"
    files = 'network f = "base.onnx" in s\nnetwork g = "raised.onnx" in s'
    checks = [f"check c{i} {{ prove {claim} on all }}" for i, claim in enumerate(claims)]
    checks.append(f"check best {{ prove g stays within eps of f on all {search} }}")
    spec = eqspec.loads("\n".join(["eqspec 1", space, files, *checks]), directory=root / "specs" / "tiny")
    assert len({task.property for task in spec.tasks}) == len(claims)
    assert len(spec.searches) == 1


def test_the_transcript_is_what_the_command_prints(root: Path) -> None:
    """Word for word but for the figures: those of the witness are checked below, and times differ."""
    shown = (root / "docs" / "pictures" / "lhc.txt").read_text(encoding="utf-8")
    command, _, printed = shown.partition("\n")
    assert command == "$ eqspec check specs/lhc.eqspec"
    done = subprocess.run(
        [sys.executable, "-m", "eqspec", *command.split()[2:]],
        cwd=root,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert masked(done.stdout) == masked(printed)


@pytest.mark.parametrize("name", ["lhc-light.svg", "lhc-dark.svg"])
def test_the_picture_shows_the_transcript(root: Path, name: str) -> None:
    """docs/_site/picture.py writes both; nothing in the picture is fetched from elsewhere."""
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert readme.count(f'"docs/pictures/{name}"') == 1
    drawn = (root / "docs" / "pictures" / name).read_text(encoding="utf-8")
    assert re.findall(r"(?:href|src|url)\s*[=(]\s*[\"']?(?!#)(\S+)", drawn) == []
    words = html.unescape("".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawn)))
    transcript = (root / "docs" / "pictures" / "lhc.txt").read_text(encoding="utf-8")
    assert "".join(words.split()) == "eqspec" + "".join(transcript.split())


def masked(text: str) -> list[str]:
    """The words of a report: lines may break elsewhere, any class may be the one that is lost, figures may differ."""
    text = re.sub(r"(decides|has) [gqwzt]\b", r"\1 CLASS", text)
    text = re.sub(r"(?<![\w.])-?\d[\d.]*(e[+-]?\d+)?", "N", text)
    return text.split()


def test_the_witness_shown_breaks_the_claim(root: Path) -> None:
    """The input of the transcript, evaluated by onnxruntime on the original files."""
    shown = (root / "docs" / "pictures" / "lhc.txt").read_text(encoding="utf-8")
    words = " ".join(shown.split())
    found = re.search(
        r"decides (\w) with confidence ([\d.]+), but pruned has (\w) higher by ([\d.]+) at (.*); the other (\d+) are "
        r"at the centre of the region output ref",
        words,
    )
    assert found
    kept, confidence, preferred, lead, listed, others = found.groups()
    shown_values = {part.split(" = ")[0]: float(part.split(" = ")[1].split()[0]) for part in listed.split(", ")}
    scaler = json.loads((root / "specs" / "lhc" / "scaler.json").read_text(encoding="utf-8"))
    spec = (root / "specs" / "lhc.eqspec").read_text(encoding="utf-8")
    names = re.findall(r"\w+", spec.split("features", 1)[1].split("normalise", 1)[0])
    names = [name for name in names if name != "GeV"]
    assert len(shown_values) + int(others) == len(names) == len(scaler["mean"])
    values = [shown_values.get(name, mean) for name, mean in zip(names, scaler["mean"], strict=True)]
    normalised = (np.array(values) - scaler["mean"]) / np.array(scaler["std"])
    assert np.abs(normalised).max() <= 0.25 + 1e-4  # the features are shown to six digits

    outputs = {}
    for name in ("reference", "pruned"):
        session = onnxruntime.InferenceSession(root / "specs" / "lhc" / f"{name}.onnx")
        (rows,) = session.run(None, {"features": normalised.astype(np.float32)[None]})
        outputs[name] = dict(zip("gqwzt", rows[0].tolist(), strict=True))
    assert outputs["reference"][kept] == pytest.approx(float(confidence), abs=1e-4)
    assert outputs["reference"][kept] == pytest.approx(max(outputs["reference"].values()), abs=1e-4)
    gap = np.log(outputs["pruned"][preferred] / outputs["pruned"][kept])
    assert gap == pytest.approx(float(lead), abs=1e-4)


@pytest.mark.parametrize("name", [*DOCUMENTS, *PAGES])
def test_links_lead_somewhere(root: Path, name: str) -> None:
    document = root / name
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", document.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        found = document.parent / target if target else document
        assert found.exists(), f"{name} links to {target}"
        if anchor and found.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", found.read_text(encoding="utf-8"), flags=re.MULTILINE)
            anchors = [re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings]
            assert anchor in anchors, f"{name} links to {target}#{anchor}; there are {anchors}"


def test_every_folder_of_tests_is_described(root: Path) -> None:
    described = re.findall(r"^\| `(\w+)/` \|", (root / "tests" / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    folders = [path.name for path in (root / "tests").iterdir() if path.is_dir() and path.name[0] not in "._"]
    assert sorted(described) == sorted(folders)


def test_every_module_has_a_source(root: Path) -> None:
    """The tables of ARCHITECTURE.md have no empty cell."""
    lines = (root / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert len(rows) > 20
    assert [row for row in rows if not all(row)] == []
