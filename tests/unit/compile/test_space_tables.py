"""Regions that are made from no table know the rows of those that the spec names for their space."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from eqspec.compile import Compiled, table_rows

HEAD = (
    "space s { features a, b normalise zscore mean [0, 0] std [2, 1] outputs y, z }\n"
    "space other { features a, b normalise zscore mean [0, 0] std [2, 1] outputs y, z }\n"
    'network f = "2x2.onnx" in s network g = "2x2-b.onnx" in s\n'
    "region r(k) in s = box { all within k sigma }\n"
    "check c { prove g keeps top1 of f on r(1) }\n"
)
CSV = "a,b\n1,2\n3,nothing\n5,6\n"


@pytest.mark.parametrize(
    ("more", "seen"),
    [
        ("", None),
        ('region t(k) in s = ball linf k around rows of "t.csv" sample 2', [0, 2]),
        ('region t in s = box { all within 1 sigma } and data "t.csv" keeping 0.9', [0, 2]),
        ('region t(k) in s = ball linf k around rows 0..1 of "missing.csv"', []),
        ('region t(k) in s = ball linf k around rows 0..1 of "t.csv" columns 0..0', []),
        ('region t(k) in other = ball linf k around rows of "t.csv"', None),
    ],
    ids=["none", "rows", "data", "a file that is missing", "columns that do not fit", "another space"],
)
def test_plain_regions_know_the_tables_of_their_space(
    compiled: Callable[..., Compiled], more: str, seen: list[int] | None
) -> None:
    (asked,) = compiled(f"{HEAD} {more}", t__csv=CSV).tasks
    assert [[row for row, _ in one.rows] for one in asked.observed] == ([] if seen is None else [seen])


def test_a_large_file_that_no_check_reads_is_left_alone(
    compiled: Callable[..., Compiled], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_rows, "_MOST_BYTES_LOOKED_AT", 8)
    more = 'region t(k) in s = ball linf k around rows of "t.csv"'
    (asked,) = compiled(f"{HEAD} {more}", t__csv=CSV).tasks
    assert [list(one.rows) for one in asked.observed] == [[]]
    first, *_, last = compiled(f"{HEAD} {more} check d {{ prove g keeps top1 of f on t(1) }}", t__csv=CSV).tasks
    assert last.check == "d"
    assert [[row for row, _ in one.rows] for one in first.observed] == [[0, 2]]
