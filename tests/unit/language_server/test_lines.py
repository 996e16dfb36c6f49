"""Places in a text as editors count them, against Python's own encoding of the text in front of a place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.language_server.lines import Lines


def in_utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


TEXTS = st.text(st.sampled_from("aé😀\n\r\u2028\x0b \t{"), max_size=30)


@given(TEXTS, st.data())
def test_a_place_has_the_lines_and_units_in_front_of_it(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] == "\r\n":
        return  # no editor has a place within one end of a line
    line, unit = Lines(text, in_utf16).place(offset)
    *earlier, last = re.split(r"\r\n|\n|\r", text[:offset])
    assert (line, unit) == (len(earlier), in_utf16(last))


@given(TEXTS, st.data())
def test_a_place_leads_back_to_its_offset(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] == "\r\n":
        return
    lines = Lines(text, in_utf16)
    assert lines.offset(*lines.place(offset)) == offset


@pytest.mark.parametrize(("line", "unit", "offset"), [(0, 99, 2), (1, 99, 5), (7, 0, 5), (0, 1, 1)])
def test_what_lies_behind_an_end_is_that_end(line: int, unit: int, offset: int) -> None:
    assert Lines("ab\r\nc", in_utf16).offset(line, unit) == offset
