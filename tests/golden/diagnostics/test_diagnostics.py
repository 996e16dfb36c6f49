"""Every finding, in words and in place.

A case is a spec in which «» encloses what the carets must point at, and below ---> everything that is found, in order:
`severity[code]: message`, then the texts of its labels and its help. The words come from the description of the
language, not from the program. Lines that start with % stand for declarations that many cases share.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from eqspec.compile import loads
from eqspec.errors import (
    Diagnostic,
    DisagreementError,
    NetworkError,
    OutputChoiceError,
    SpecError,
    UnsupportedOperatorError,
)
from eqspec.networks import Dequantised, read_network
from eqspec.networks.network import AffineLayer, Network, Port
from eqspec.report.diagnostics import to_json
from eqspec.spec.codes import CODES
from small_specs import ending_in, write_onnx

HERE = Path(__file__).parent
SHARED_LINES = {
    "%jet": "space jet { features a [ft], b, mult normalise zscore mean 0 std 1 outputs g, q, w }   "
    + "                       region core(s) in jet = box { all within s sigma }",
    "%nets": 'network ref = "ref.onnx" in jet        network pruned = "pruned.onnx" in jet',
    "%deep": "(" * 100 + "«(»" + "1" + ")" * 101,
}
SIZES = {
    "ref.onnx": (3, 3),
    "pruned.onnx": (3, 3),
    "softmax.onnx": (3, 3),
    "smaller_softmax.onnx": (3, 3),
    "clipped.onnx": (3, 3),
    "sigmoid.onnx": (3, 3),
    "tanh.onnx": (3, 3),
    "three_two.onnx": (3, 2),
    "three_two_too.onnx": (3, 2),
    "two_inputs.onnx": (3, 3),
    "same_order.onnx": (3, 3),
    "other_order.onnx": (3, 3),
    "distances.onnx": (3, 3),
}
PORTS = {
    "two_inputs": (Port("track", (1, 2), 2), Port("cell", (1, 1), 1)),
    "same_order": (Port("track", (1, 2), 2), Port("cell", (1, 1), 1)),
    "other_order": (Port("cell", (1, 1), 1), Port("track", (1, 2), 2)),
}


@dataclass(frozen=True)
class Case:
    title: str
    text: str
    expected: str
    params: dict[str, str]


def cases() -> list[Case]:
    found = []
    for file in sorted((HERE / "cases").glob("*.txt")):
        for block in re.split(r"^### ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            title, _, rest = block.partition("\n")
            text, _, expected = rest.partition("--->\n")
            for name, line in SHARED_LINES.items():
                text = text.replace(name, line)
            given = re.search(r"^params: (\w+)=(.*)\n", text, flags=re.MULTILINE)
            params = {given[1]: given[2]} if given else {}
            text = text.replace(given[0], "") if given else text
            found.append(Case(title, text.removesuffix("\n"), expected.strip(), params))
    return found


CASES = cases()


def read(path: Path, output: str | None = None, dequantised: Dequantised | None = None) -> Network:
    if path.name == "heads.onnx":
        if output is None:
            message = "the model has 2 outputs ('scores', 'values')"
            raise OutputChoiceError(str(path), message, fix="say which one is meant")
        message = f"it has no output {output!r}; its outputs are 'scores', 'values'"
        raise OutputChoiceError(str(path), message, fix="choose one of them")
    if path.name == "hardmax.onnx":
        raise UnsupportedOperatorError(
            str(path), "operator is not supported", node="act_2", operator="Hardmax", fix="supported: Gemm, MatMul"
        )
    if path.name == "misread.onnx":
        message = "it is read as another function than onnxruntime computes"
        raise DisagreementError(str(path), message, fix="report it")
    if path.name in ("full.onnx", "huge.onnx"):
        return read_network(path, dequantised=dequantised)
    if path.name not in SIZES:
        raise NetworkError(str(path), "not an ONNX model", fix="export it again")
    inputs, outputs = SIZES[path.name]
    if path.stem in ("sigmoid", "tanh"):
        return ending_in(path.stem, path)
    layer = AffineLayer(np.ones((outputs, inputs)), np.zeros(outputs))
    network = Network.of_layers(
        (layer,),
        str(path),
        path.stem,
        output_name="Y",
        output_shape=(1, outputs),
        stripped="softmax" if path.stem.endswith("softmax") else None,
    )
    inner = "Softmax 's' with Clip behind it" if path.stem == "clipped" else None
    label: Literal["min"] | None = "min" if path.stem == "distances" else None
    return replace(network, inner_softmax=inner, ports=PORTS.get(path.stem, ()), label=label)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cases")
    for name in (*SIZES, "hardmax.onnx", "broken.onnx", "misread.onnx", "heads.onnx", "nets/deep.onnx"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("")
    write_onnx(folder / "full.onnx", np.ones((3, 3)), np.zeros(3), ("batch", 3))  # what is derived needs a whole file
    write_onnx(folder / "huge.onnx", np.full((3, 3), 3e38), np.zeros(3), ("batch", 3))
    (folder / "common.eqspec").write_text("eqspec 1\n")
    (folder / "checked.eqspec").write_text("eqspec 1\ncheck inner { }\n")
    (folder / "binary.eqspec").write_bytes(b"eqspec 1 \xff\xfe")
    (folder / "rows.csv").write_text("label,major,minor,area\n0,1,2,3\n1,2,3,4\n0,1,2,n/a\n1,2,3,4\n")
    several = [(i % 7, (i * i) % 11, 4) for i in range(48)]
    (folder / "flat.csv").write_text("u,v,w\n" + "".join(f"{u},{v},{w}\n" for u, v, w in several))
    (folder / "bare.csv").write_text("1,2\n3,4\n")
    (folder / "counted.csv").write_text("0,1\n0.5,3.5\n1.5,4.5\n")
    (folder / "labelled.csv").write_text("0.5,3.5,cat\n1.5,4.5,dog\n0.5,2.5,cat\n")
    (folder / "named.csv").write_text("0,1,label\n0.5,3.5,cat\n1.5,4.5,dog\n")
    (folder / "swapped.csv").write_text("v,u,w\n1,2,3\n")
    (folder / "other.csv").write_text("feature,mean,std\nv,1,2\nw,3,4\n")
    (folder / "packed.csv.gz").write_bytes(b"\x1f\x8b")
    (folder / "two.json").write_text('{"mean": [0, 1], "std": [1, 1, 1]}')
    (folder / "keys.json").write_text('{"mean_": [0], "var_": [1]}')
    (folder / "symmetric.json").write_text('{"data_min_": [0], "data_max_": [1], "feature_range": [-1, 1]}')
    (folder / "list.json").write_text("[1, 2]")
    (folder / "scaler.pkl").write_bytes(b"")
    return folder


def found_in(text: str, folder: Path, params: dict[str, str]) -> list[Diagnostic]:
    try:
        return list(loads(text, params, name="case.eqspec", directory=folder, read=read).diagnostics)
    except SpecError as problem:
        return list(problem.diagnostics)


def in_words(found: list[Diagnostic]) -> str:
    lines = []
    for d in found:
        lines.append(f"{d.severity}[{d.code}]: {d.message}")
        lines += [f"label: {label.text}" for label in d.labels]
        lines += [f"help: {d.help}"] if d.help is not None else []
    return "\n".join(lines)


def marked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without marks, and the places they enclose."""
    plain, places, start = "", [], 0
    for piece in re.split("([«»])", text):
        if piece == "«":
            start = len(plain)
        elif piece == "»":
            places.append((start, len(plain)))
        else:
            plain += piece
    return plain, places


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_finding(case: Case, folder: Path) -> None:
    text, places = marked(case.text)
    found = found_in(text, folder, case.params)
    assert in_words(found) == case.expected.replace("%folder", str(folder))
    assert sorted({(d.span.start, d.span.end) for d in found if d.span is not None}) == places


def test_every_code_has_a_case_and_a_description() -> None:
    package = Path(str(loads.__code__.co_filename)).parents[1]
    emitted = set()
    for file in [*(package / "spec").glob("*.py"), *(package / "compile").glob("*.py")]:
        if file.name != "codes.py":
            emitted |= set(re.findall(r'"([EW]\d{3})"', file.read_text(encoding="utf-8")))
    assert emitted == set(CODES)
    shown = {code for case in CASES for code in re.findall(r"^\w+\[(\w+)\]", case.expected, flags=re.MULTILINE)}
    assert shown == set(CODES)
    assert all(text for text in CODES.values())


def test_findings_are_json_too(folder: Path) -> None:
    (found,) = found_in("eqspec 1\nnetwrok x", folder, {})
    assert json.loads(json.dumps(to_json(found))) == {
        "code": "E002",
        "severity": "error",
        "message": "unknown declaration 'netwrok'",
        "help": "did you mean 'network'?",
        "file": "case.eqspec",
        "line": 2,
        "column": 1,
        "end_line": 2,
        "end_column": 8,
        "labels": [
            {
                "text": "expected one of include, let, param, space, network, region, check, budget",
                "file": "case.eqspec",
                "line": 2,
                "column": 1,
                "end_line": 2,
                "end_column": 8,
            }
        ],
    }
