"""The first row of a csv file: names or numbers, as it is found out, said or refused; how lines fall into cells."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from eqspec.compile import Compiled
from eqspec.compile.csv_table import CellError, CsvTable
from eqspec.errors import SpecError

Compile = Callable[..., Compiled]
IRIS = ("5.1,3.5,1.4,0.2,setosa", "4.9,3.0,1.3,0.2,setosa", "7.0,3.2,4.7,1.4,versicolor", "6.3,3.3,6.0,2.5,virginica")
SPEC = (
    "space s {{ features a, b outputs y, z }} "
    'network f = "2x2.onnx" in s network g = "2x2-b.onnx" in s '
    'region r in s = ball linf 0 around rows {row} of "x.csv"{columns} '
    "check c {{ prove g keeps top1 of f on r }}"
)


def row(compiled: Compile, content: str, number: int = 0, columns: str = "") -> list[Fraction]:
    (task,) = compiled(SPEC.format(row=number, columns=columns), x__csv=content).tasks
    return list(task.lower_exact)


@pytest.mark.parametrize(
    ("text", "header", "first"),
    [
        # Words above numbers, and numbers above numbers.
        ("a,b\n1,2\n", ("a", "b"), "1"),
        ("1.5,2.5\n3.5,4.5\n", None, "1.5"),
        # As pandas writes it, with an index: the first cell is empty.
        (",a,b\n0,1.5,2.5\n1,3.5,4.5\n", ("", "a", "b"), "0"),
        (",0,1\n0,1.5,2.5\n1,3.5,4.5\n", ("", "0", "1"), "0"),
        (",400,410\n0,1.5,2.5\n1,3.5,4.5\n", ("", "400", "410"), "0"),
        ("Unnamed: 0,0,1\n0,1.5,2.5\n1,3.5,4.5\n", ("Unnamed: 0", "0", "1"), "0"),
        # Numbers that count, beside the name of a label, first or last.
        ("0,1,target\n1.5,2.5,cat\n3.5,4.5,dog\n", ("0", "1", "target"), "1.5"),
        ("class,0,1\ncat,1.5,2.5\ndog,3.5,4.5\n", ("class", "0", "1"), "cat"),
        ("0,1,target\n1.5,2.5,0\n3.5,4.5,1\n", ("0", "1", "target"), "1.5"),
        # No header, with a label whose word stands there again, first or last.
        ("\n".join(IRIS), None, "5.1"),
        ("cat,1.5,2.5\ndog,3.5,4.5\ncat,0.5,0.25\n", None, "cat"),
        ("nan,nan,cat\n1,2,dog\n3,4,cat\n", None, "nan"),
        # No header, and a name of its own for each row: its numbers lie among the others.
        ("p1,1.5,2.5\np2,3.5,4.5\np3,0.5,0.25\np4,1,1\np5,2,2\np6,3,3\n", None, "p1"),
        # Headers of every look.
        ('"height, cm";"w"\n1.5;2.5\n', ("height, cm", "w"), "1.5"),
        ("a b\n1 2\n", ("a", "b"), "1"),
        ("a|b, c\n1|2\n", ("a", "b, c"), "1"),
        ("sep=;\na,1;b\n1;2\n", ("a,1", "b"), "1"),
        ('"sep=\t"\r\na\tb\r\n1\t2\r\n', ("a", "b"), "1"),
        ("sep=,\n1.5,2\n3,4\n", None, "1.5"),
        ("# a,b\n1,2\n", ("a", "b"), "1"),
        ("\n\na\tb\n\n1.5\t2\n\n\n", ("a", "b"), "1.5"),
        ("\ufeffa,b\n1,2\n", ("a", "b"), "1"),
        ("n/a,one\n2,3\n", ("n/a", "one"), "2"),
    ],
)
def test_the_first_row_is_what_it_is(text: str, header: tuple[str, ...] | None, first: str) -> None:
    table = CsvTable.parse(text)
    assert (table.doubt, table.header) == (None, header)
    assert table.split(0)[0] == first


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0,1\n1.5,2.5\n3.5,4.5\n", "counts from 0"),
        ("0,1,2\n1,2,3\n4,5,6\n", "counts from 0"),
        ("0\n1.5\n2.5\n", "counts from 0"),
        ("1,2,3\n1.5,2.5,0.25\n0.5,0.5,0.5\n", "whole numbers that rise"),
        ("400,410,420\n0.12,0.13,0.15\n0.1,0.2,0.3\n", "whole numbers that rise"),
        ("400,410,class\n0.12,0.13,cat\n0.1,0.2,dog\n", "is a name, but beside it stand numbers"),
        ("1.5,2.5,cat\n3.5,4.5,dog\n", "do not tell which it is"),
        ("1.5,2.5,cat\n", "do not tell which it is"),
        ("nan,nan,cat\n1,2,dog\n", "do not tell which it is"),
        ("5.1,3.5,oops\n4.9,3.0,1.4\n", "stands above numbers"),
        # Cells that belong to no column, or to the next one: R leaves out the name of the index.
        ("a b c\n1 5.1 3.5 1.4\n2 4.9 3.0 1.4\n", "has 3 cells, a row below it has 4"),
        ("speed,load\nm/s,kg\n1,2\n3,4\n", "holds words where numbers follow"),
        ("speed,share,load\nm/s,1,kg\n1,2,3\n3,4,5\n", "holds words where numbers follow"),
        ("speed,share\n,GeV\n1,\n3,4\n", "holds words where numbers follow"),
        ("# made by hand\n# a,b\n1,2\n", "starts with '#'"),
        ('"a\nb",c\n1,2\n', "odd number of quotes"),
        ('a,b,t\n1,2,"x\ny"\n3,4,z\n', "odd number of quotes"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(compiled: Compile, text: str, why: str) -> None:
    assert why in (CsvTable.parse(text).doubt or "")
    with pytest.raises(SpecError) as caught:
        row(compiled, text)
    (found,) = caught.value.diagnostics
    assert found.code == "E146"
    assert "'x.csv'" in found.message
    assert why in found.message
    assert found.help is not None


@pytest.mark.parametrize(
    ("text", "kind", "columns"),
    [
        ("1.5,2.5,cat\n3.5,4.5,dog\n0.5,0.25,cat\n", "read as numbers", " columns 0..1"),
        ("0,1,target\n1.5,2.5,cat\n3.5,4.5,dog\n", "read as names", " columns 0..1"),
        (",0,1\n0,1.5,2.5\n1,3.5,4.5\n", "read as names", " columns 1..2"),
        ("1,2\n1.5,2.5\n3.5,0.5\n", "read as numbers", ""),
    ],
)
def test_what_was_found_out_is_said(compiled: Compile, text: str, kind: str, columns: str) -> None:
    found = compiled(SPEC.format(row=0, columns=columns), x__csv=text).diagnostics
    assert [d.code for d in found] == ["W308"]
    assert "'x.csv': its first row, '" in found[0].message
    assert kind in found[0].message


def test_what_is_plain_is_not_mentioned(compiled: Compile) -> None:
    for text in ("a,b\n1,2\n", "1.5,2\n3,4\n"):
        assert compiled(SPEC.format(row=0, columns=""), x__csv=text).diagnostics == ()


def test_the_rows_are_those_below_the_header(compiled: Compile) -> None:
    labelled = "1.5,2.5,cat\n3.5,4.5,dog\n0.5,0.25,cat\n"
    assert row(compiled, labelled, 0, " columns 0..1") == [Fraction(3, 2), Fraction(5, 2)]
    counted = ",0,1\n0,1.5,2.5\n1,3.5,4.5\n"
    assert row(compiled, counted, 1, " columns 1..2") == [Fraction(7, 2), Fraction(9, 2)]


@pytest.mark.parametrize(
    "text", ["1,5;2,5\n3,5;4,5\n", "a;b\n1,5;2,5\n", "a\tb\n1,5\t2,5\n", '"1,5","2,5"\n"3,5","4,5"\n']
)
def test_decimal_commas_are_no_columns(compiled: Compile, text: str) -> None:
    with pytest.raises(SpecError, match="has a comma; decimals are written with a point"):
        row(compiled, text)


@pytest.mark.parametrize("text", ["sep=;", "sep=;\n", "", "\n\n"])
def test_a_table_without_rows_has_none(text: str) -> None:
    assert CsvTable.parse(text).rows == 0


def test_a_longer_row_is_refused_where_it_is_met() -> None:
    table = CsvTable.parse("a,b\n" + "1,2\n" * 60 + "1,2,3\n1,2,\n")
    with pytest.raises(CellError) as caught:
        table.row(60, 0, 1)
    assert caught.value.reason == "the row has 3 cells, the first row has 2"
    assert table.row(61, 0, 1) == (1, 2)


def test_columns_of_other_features_are_not_taken_by_place(compiled: Compile) -> None:
    with pytest.raises(SpecError) as caught:
        row(compiled, "b,a\n1,2\n")
    assert [d.code for d in caught.value.diagnostics] == ["E142"]
    assert "column 0 of 'x.csv' is 'b', but feature 0 here is 'a'" in caught.value.diagnostics[0].message
    assert row(compiled, "left,right\n1,2\n") == [1, 2]
    assert row(compiled, "a [m],b\n1,2\n") == [1, 2]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a,class,b\n1,0,2\n", " columns 0..1"),
        ("b,class,a\n2,0,1\n", " columns 1..2"),
        ("a,b,c\n3,1,2\n", " columns 1..2"),
    ],
)
def test_a_column_is_not_taken_for_a_feature_that_stands_beside_it(compiled: Compile, text: str, columns: str) -> None:
    """A label between the features was taken for one of them."""
    with pytest.raises(SpecError) as caught:
        row(compiled, text, 0, columns)
    assert [d.code for d in caught.value.diagnostics] == ["E142"]
    assert row(compiled, "left,right,label\n1,2,0\n", 0, " columns 0..1") == [1, 2]
