"""Specs torn apart at random: whatever a file says, the answer is tasks or findings, never another exception."""

from __future__ import annotations

import json
import random
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.compile import loads
from eqspec.errors import Diagnostic, NetworkError, SpecError
from eqspec.networks.network import AffineLayer, Network
from eqspec.report.diagnostics import plain, to_json

SPECS = [
    """eqspec 1
# jets
param models = "models/2_20"
let sigmas = linspace(0.1, 0.5, 3)
space jet {
  features  a [ft], b, c
  normalise zscore mean [0, 1, 2] std [1, 2 * 1.5, 1e-1]
  outputs   g, q, w
}
network ref    = models + ".onnx" in jet gives logits
network pruned = "p.onnx" in jet takes raw
region core(s) in jet = box { all within s sigma, a: -1 [ft] .. 1 [ft]  b = 0.5 } and where { a - 2*b <= 3, c >= 0 }
## documented
check near {
  prove  pruned keeps top1 of ref when confidence >= delta
  on     core(sigma)
  for    sigma in sigmas
  for    delta in [0.8, 1 - 1e-3]
  expect different if delta <= 0.9
  budget { timeout 600s memory 8GB }
  tags   nightly, lhc
}
check reach { prove pruned stays within eps of ref in l2 comparing [g, 2] on core(0.5)
  find smallest eps in 0 .. 1 to 1e-3 }
check line { prove pruned satisfies pruned[g] - ref[q]/3 < 2^-3 on core(1) expect equivalent }
""",
    """eqspec 1
budget { threads 2 jobs 1 timeout 2min }
space digit { shape [2, 2] domain 0 .. 255 normalise minmax low 0 high 255 outputs 10 decide min }
network full   = "f.onnx" in digit
network pruned = "g.onnx" in digit gives probabilities
region near(r) in digit = ball linf r around rows 0..2, 4 of "rows.csv" columns 1..4
region point in digit = ball linf 3 around point [1, 2, 3, 4]
check same { prove pruned keeps top1 of full when margin >= 0.5 on near(radius) for radius in [2/255, 8/255] }
check found { prove pruned keeps top1 of full on near(radius) find largest radius in 1 .. 5 }
check one { prove pruned keeps top1 of full on point expect vacuous }
""",
    """eqspec 1
include "other.eqspec" as s
include "values.eqspec"
space plant { features from "rows.csv" columns 1..4 normalise zscore from "scaler.json" outputs y [Nm] }
network f = "f.onnx" in s.motor
network g = "g.onnx" in s.motor takes normalised
check torque { prove g stays within tol [Nm] of f on s.operating }
""",
]
OTHER = """eqspec 1
space motor { features u [V], w outputs torque [Nm] normalise none }
region operating in motor = box { u: 0 [V] .. 24 [V] w: -1 .. 1 }
"""
WORDS = sorted(
    {w for spec in SPECS for w in re.findall(r"\w+|\S", spec)}
    | {
        "include",
        "..",
        "<=",
        ">=",
        "==",
        "^",
        "sigma",
        "mean",
        "e999999",
        "1e9999",
        "0/0",
        '"',
        "(" * 200,
        "[" * 50,
        "_",
    }
    | {"99999999999999999999", "linspace(0,1,1000000000)", "2^99999999", "\0", "\u2264", "\u00e9", "-", "0"}
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("specs")
    (folder / "models").mkdir()
    (folder / "other.eqspec").write_text(OTHER)
    (folder / "values.eqspec").write_text("eqspec 1\nlet tol = 0.02\n")
    (folder / "rows.csv").write_text("label,p,q,r,s\n" + "\n".join(f"{i},1,2,{i},250" for i in range(6)))
    (folder / "scaler.json").write_text(json.dumps({"mean_": [0, 0, 0, 0.5], "scale_": [1, 1, 2, 0.1]}))
    for name in ("models/2_20.onnx", "p.onnx", "f.onnx", "g.onnx"):
        (folder / name).write_text("")
    return folder


def read(path: Path) -> Network:
    """A network of the size its name stands for; the content of the files is none."""
    sizes = {"2_20.onnx": (3, 3), "p.onnx": (3, 3), "f.onnx": (4, 10), "g.onnx": (4, 10)}
    if path.name not in sizes:
        raise NetworkError(str(path), "not an ONNX model")
    inputs, outputs = sizes[path.name]
    layer = AffineLayer(np.ones((outputs, inputs)), np.zeros(outputs))
    return Network.of_layers((layer,), str(path), path.name, stripped="softmax" if path.name == "g.onnx" else None)


def answer(text: str, folder: Path, params: dict[str, str] | None = None) -> None:
    """Compile; every finding must have a code, a message and a place inside its source, and must be printable."""
    refused: SpecError | None = None
    found: tuple[Diagnostic, ...] = ()
    try:
        compiled = loads(text, params, directory=folder, read=read)
    except SpecError as problem:
        refused, found = problem, problem.diagnostics
    else:
        found = compiled.diagnostics
        for task in compiled.tasks:
            assert np.isfinite(task.lower).all()
            assert np.isfinite(task.upper).all()
            assert (task.lower <= task.upper).all()
    assert any(d.severity == "error" for d in found) == (refused is not None)
    for diagnostic in found:
        assert re.fullmatch(r"[EW]\d{3}", diagnostic.code)
        assert diagnostic.message
        for span in [diagnostic.span, *(label.span for label in diagnostic.labels)]:
            if span is not None:
                assert 0 <= span.start <= span.end <= len(span.source.text)
        json.dumps(to_json(diagnostic))
        assert "Token(" not in diagnostic.message + (diagnostic.help or "")
    shown = plain(found, refused.hidden if refused else 0, width=80)
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", shown)


@pytest.mark.parametrize("spec", SPECS[:2])
def test_the_specs_that_are_torn_are_whole(spec: str, folder: Path) -> None:
    changed = spec.replace(" gives logits", "").replace("keeps top1 of full when margin >= 0.5", "keeps top1 of full")
    loads(changed, directory=folder, read=read)


@given(data=st.data(), seed=st.integers(0, 2**32))
def test_torn_specs_give_findings(data: st.DataObject, seed: int, folder: Path) -> None:
    text = data.draw(st.sampled_from(SPECS))
    shuffled = random.Random(seed)
    for _ in range(data.draw(st.integers(1, 6))):
        pieces = re.findall(r"\w+|\s+|[^\w\s]", text)
        if not pieces:
            break
        i = shuffled.randrange(len(pieces))
        match data.draw(st.sampled_from(["drop", "double", "replace", "swap", "cut", "character"])):
            case "drop":
                pieces[i] = ""
            case "double":
                pieces[i] += " " + pieces[i]
            case "replace":
                pieces[i] = shuffled.choice(WORDS)
            case "swap":
                j = shuffled.randrange(len(pieces))
                pieces[i], pieces[j] = pieces[j], pieces[i]
            case "cut":
                pieces = pieces[:i]
            case _:
                pieces[i] += data.draw(st.characters())
        text = "".join(pieces)
    answer(text, folder)


@given(text=st.text(max_size=60))
def test_any_text_gives_findings(text: str, folder: Path) -> None:
    answer("eqspec 1\n" + text, folder)
    answer(text, folder)


@given(value=st.text(max_size=30) | st.sampled_from(["1/0", "0.5", "-1", "[1, 2]", "ten", '"a"', "models/x", "sigmas"]))
def test_any_param_gives_findings(value: str, folder: Path) -> None:
    spec = SPECS[0].replace("let sigmas = linspace(0.1, 0.5, 3)", "param sigmas = linspace(0.1, 0.5, 3)")
    answer(spec, folder, {"models": value})
    answer(spec, folder, {"sigmas": value})
    answer(spec, folder, {value: "1"})


@pytest.mark.parametrize("depth", [90, 200, 20_000])
@pytest.mark.parametrize("pair", ["()", "[]", "- ", "^"])
def test_nesting_never_overflows(depth: int, pair: str, folder: Path) -> None:
    deep = "^".join(["1"] * depth) if pair == "^" else pair[0] * depth + "1" + pair[1] * depth
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer(f"eqspec 1\nlet a = {deep}\n", folder)


@pytest.mark.parametrize("links", [50, 1500])
def test_long_chains_never_overflow(links: int, folder: Path) -> None:
    lets = "\n".join(f"let a{i} = a{i + 1} + 1" for i in range(links)) + f"\nlet a{links} = 0\n"
    answer("eqspec 1\n" + lets, folder)
    regions = "\n".join(f"region r{i} in t = r{i + 1}" for i in range(links))
    space = "space t { features u outputs v }\n"
    base = f"region r{links} in t = box {{ u: 0 .. a0 }}\n"
    check = 'network n = "n.onnx" in t\ncheck c { prove n stays within 1 of n on r0 }\n'
    answer(f"eqspec 1\n{lets}{space}{regions}\n{base}{check}", folder)


@pytest.mark.parametrize(
    "growing",
    [
        'let a0 = "0123456789"\n' + "\n".join(f"let a{i + 1} = a{i} + a{i}" for i in range(60)),
        "space s { features u outputs y }\nregion r0 in s = box { u: 0 .. 1 }\n"
        + "\n".join(f"region r{i + 1} in s = r{i} and r{i}" for i in range(45)),
        "let a0 = [1, 2]\n" + "\n".join(f"let a{i + 1} = [a{i}, a{i}]" for i in range(60)),
        "space s { shape [1000, 1000, 1000] outputs 999999 }",
        "let a = linspace(0, 1, 10^9)\nlet b = logspace(1e-400, 1e400, 9)\nlet c = 2^(2^(2^(2^(2^2))))",
    ],
    ids=["texts", "regions", "lists", "shapes", "numbers"],
)
def test_what_doubles_at_every_step_stays_affordable(growing: str, folder: Path) -> None:
    answer("eqspec 1\n" + growing, folder)


def test_growing_numbers_are_refused(folder: Path) -> None:
    lets = "let a0 = 10^300\n" + "\n".join(f"let a{i + 1} = a{i} * a{i}" for i in range(60))
    with pytest.raises(SpecError, match="bits"):
        loads("eqspec 1\n" + lets, directory=folder)
