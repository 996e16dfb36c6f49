"""What a draft says of columns with one value: it is divided by 1 where its way has nothing else, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from eqspec.draft.completed import said_of_constants
from eqspec.draft.data import read_data
from eqspec.draft.scalings import of_table


@pytest.mark.parametrize(
    ("option", "divided"),
    [("raw", "a, c"), ("zscore", "a, c"), ("minmax", "a, c"), ("column-max", "a"), ("max", ""), ("255", "")],
)
def test_only_what_is_divided_by_1_is_said_to_be(tmp_path: Path, option: str, divided: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n0,1,5\n0,16,5\n0,3,5\n")
    data = read_data(str(path), 3)
    said = said_of_constants(data, of_table(option, data, 3))
    assert said == ([f"there is only one value of {divided}: divided by 1."] if divided else [])
