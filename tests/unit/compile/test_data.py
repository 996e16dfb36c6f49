"""Numbers from files: exact, in every format, and never by running code."""

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

from eqspec.compile import Compiled, tables
from eqspec.compile.csv_table import CellError, CsvTable
from eqspec.compile.tables import ArrayTable
from eqspec.errors import SpecError

Compile = Callable[..., Compiled]
CHECK = (
    'network f = "2x2.onnx" in s network g = "2x2-b.onnx" in s region r in s = {region}'
    " check c {{ prove g keeps top1 of f on r }}"
)


def scaled(compiled: Compile, source: str, **files: str | bytes) -> tuple[list[Fraction], list[Fraction]]:
    text = f"space s {{ features a, b normalise {source} outputs y, z }} "
    (task,) = compiled(text + CHECK.format(region="box { all: 0 .. 1 }"), **files).tasks
    return list(task.space.centre), list(task.space.scale)


def row(compiled: Compile, file: str, **files: str | bytes) -> list[Fraction]:
    region = f'ball linf 0 around rows 1 of "{file}"'
    (task,) = compiled("space s { features a, b outputs y, z } " + CHECK.format(region=region), **files).tasks
    return list(task.lower_exact)


def saved(**arrays: Any) -> bytes:
    file = io.BytesIO()
    if set(arrays) == {"only"}:
        np.save(file, arrays["only"])
    else:
        np.savez(file, **arrays)
    return file.getvalue()


WANTED = ([Fraction(1, 10), Fraction(-2)], [Fraction(3), Fraction(1, 3)])


class TestScalers:
    def test_json_decimals_are_exact(self, compiled: Compile) -> None:
        found = scaled(compiled, 'zscore from "x.json"', x__json='{"mean": [0.1, -2], "std": [3, 0.25]}')
        assert found == ([Fraction(1, 10), Fraction(-2)], [Fraction(3), Fraction(1, 4)])

    def test_scikit_learn_names(self, compiled: Compile) -> None:
        standard = {"mean_": [0.5, 1], "scale_": [2, 4], "var_": [4, 16], "n_features_in_": 2}
        assert scaled(compiled, 'zscore from "x.json"', x__json=json.dumps(standard))[1] == [2, 4]
        ranged = {"min_": [9, 9], "scale_": [8, 8], "data_min_": [1, 2], "data_max_": [3, 5], "feature_range": [0, 1]}
        assert scaled(compiled, 'minmax from "x.json"', x__json=json.dumps(ranged)) == ([1, 2], [2, 3])

    def test_arrays_are_the_binary_fractions_they_are(self, compiled: Compile) -> None:
        content = saved(mean=np.array([0.1, 2]), std=np.array([[1, 0.5]], np.float32))
        centre, scale = scaled(compiled, 'zscore from "x.npz"', x__npz=content)
        assert centre == [Fraction(0.1), 2]
        assert scale == [1, Fraction(1, 2)]

    def test_csv_columns(self, compiled: Compile) -> None:
        found = scaled(compiled, 'zscore from "x.csv"', x__csv="feature,mean,std\na,0.1,1\nb,2,3e-1\n")
        assert found == ([Fraction(1, 10), 2], [1, Fraction(3, 10)])

    def test_one_number_for_all(self, compiled: Compile) -> None:
        assert scaled(compiled, "minmax low 0 high 255") == ([0, 0], [255, 255])
        assert scaled(compiled, 'minmax from "x.json"', x__json='{"low": 0, "high": 255}') == ([0, 0], [255, 255])

    @pytest.mark.parametrize(
        ("content", "code"),
        [
            ("{", "E144"),
            ('{"mean": [0, NaN], "std": [1, 1]}', "E122"),
            ('{"mean": [0, 1e999], "std": [1, 1]}', "E144"),
            ('{"mean": [0, "1"], "std": [1, 1]}', "E122"),
            ('{"mean": {"a": 1}, "std": [1, 1]}', "E122"),
            ('{"mean": [true, false], "std": [1, 1]}', "E122"),
            ('{"mean": [0, 1, 2], "std": [1, 1]}', "E120"),
            ('{"mean": [0, 1], "std": [1, -1]}', "E121"),
            ("[" * 100_000, "E144"),
        ],
    )
    def test_what_is_no_scaler_is_refused(self, compiled: Compile, content: str, code: str) -> None:
        with pytest.raises(SpecError) as caught:
            scaled(compiled, 'zscore from "x.json"', x__json=content)
        assert [d.code for d in caught.value.diagnostics] == [code]

    def test_pickled_arrays_are_never_loaded(self, compiled: Compile) -> None:
        content = saved(mean=np.array([print, print], dtype=object), std=np.ones(2))
        with pytest.raises(SpecError) as caught:
            scaled(compiled, 'zscore from "x.npz"', x__npz=content)
        assert [d.code for d in caught.value.diagnostics] == ["E144"]


class TestRows:
    def test_csv(self, compiled: Compile) -> None:
        wanted = [Fraction(1, 10), Fraction(-25, 10**6)]
        for content in ("1,2\n0.1,-2.5e-5\n", "a,b\n0,0\n.1,-0.000025\n", "1;2\n0.1;-2.5e-5", "1 2\n+0.1   -2.5E-5\n"):
            assert row(compiled, "x.csv", x__csv=content) == wanted
        assert row(compiled, "x.csv", x__csv='a\tb\n\n1\t2\n"0.1"\t-2.5e-5\n') == wanted
        assert row(compiled, "x.csv", x__csv="\ufeff0,0\r\n0.1,-2.5e-5\r\n".encode()) == wanted

    def test_arrays(self, compiled: Compile) -> None:
        assert row(compiled, "x.npy", x__npy=saved(only=np.array([[1, 2], [3, 4]], np.uint8))) == [3, 4]
        floats = np.array([[[0.1], [2]], [[0.1], [3]]], np.float32)
        assert row(compiled, "x.npz", x__npz=saved(X=floats, y=np.array([0, 1]))) == [
            Fraction(float(np.float32(0.1))),
            3,
        ]

    @pytest.mark.parametrize(
        ("name", "content", "code"),
        [
            ("x.csv", "1,2\nnan,3\n", "E141"),
            ("x.csv", "1,2\n3\n", "E141"),
            ("x.csv", "a,b\n1,2\n", "E140"),
            ("x.csv", "", "E140"),
            ("x.npy", saved(only=np.array([[1.0, 2.0], [np.inf, 0.0]])), "E141"),
            ("x.npy", saved(only=np.array([["a", "b"], ["c", "d"]])), "E144"),
            ("x.npy", saved(only=np.array(3.0)), "E144"),
            ("x.npz", saved(a=np.ones((2, 2)), b=np.ones((2, 2))), "E144"),
            ("x.npy", b"\x93NUMPY broken", "E144"),
            ("x.npz", b"PK broken", "E144"),
        ],
    )
    def test_what_is_no_table_is_refused(self, compiled: Compile, name: str, content: Any, code: str) -> None:
        with pytest.raises(SpecError) as caught:
            row(compiled, name, **{name.replace(".", "__"): content})
        assert [d.code for d in caught.value.diagnostics] == [code]

    def test_missing_values_in_the_first_row_do_not_make_it_a_header(self) -> None:
        assert CsvTable.parse("n/a,1\n2,3\n").header is None
        assert CsvTable.parse("n/a,one\n2,3\n").header == ("n/a", "one")

    @given(st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3), min_size=1))
    def test_csv_and_arrays_agree_with_python(self, rows: list[list[float]]) -> None:
        text = CsvTable.parse("\n".join(",".join(map(repr, r)) for r in rows))
        array = ArrayTable(np.array(rows))
        for i, numbers in enumerate(rows):
            assert array.row(i, 0, 2) == tuple(map(Fraction, numbers))
            assert text.row(i, 0, 2) == tuple(Fraction(repr(n)) for n in numbers)
            assert text.row(i, 1, 1) == text.row(i, 0, 2)[1:2]

    def test_a_cell_that_is_no_number_says_where(self) -> None:
        with pytest.raises(CellError) as caught:
            CsvTable.parse("1,2,x2\n4,5,6\n7,oops,9").row(1, 0, 2)
        assert (caught.value.column, caught.value.text) == (1, "oops")


def test_features_come_from_a_header(compiled: Compile) -> None:
    text = 'space s { features from "x.csv" columns 1..2 outputs y, z } ' + CHECK.format(
        region="box { v_own: 0 .. 1 [ft/s] jet_mass: 2 .. 3 } and where { v_own <= 1/2 }"
    )
    (task,) = compiled(text, x__csv="label,v_own [ft/s],jet mass\n1,2,3\n").tasks
    assert (task.space.features, task.space.units) == (("v_own", "jet_mass"), ("ft/s", None))
    assert task.upper_exact == (Fraction(1, 2), Fraction(3))
    with pytest.raises(SpecError, match="no feature 'v_won'"):
        compiled(text.replace("v_own:", "v_won:"), x__csv="label,v_own [ft/s],jet mass\n1,2,3\n")


def test_a_shape_names_its_inputs(compiled: Compile) -> None:
    text = "space s { shape [1, 2, 1] outputs 2 } " + CHECK.format(
        region="box { x0: 0 .. 1 x1 = 3 } and where { x0 + x1 <= 9 }"
    )
    (task,) = compiled(text).tasks
    assert (task.space.features, task.space.outputs) == (("x0", "x1"), ("0", "1"))
    assert task.constraints[0].coefficients == (1, 1)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("speed [ft/s]", ("speed", "ft/s")),
        ("speed[ft/s]", ("speed", "ft/s")),
        ("a[0] [m]", ("a[0]", "m")),
        ("[m]", ("", "m")),
        ("a [ m ]", ("a", "m")),
        ("a []", ("a []", None)),
        ("a [m", ("a [m", None)),
        ("a] [m] b", ("a] [m] b", None)),
        ("a [[m]", ("a", "[m")),
        ("", ("", None)),
        ("]", ("]", None)),
    ],
)
def test_what_stands_in_brackets_at_the_end_of_a_header_is_its_unit(
    cell: str, expected: tuple[str, str | None]
) -> None:
    assert tables._name_and_unit(cell) == expected
