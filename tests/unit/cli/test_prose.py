"""Sentences are broken between words where a person reads them, and stay one line where a program does."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from eqspec.report.terminal import Terminal, between_words

SENTENCE = "  error: the file /tmp/a folder/model.onnx is not there; give the path of another one"


def printed(*, terminal: bool, text: str | Text = SENTENCE) -> list[str]:
    file = io.StringIO()
    console = Terminal(file=file, width=40, force_terminal=terminal, no_color=True)
    console.print(text, soft_wrap=True)
    return file.getvalue().splitlines()


def test_a_terminal_shows_whole_words() -> None:
    lines = printed(terminal=True)
    assert len(lines) > 1
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(" ".join(lines).split()) == " ".join(SENTENCE.split())
    assert lines[0].startswith("  error")
    assert all(line.startswith("    ") for line in lines[1:])


def test_a_file_keeps_lines() -> None:
    assert printed(terminal=False) == [SENTENCE]


def test_what_is_copied_stays_one_line() -> None:
    assert printed(terminal=True, text=Text(SENTENCE, no_wrap=True)) == [SENTENCE]


@given(st.text(alphabet="ab \n漢[]", max_size=300), st.integers(10, 80))
def test_no_word_is_lost_or_broken(text: str, width: int) -> None:
    shown = between_words(text, width).plain
    assert shown.split() == text.split()
    for line in shown.split("\n"):
        longest = max(map(cell_len, line.split()), default=0)
        assert cell_len(line.rstrip()) <= width or longest > width / 2 - 24 or line in text


def test_what_follows_stands_below_what_it_belongs_to() -> None:
    shown = between_words("  zscore    the columns standardised by mean and std of the table", 40).plain
    assert shown.split("\n") == [
        "  zscore    the columns standardised by",
        "            mean and std of the table",
    ]


def test_a_word_that_fits_nowhere_stays_beside_its_label() -> None:
    line = "  sha256    " + "0123456789abcdef" * 4
    assert between_words(line, 40).plain == line


def test_colours_stay_with_their_words() -> None:
    shown = between_words(Text.assemble(("error", "bold red"), ": " + "word " * 20), 30)
    assert [shown.plain[span.start : span.end] for span in shown.spans if span.style == "bold red"] == ["error"]
