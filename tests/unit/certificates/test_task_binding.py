"""`eqspec audit --spec`: a certificate answers a task exactly or not at all, and a task without one is a failure."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from eqspec.certificates.task_binding import Coverage, asked, differences
from eqspec.cli import main
from eqspec.property import Epsilon
from small_tasks import identity, task
from unit.certificates.files import write
from unit.certificates.proofs import Parts, pack, unpack

SPEC = """eqspec 1
space s {
  features  a [m], b
  normalise zscore mean [1, 2] std [0.5, 4]
  outputs   one, two
}
network f = "f.onnx" in s
network g = "g.onnx" in s
region near(k) in s = box { all within k sigma }
check close { prove g stays within 0.5 of f  on near(k)  for k in [0.25, 0.5] }
check first { prove g keeps top1 of f when margin >= 0.5  on near(0.25) }
check apart { prove g stays within 0.0001 of f  on near(0.5)  expect different }
check least { prove g stays within eps of f  on near(0.375)  find smallest eps in 0 .. 1 to 0.1 }
"""
IDS = {"close[k=0.25]", "close[k=0.5]", "first", "apart"}


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a spec, its networks, and certificates of all that it asks."""
    folder = tmp_path_factory.mktemp("bound")
    rng = np.random.default_rng(4)
    first = [(rng.normal(size=(5, 2)), rng.normal(size=5)), (rng.normal(size=(2, 5)), rng.normal(size=2))]
    write(folder / "f.onnx", first)
    write(folder / "g.onnx", [(w + 0.01 * rng.normal(size=w.shape), b) for w, b in first])
    (folder / "s.eqspec").write_text(SPEC)
    assert main(["check", str(folder / "s.eqspec"), "--certify", str(folder / "made"), "--threads", "1"]) == 0
    return folder


@pytest.fixture
def folder(certified: Path, tmp_path: Path) -> Path:
    """A copy to be changed; the paths in its certificates are found beside them."""
    shutil.copytree(certified, tmp_path / "copy")
    for made in (tmp_path / "copy" / "made").glob("*.eqcert"):
        parts = unpack(made)
        for role in ("reference", "candidate"):
            task = parts.header["task"]
            task[role]["path"] = str(tmp_path / "copy" / Path(task[role]["path"]).name)
        pack(made, parts)
    return tmp_path / "copy"


def run(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    """Exit code and output."""
    code = int(main(["audit", str(folder / "made"), "--spec", str(folder / "s.eqspec"), *more]))
    found = capsys.readouterr()
    return code, found.out + found.err


def as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    code = int(main(["audit", str(folder / "made"), "--spec", str(folder / "s.eqspec"), "--format", "json"]))
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, found


def test_all_of_a_spec(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(folder, capsys)
    assert code == 0, text
    assert "5 of 5 tasks" in text
    assert "least  the claim holds at eps =" in text
    code, found = as_json(folder, capsys)
    assert code == 0
    assert {task["id"] for task in found["tasks"]} == IDS | {"least"}
    assert all(one["holds"] and one["tasks"] for one in found["certificates"])
    least = next(task for task in found["tasks"] if task["id"] == "least")
    assert least["proved"] is not None


def test_a_task_without_a_certificate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "made" / "first.eqcert").unlink()
    code, text = run(folder, capsys)
    assert code == 1
    assert "first  not shown: no certificate answers it" in text
    assert "4 of 5 tasks" in text


def test_a_search_without_a_proof(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for made in (folder / "made").glob("least*"):
        if unpack(made).header["verdict"] == "equivalent":
            made.unlink()
    code, text = run(folder, capsys)
    assert code == 1
    assert "least  not shown: no certificate proves the claim at any value" in text


def _property(parts: Parts) -> None:
    parts.header["task"]["property"]["eps"] = "1000"


def _region(parts: Parts) -> None:
    parts.header["task"]["region"]["hi_exact"][1] = "1/8"


def _point(parts: Parts) -> None:
    region = parts.header["task"]["region"]
    region["hi_exact"] = region["lo_exact"]


def _norm(parts: Parts) -> None:
    parts.header["task"]["property"].update(norm="l2", eps="1000")


def _chosen(parts: Parts) -> None:
    parts.header["task"]["property"]["outputs"] = [0]


def _swapped(parts: Parts) -> None:
    task = parts.header["task"]
    task["reference"], task["candidate"] = task["candidate"], task["reference"]


def _same(parts: Parts) -> None:
    task = parts.header["task"]
    task["candidate"] = dict(task["reference"])


def _mean(parts: Parts) -> None:
    parts.header["task"]["space"]["mean_exact"][0] = "7"


def _std(parts: Parts) -> None:
    parts.header["task"]["space"]["std_exact"][1] = "1/1000"


def _constraint(parts: Parts) -> None:
    parts.header["task"]["region"].update(A=[["1", "0"]], b=["-1/8"], strict=[False])


def _decide(parts: Parts) -> None:
    parts.header["task"]["property"]["decide"] = "min"


DIFFERENT: list[tuple[Callable[[Parts], None], str]] = [
    (_property, "by at most 1000; the task claims"),
    (_norm, "in l2"),
    (_chosen, "outputs 0 alone"),
    (_decide, "the task claims"),
    (_region, "the upper end of the region is 0.125 for b, in the spec 0.25"),
    (_point, "the upper end of the region"),
    (_swapped, "its reference is the candidate of the spec"),
    (_same, "its candidate has sha256"),
    (_mean, "the mean of the normalisation is 7 for a, in the spec 1"),
    (_std, "the scale of the normalisation is 1/1000 for b, in the spec 4"),
    (_constraint, "other linear constraints (1)"),
]


@pytest.mark.parametrize(("change", "words"), DIFFERENT, ids=lambda value: getattr(value, "__name__", ""))
def test_what_differs_is_named(
    change: Callable[[Parts], None], words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The proof holds, and is none of what the spec asks."""
    path = folder / "made" / "close_k=0.25.eqcert"
    parts = unpack(path)
    change(parts)
    pack(path, parts)
    assert main(["audit", str(path)]) == 0
    capsys.readouterr()
    code, text = run(folder, capsys)
    assert code == 1
    assert "it does not answer close[k=0.25] of the spec: " in text
    assert words in text.replace("0.001 for b", "1/1000 for b")
    assert "4 of 5 tasks" in text


def test_a_name_does_not_bind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The certificate of an easier task under the name of another; and the right one under any name."""
    made = folder / "made"
    parts = unpack(made / "close_k=0.25.eqcert")
    parts.header["task"].update(id="close[k=0.5]", parameters={"k": "1/2"})
    pack(made / "close_k=0.5.eqcert", parts)
    code, text = run(folder, capsys)
    assert code == 1
    assert "close[k=0.5]  not shown: no certificate answers it" in text
    assert "task          close[k=0.25]" in text


def test_a_value_of_a_search_does_not_bind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That a certificate calls itself one of a harder value helps it nothing."""
    proofs = ((made, unpack(made)) for made in (folder / "made").glob("least*"))
    made, parts = next(proof for proof in proofs if proof[1].header["verdict"] == "equivalent")
    for value in ("0", "1/10000", "1e9999999999", "-1", "1/0", "7/3", ""):
        parts.header["task"].update(parameters={"eps": value})
        pack(made, parts)
        code, text = run(folder, capsys, "--timeout", "60")
        assert code == 1, value
        assert "holds at eps = 0 " not in text
        assert f"{made.name}  refused" in text


def test_a_network_that_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In place: the auditor sees that. Beside the certificate the old one is found, and then the spec says it."""
    made, g = folder / "made", folder / "g.onnx"
    old = g.read_bytes()
    rng = np.random.default_rng(5)
    write(g, [(rng.normal(size=(2, 2)), rng.normal(size=2))])
    code, text = run(folder, capsys)
    assert code == 1
    assert "is not the file that the proof is about" in text
    (made / "old").mkdir()
    (made / "old" / "g.onnx").write_bytes(old)
    for path in made.glob("*.eqcert"):
        parts = unpack(path)
        parts.header["task"]["candidate"]["path"] = str(made / "old" / "g.onnx")
        pack(path, parts)
    code, text = run(folder, capsys)
    assert code == 1
    assert "its candidate has sha256" in text
    assert "0 of 5 tasks" in text


def test_what_comes_out_otherwise_than_expected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = folder / "s.eqspec"
    spec.write_text(SPEC.replace("expect different", "expect equivalent"))
    code, text = run(folder, capsys)
    assert code == 1
    assert "apart  not shown: a certificate shows that the claim breaks, and the spec expects equivalent" in text
    spec.write_text(SPEC.replace("near(0.25) }", "near(0.25)  expect unknown }"))
    code, text = run(folder, capsys)
    assert code == 1
    assert "first  not shown" in text


def test_one_check_of_a_spec_and_parameters(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(folder / "made" / "first.eqcert")
    assert main(["audit", path, "--spec", f"{folder / 's.eqspec'}:first"]) == 0
    assert "1 of 1 task" in capsys.readouterr().out
    assert main(["audit", path, "--spec", str(folder / "gone.eqspec")]) == 2
    assert main(["audit", path, "--param", "a=1"]) == 2
    assert main(["audit", path, "--timeout", "nan"]) == 2
    assert main(["audit", path, "--timeout", "0"]) == 2


def test_without_a_spec_names_are_the_certificates_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "made" / "first.eqcert"
    parts = unpack(path)
    parts.header["task"]["id"] = "\x1b[31mequivalent"
    pack(path, parts)
    assert main(["audit", str(path)]) == 0
    text = capsys.readouterr().out
    assert 'task "\\x1b[31mequivalent"' in text
    assert "not checked" in text
    assert "\x1b" not in text


def test_no_certificate_answers_for_probabilities() -> None:
    """Of a claim about them the auditor makes no question."""
    plain = task(identity(2), identity(2), Epsilon(Fraction(1)))
    other = replace(plain, reference=replace(plain.reference, softened="softmax"))
    assert not isinstance(asked(plain), str)
    assert "does not derive" in str(asked(other))
    assert [covered.trouble for covered in Coverage([other], []).tasks] == ["no certificate answers it"]
    assert differences(cast(Any, asked(plain)), other) == [asked(other)]


def test_no_certificate_answers_for_another_output_of_the_file() -> None:
    plain = task(identity(2), identity(2), Epsilon(Fraction(1)))
    one, other = (replace(plain, reference=replace(plain.reference, chosen=name)) for name in ("scores", "values"))
    for found, wanted in ((plain, one), (one, plain), (one, other)):
        (difference,) = differences(cast(Any, asked(found)), wanted)
        assert "its reference is output" in difference
    assert differences(cast(Any, asked(one)), one) == ["they are the same"]
