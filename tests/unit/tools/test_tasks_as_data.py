"""Tasks, findings and results as JSON: they fit their schemas, say everything, and come back."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

import eqspec
from eqspec import compile as compiler
from eqspec.cli import main
from eqspec.cli.options.schema import SCHEMAS
from eqspec.cli.tools.schema import text
from eqspec.errors import InputError
from eqspec.tasks import serialisation
from eqspec.tasks.task import Task

EVERY_CLAIM = """eqspec 1
include "{tiny}" as t
budget {{ timeout 5s }}
region slanted in t.plane = box {{ x: -1/3 .. 1  y: 0.1 .. 1 }} and where {{ x + y <= 1, x <= 1/2 }}
region sampled in t.plane = slanted and grid {{ x step 1/3 from 0.1 }}
check eps1   {{ prove t.raised stays within e of t.base in l1 comparing [left]  on t.square  for e in [0.3, 1/3] }}
check eps2   {{ prove t.raised stays within 1 of t.base in l2  on slanted  tags a, b }}
check top    {{ prove t.wider keeps top1 of t.base  on slanted  expect equivalent }}
check sure   {{ prove t.wider keeps top1 of t.base when confidence >= 0.9  on slanted }}
check margin {{ prove t.wider keeps top1 of t.base when margin >= 1/3  on slanted }}
check linear {{ prove t.raised satisfies t.raised[left] - t.base[0] < 1/3  on slanted }}
check equal  {{ prove t.raised equals t.base  on t.square }}
check wraps  {{ prove t.raised never wraps  on sampled }}
check cut    {{ prove t.raised never saturates  on t.square }}
check grid   {{ prove t.wider keeps top1 of t.base  on sampled }}
check found  {{ prove t.raised stays within e of t.base  on t.square  find smallest e in 0.1 .. 1 to 0.01 }}
"""


def schema(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text(kind))
    return found


def compiled(root: Path, folder: Path) -> compiler.Compiled:
    path = folder / "every.eqspec"
    path.write_text(EVERY_CLAIM.format(tiny=root / "specs" / "tiny" / "tiny.eqspec"))
    return compiler.load(path)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_schemas_are_schemas_and_printed_as_they_are(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    Draft202012Validator.check_schema(schema(kind))
    assert main(["schema", kind]) == 0
    assert json.loads(capsys.readouterr().out) == schema(kind)


def test_every_kind_of_task_fits_the_schema_and_comes_back(root: Path, tmp_path: Path) -> None:
    tasks = compiled(root, tmp_path).tasks
    check = Draft202012Validator(schema("task"))
    assert len(tasks) == 11
    for task in tasks:
        data = json.loads(json.dumps(serialisation.to_json(task), allow_nan=False))
        check.validate(data)
        again = serialisation.from_json(data)
        assert serialisation.to_json(again) | {"source": data["source"], "budget": data["budget"]} == data
        for name in ("lower_exact", "upper_exact", "constraints", "property", "space", "parameters", "expected"):
            assert getattr(again, name) == getattr(task, name)
        assert (again.lower == task.lower).all()
        assert (again.upper == task.upper).all()


def test_the_schema_refuses_what_is_missing(root: Path, tmp_path: Path) -> None:
    data = serialisation.to_json(compiled(root, tmp_path).tasks[0])
    check = Draft202012Validator(schema("task"))
    for broken in (
        {k: v for k, v in data.items() if k != "region"},
        data | {"property": {"kind": "epsilon", "decide": "max"}},
        data | {"property": data["property"] | {"eps": "0.1"}},
        data | {"sha256": "short"},
    ):
        with pytest.raises(ValidationError):
            check.validate(broken)


def test_numbers_are_exact_and_the_box_is_rounded_outward(root: Path, tmp_path: Path) -> None:
    data = serialisation.to_json(next(t for t in compiled(root, tmp_path).tasks if t.check == "eps2"))
    assert data["region"]["lo_exact"] == ["-1/3", "1/10"]
    assert Fraction(data["region"]["lo"][0]) < Fraction(-1, 3)
    assert Fraction(data["region"]["lo"][1]) <= Fraction(1, 10)
    assert data["region"]["hi_exact"] == ["1/2", "1"]
    assert (data["region"]["A"], data["region"]["b"], data["region"]["strict"]) == ([["1", "1"]], ["1"], [False])


def test_the_hash_is_of_what_decides(root: Path, tmp_path: Path) -> None:
    tasks = {task.id: task for task in compiled(root, tmp_path).tasks}
    hashes = {name: serialisation.to_json(task)["sha256"] for name, task in tasks.items()}
    assert len(set(hashes.values())) == len(hashes)
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for file in (root / "specs" / "tiny").iterdir():
        (moved / file.name).write_bytes(file.read_bytes())
    (tmp_path / "b").mkdir()
    path = tmp_path / "b" / "every.eqspec"
    written = (
        EVERY_CLAIM.format(tiny=moved / "tiny.eqspec").replace("tags a, b", "").replace("check top ", "check renamed")
    )
    path.write_text(written)
    again = {task.id: serialisation.to_json(task)["sha256"] for task in compiler.load(path).tasks}
    assert again == {name.replace("top", "renamed"): digest for name, digest in hashes.items()}


def test_the_command_writes_tasks_and_searches(root: Path, tmp_path: Path) -> None:
    compiled(root, tmp_path)
    target = tmp_path / "tasks.json"
    assert main(["compile", str(tmp_path / "every.eqspec"), "-o", str(target)]) == 0
    data = json.loads(target.read_text())
    whole = schema("task")
    Draft202012Validator(whole | {"$ref": "#/$defs/file"}).validate(data)
    assert len(data["tasks"]) == 11
    (search,) = data["searches"]
    assert (search["low"], search["high"], search["width"]) == ("1/10", "1", "1/100")
    assert search["at_low"]["property"]["eps"] == "1/10"
    assert search["at_high"]["property"]["eps"] == "1"


def test_a_spec_that_cannot_be_used_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.eqspec").write_text("eqspec 1\ncheck c { }\n")
    target = tmp_path / "tasks.json"
    assert main(["compile", str(tmp_path / "a.eqspec"), "-o", str(target)]) == 2
    assert not target.exists()
    assert "E205" in capsys.readouterr().err


def test_lint_says_how_many_tasks_and_searches_there_are(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled(root, tmp_path)
    assert main(["lint", str(tmp_path / "every.eqspec")]) == 0
    assert capsys.readouterr().out.strip().endswith("every.eqspec: 11 tasks, 1 search")


def test_lint_finds_what_is_wrong_in_all_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.eqspec").write_text('eqspec 1\nspace s { features a outputs b }\nnetwork n = "no.onnx" in s\n')
    (tmp_path / "b.eqspec").write_text("eqspec 1\nlet a = b\nregion r in t = box { }\n")
    files = [str(tmp_path / "a.eqspec"), str(tmp_path / "b.eqspec")]
    assert main(["lint", *files]) == 2
    shown = capsys.readouterr()
    assert all(code in shown.err for code in ("E110", "E101"))
    assert main(["lint", "--format", "json", *files]) == 2
    found = json.loads(capsys.readouterr().out)
    check = Draft202012Validator(schema("diagnostic"))
    for finding in found:
        check.validate(finding)
    assert [f["code"] for f in found] == ["E110", "E101", "E101"]
    with pytest.raises(ValidationError):
        check.validate(found[0] | {"line": 0})


def test_lint_takes_params(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.eqspec").write_text(
        "eqspec 1\nparam n = 2\nspace s { features a normalise zscore mean 0 std n outputs b }\n"
    )
    assert main(["lint", str(tmp_path / "a.eqspec")]) == 0
    assert main(["lint", "-p", "n=0", str(tmp_path / "a.eqspec")]) == 2
    assert "E121" in capsys.readouterr().err


@pytest.fixture(scope="module")
def results(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of claims that break, one of them by a search, written by the command."""
    folder = tmp_path_factory.mktemp("results")
    tiny = root / "specs" / "tiny" / "tiny.eqspec"
    (folder / "a.eqspec").write_text(
        f'eqspec 1\ninclude "{tiny}" as t\nbudget {{ timeout 20s }}\n'
        "check eps   { prove t.raised stays within 0.2 of t.base  on t.square  expect different }\n"
        "check found { prove t.raised stays within e of t.base  on t.square  find smallest e in 0.1 .. 1 to 0.1 }\n"
    )
    assert main(["check", str(folder / "a.eqspec"), "--format", "json", "-o", str(folder / "results.json")]) == 0
    return folder / "results.json"


def test_results_are_replayed_from_the_file_alone(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (results.parent / "a.eqspec").unlink(missing_ok=True)
    assert main(["replay", str(results)]) == 0
    shown = capsys.readouterr().out
    assert "2 inputs confirmed, 0 not" in shown
    assert shown.count("onnxruntime agrees") == 2
    check = Draft202012Validator(schema("result"))
    for result in json.loads(results.read_text()):
        check.validate(result)
        Draft202012Validator(schema("task")).validate(result["task"])
        assert eqspec.Result.from_json(result).to_json() == result


@pytest.mark.parametrize(
    ("coordinate", "said"), [("5", "outside of the region"), ("claim", "it holds there")], ids=["outside", "holds"]
)
def test_what_is_not_so_is_said(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], coordinate: str, said: str
) -> None:
    data = json.loads(results.read_text())[:1]
    if coordinate == "claim":
        data[0]["task"]["property"]["eps"] = "1/4"  # the distance is exactly a quarter
    else:
        data[0]["witness"]["normalised_exact"][0] = coordinate
    (tmp_path / "forged.json").write_text(json.dumps(data))
    assert main(["replay", str(tmp_path / "forged.json")]) == 1
    assert said in capsys.readouterr().out


def test_a_network_that_changed_is_not_replayed(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads(results.read_text())
    data[0]["task"]["candidate"]["sha256"] = "0" * 64
    (tmp_path / "changed.json").write_text(json.dumps(data))
    assert main(["replay", str(tmp_path / "changed.json")]) == 2
    assert "another file than it was" in capsys.readouterr().err


@pytest.mark.parametrize("version", [2, None, True, "1"])
def test_every_command_that_reads_results_refuses_another_schema(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], version: object
) -> None:
    data = json.loads(results.read_text())
    for entry in data:
        entry["schema_version"] = version
    (tmp_path / "other.json").write_text(json.dumps(data))
    told = set()
    for command in ("replay", "report"):
        assert main([command, str(tmp_path / "other.json")]) == 2
        words = " ".join(capsys.readouterr().err.split())
        assert "this eqspec reads 1" in words
        told.add(words[words.index(" has ") :])
    assert len(told) == 1


@pytest.mark.parametrize(
    "content", ["", "[1]", "{}", '{"id": "a", "witness": {"raw": {}}}', '[{"id": "a", "witness": {}, "task": {}}]']
)
def test_what_is_no_results_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    code = main(["replay", str(tmp_path / "a.json")])
    assert code == (0 if "{}, " in content else 2)
    assert "Traceback" not in capsys.readouterr().err


def test_a_task_with_another_claim_is_refused(root: Path, tmp_path: Path) -> None:
    task: Task = compiled(root, tmp_path).tasks[0]
    data = serialisation.to_json(task)
    for broken in (
        data | {"schema": "eqspec-task/2"},
        data | {"property": data["property"] | {"kind": "l7"}},
        data | {"region": {}},
    ):
        with pytest.raises(InputError):
            serialisation.from_json(broken)
