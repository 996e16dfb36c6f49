"""Names of files about tasks: as ids, and within what file systems take."""

from __future__ import annotations

import pytest

from eqspec.tasks.file_names import stem


def test_a_name_is_the_id_without_what_file_systems_do_not_take() -> None:
    assert stem("confident[delta=0.9,row=3]") == "confident_delta=0.9,row=3"
    assert stem("[/]") == "task"


@pytest.mark.parametrize("letter", ["7", "é", "\U00020000"])
def test_long_ids_are_shortened_and_told_apart(letter: str) -> None:
    """A value of a sweep may be a fraction of hundreds of digits."""
    first, second = (stem(f"c[e={letter * 400}{end}]") for end in "ab")
    assert first != second
    assert max(len(first.encode()), len(second.encode())) < 200
    assert first.startswith(f"c_e={letter * 8}")
