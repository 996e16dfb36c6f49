"""Scalers whose files say to which features their numbers belong: they go by name, or they are refused."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.compile import Compiled, loads
from eqspec.errors import SpecError
from eqspec.networks.network import AffineLayer, Network

Compile = Callable[..., Compiled]
CHECK = (
    'network f = "2x2.onnx" in s network g = "2x2-b.onnx" in s '
    "region r in s = box { all: 0 .. 1 } check c { prove g keeps top1 of f on r }"
)
WANTED = ([1, 2], [3, 4])


def scaled(compiled: Compile, content: str | bytes, suffix: str, kind: str = "zscore") -> tuple[list[Any], list[Any]]:
    text = f'space s {{ features a [m], b normalise {kind} from "x.{suffix}" outputs y, z }} ' + CHECK
    (task,) = compiled(text, **{f"x__{suffix}": content}).tasks
    return list(task.space.centre), list(task.space.scale)


def refusal(compiled: Compile, content: str | bytes, suffix: str, kind: str = "zscore") -> tuple[str, str]:
    with pytest.raises(SpecError) as caught:
        scaled(compiled, content, suffix, kind)
    (found,) = caught.value.diagnostics
    assert found.help is not None
    assert f"x.{suffix}" in found.message or found.code == "E121"
    return found.code, found.message


def assert_refused(compiled: Compile, content: str, suffix: str, code: str, said: str) -> None:
    found = refusal(compiled, content, suffix)
    assert found[0] == code
    assert said in found[1]


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        "feature,mean,std\na,1,3\nb,2,4\n",
        "feature,mean,std\nb,2,4\na,1,3\n",
        "feature,mean,std\nb,2,4\na [m],1,3\n",
        "mean,std,name\n2,4,b\n1,3,a\n",
        "std,whatever,mean\n4,b,2\n3,a,1\n",
        ",mean,std\nb,2,4\na,1,3\n",
        ",count,mean,std,min,max\nb,9,2,4,0,9\na,9,1,3,0,9\n",
        "feature;unit;mean;std\nb;;2;4\na;m;1;3\n",
        "\ufefffeature\tmean\tstd\n\n'b'\t2\t4\na\t1\t3\n\n".replace("'", '"'),
        ",mean,std\n1,2,4\n0,1,3\n",
        "index,mean,std\n1,1,3\n2,2,4\n",
        # A row for each key, as pandas' describe() has it.
        ",b,a\nmean,2,1\nstd,4,3\n",
        ",b,a\ncount,9,9\nmean,2,1\nstd,4,3\nmin,0,0\n",
        "key,b,a [m]\nstd,4,3\nmean,2,1\n",
        # Without names, in the order of the features.
        "mean,std\n1,3\n2,4\n",
        "mean_,scale_,var_\n1,3,9\n2,4,16\n",
        "mean,1,2\nstd,3,4\n",
        "scale_;3;4\ncount;9;9\nmean_;1;2\n",
    ],
)
def test_csv_by_name(compiled: Compile, content: str) -> None:
    assert scaled(compiled, content, "csv") == WANTED


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        ("feature,mean,std\na,1,3\nc,2,4\n", "E122", "no number for feature 'b'"),
        ("feature,mean,std\nx,1,3\ny,2,4\n", "E122", "no number for feature 'a'"),
        ("feature,mean,std\na,1,3\n", "E122", "no number for feature 'b'"),
        ("feature,mean,std\na,1,3\nb,2,4\nc,5,6\n", "E122", "'c', which is not a feature"),
        ("feature,mean,std\na,1,3\na,2,4\n", "E122", "two numbers for 'a'"),
        ("feature,mean,std\nA,1,3\nb,2,4\n", "E122", "no number for feature 'a'"),
        ("feature,mean,std\na [km],1,3\nb,2,4\n", "E130", "unit mismatch"),
        ("anything,mean,std\nx,1,3\ny,2,4\n", "E122", "no number for feature 'a'"),
        ("index,mean,std\n3,1,3\n4,2,4\n", "E122", "no number for feature 'a'"),
        ("one,two,mean,std\na,x,1,3\nb,y,2,4\n", "E122", "several columns of texts: one, two"),
        (",mean,std\nmean,1,3\nstd,2,4\n", "E122", "by its rows and by its columns"),
        (",b,c\nmean,2,1\nstd,4,3\n", "E122", "no number for feature 'a'"),
        (",a,b\nmean,2,1\nmean,2,1\nstd,4,3\n", "E122", "two lists called 'mean'"),
        ("mean,mean,std\n1,1,3\n2,2,4\n", "E122", "two lists called 'mean'"),
        ("1,3\n2,4\n", "E145", "has no header row"),
        ("mean,1,2\nother,3,4\n", "E146", "may be names or numbers"),
        ("mean,1,2\nstd,3\n", "E122", "not a list of finite numbers"),
        ("a,b\n1,2\n3,4\n", "E122", "key 'mean' not found"),
        ("mean,std\n1,3\n2,n/a\n", "E122", "not a list of finite numbers"),
        ("mean;std\n1,5;3\n2,5;4\n", "E122", "decimals are written with a point"),
        ("mean,std\n1,3\n2,4,5\n", "E146", "a row below it has 3"),
        ("mean,std,var\n1,9,9\n2,16,16\n", "E122", "std of feature 'a'"),
        ("feature,mean,std\na,1,3\nb,2,0\n", "E121", "std of feature 'b' is 0"),
        ("mean,std,scale\n1,3,3\n2,4,5\n", "E122", "different numbers under std and scale"),
    ],
)
def test_csv_that_does_not_fit(compiled: Compile, content: str, code: str, said: str) -> None:
    assert_refused(compiled, content, "csv", code, said)


@pytest.mark.parametrize(
    "content",
    [
        {"mean": {"b": 2, "a": 1}, "std": {"a": 3, "b": 4}},
        {"mean": [2, 1], "std": [4, 3], "feature_names_in_": ["b", "a"]},
        {"columns": ["b", "a"], "mean_": [2, 1], "scale_": [4, 3], "var_": [16, 9], "n_features_in_": 2},
        {"mean": {"1": 2, "0": 1}, "std": {"0": 3, "1": 4}},
        {"mean": [1, 2], "std": [3, 4], "with_mean": True, "with_std": True, "features": 2},
    ],
)
def test_json_by_name(compiled: Compile, content: dict[str, Any]) -> None:
    assert scaled(compiled, json.dumps(content), "json") == WANTED


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        ('{"mean": {"a": 1}, "std": {"a": 3, "b": 4}}', "E122", "no number for feature 'b'"),
        ('{"mean": {"a": 1, "b": 2, "c": 3}, "std": [3, 4]}', "E122", "'c', which is not a feature"),
        ('{"mean": {"a": 1, "a": 1, "b": 2}, "std": [3, 4]}', "E144", "'a' stands there twice"),
        ('{"mean": [9, 9], "std": [3, 4], "mean": [1, 2]}', "E144", "'mean' stands there twice"),
        ('{"mean": [1, 2], "std": [3, 4], "names": ["b", "c"]}', "E122", "no number for feature 'a'"),
        (
            '{"mean": [1, 2], "std": [3, 4], "names": ["a", "b"], "columns": ["b", "a"]}',
            "E122",
            "several lists of names",
        ),
        ('{"mean": [1, 2], "std": [3, 4], "names": ["a"]}', "E122", "no number for feature 'b'"),
        ('{"mean": [1, 2], "std": [3, 4], "with_mean": false}', "E122", "does not subtract its mean"),
        ('{"mean": [1, 2], "std": [3, 4], "scale_": [3, 5]}', "E122", "different numbers under std and scale_"),
        ('{"mean": [1, 2], "std": [3, null]}', "E122", "not a list of finite numbers"),
        ('{"mean": [[1, 2], [3, 4]], "std": [3, 4]}', "E122", "not a list of finite numbers"),
        ('{"mean": [1, 2], "variance": [9, 16]}', "E122", "key 'std' not found"),
    ],
)
def test_json_that_does_not_fit(compiled: Compile, content: str, code: str, said: str) -> None:
    assert_refused(compiled, content, "json", code, said)


def test_arrays_by_name(compiled: Compile) -> None:
    mean, std, names = np.array([2.0, 1.0]), np.array([4.0, 3.0]), np.array(["b", "a"])
    assert scaled(compiled, npz(mean_=mean, scale_=std, feature_names_in_=names), "npz") == WANTED
    assert (
        "which is not a feature"
        in refusal(compiled, npz(mean=[1, 2, 3], std=[1, 2, 3], names=np.array(["a", "b", "c"])), "npz")[1]
    )
    assert refusal(compiled, npz(mean=[1, 2, 3], std=[1, 2, 3]), "npz")[0] == "E120"
    assert refusal(compiled, npz(mean=[1, np.nan], std=[1, 2]), "npz")[0] == "E122"
    assert refusal(compiled, npz(only=np.array([[1, 2], [3, 4]])), "npz")[0] == "E122"


def test_a_range_that_is_not_0_to_1_is_refused_without_its_key_too(compiled: Compile) -> None:
    """data 0 .. 4 and 2 .. 4: scale_ = 2 / (high - low), min_ = -1 - low * scale_ for the range -1 .. 1."""
    content = {"data_min_": [0, 2], "data_max_": [4, 4], "scale_": [0.5, 1], "min_": [-1, -3]}
    assert "scales feature 'a' to [-1, 1]" in refusal(compiled, json.dumps(content), "json", "minmax")[1]
    content |= {"scale_": [0.25, 0.5], "min_": [0, -1]}
    assert scaled(compiled, json.dumps(content), "json", "minmax") == ([0, 2], [4, 2])
    clipped = json.dumps(content | {"clip": True})
    assert "clips" in refusal(compiled, clipped, "json", "minmax")[1]


@pytest.mark.parametrize(
    ("key", "value", "kind"), [("with_mean", 0, "zscore"), ("with_std", 0, "zscore"), ("clip", 1, "minmax")]
)
def test_a_switch_counts_in_every_form(compiled: Compile, key: str, value: int, kind: str) -> None:
    """In npz files it was passed over, and so was 0 for false."""
    numbers = {"mean": [1, 2], "std": [3, 4]} if kind == "zscore" else {"low": [1, 2], "high": [3, 4]}
    said = "clips" if key == "clip" else "does not"
    for switch in (np.bool_(value), np.array([bool(value)]), np.int64(value), np.array(value, np.float32)):
        assert said in refusal(compiled, npz(**numbers, **{key: switch}), "npz", kind)[1]
    for written in (value, bool(value), str(bool(value))):
        assert said in refusal(compiled, json.dumps(numbers | {key: written}), "json", kind)[1]
    scaled(compiled, npz(**numbers, **{key: np.bool_(not value)}), "npz", kind)
    scaled(compiled, json.dumps(numbers | {key: 1 - value}), "json", kind)


@given(st.permutations(range(5)), st.sampled_from(["csv", "transposed", "json", "lists"]))
def test_the_order_in_a_file_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], how: str
) -> None:
    """Feature i has mean i and std i + 1, wherever it stands."""
    folder = tmp_path_factory.mktemp("orders")
    names, mean, std = [f"f{i}" for i in order], list(order), [i + 1 for i in order]
    suffix, content = "csv", ""
    if how == "csv":
        content = "name,mean,std\n" + "".join(f"{n},{m},{s}\n" for n, m, s in zip(names, mean, std, strict=True))
    elif how == "transposed":
        content = "\n".join(",".join([key, *map(str, row)]) for key, row in (("", names), ("std", std), ("mean", mean)))
    elif how == "json":
        by_name = {"mean": dict(zip(names, mean, strict=True)), "std": dict(zip(names, std, strict=True))}
        suffix, content = "json", json.dumps(by_name)
    else:
        suffix, content = "json", json.dumps({"feature_names": names, "mean": mean, "std": std})
    (folder / f"x.{suffix}").write_text(content)
    for name in ("f.onnx", "g.onnx"):
        (folder / name).write_text(name)
    text = (
        f'eqspec 1\nspace s {{ features f0, f1, f2, f3, f4 normalise zscore from "x.{suffix}" outputs y, z }}'
        'network f = "f.onnx" in s network g = "g.onnx" in s region r in s = box { all within 1 sigma }'
        "check c { prove g keeps top1 of f on r }"
    )
    layer = AffineLayer(np.ones((2, 5)), np.zeros(2))
    (task,) = loads(text, directory=folder, read=lambda path: Network.of_layers((layer,), str(path), path.name)).tasks
    assert list(task.space.centre) == [Fraction(i) for i in range(5)]
    assert list(task.space.scale) == [Fraction(i + 1) for i in range(5)]
