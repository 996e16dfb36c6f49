"""What the first row of a csv file is: names of the columns, or numbers like the others.

A row of words above numbers is a header, and a row of numbers above rows of numbers is one of them. Everything else has
to be found out from the rows below, and where they do not tell, the file is refused: a row more or less, or names from
a row of numbers, would make a claim about other inputs than those that were meant.

- Numbers that merely count, 0, 1, 2, ..., are what pandas writes above columns without names.
- A word stands above words, and numbers above numbers: a row of numbers with its class, or a header such as
  `400,410,class`. It is a row if its word stands in the same column again, or if its numbers lie among those below; it
  is a header if its numbers count, and its words are not those of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import pairwise
from re import compile as regex

from eqspec.lazy_dataclass import dataclass
from eqspec.spec import numbers

DECIMAL = regex(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""No text can be read in two ways, or a long cell would take its length squared."""
_WITH_COMMA = regex(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")
"""A decimal comma. It is never read as a number, and never as a name either."""
_WHOLE = regex(r"[0-9]{1,9}")
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-", "inf", "+inf", "-inf", "infinity"})
LABEL_NAMES = frozenset(
    ("label", "labels", "class", "classes", "class_id", "class_name", "category", "species", "target", "targets", "y",
     "output", "outputs", "truth", "prediction")
)  # fmt: skip
"""Names of columns that hold labels, the answers that a network should give."""
ROW_NAMES = frozenset(("", "id", "index", "row", "split", "fold", "weight", "unnamed: 0"))
"""Names of columns that identify rows."""
ENOUGH = 5
"""How many rows below the first are enough to know the range of a column."""


class Kind(Enum):
    """What a cell is."""

    NUMBER = "number"
    MISSING = "missing"
    WORD = "word"


@dataclass(frozen=True)
class FirstRow:
    """Whether the first row is a header; `doubt` says why that is not clear, `why` what speaks for a header.

    At most one of both is there.
    """

    header: bool
    why: str | None = None
    doubt: str | None = None


def kind_of(cell: str) -> Kind:
    """What a cell is; a number with a decimal comma counts as a number here, though it is none that can be read."""
    if cell.casefold() in MISSING:
        return Kind.MISSING
    return Kind.NUMBER if DECIMAL.fullmatch(cell) or _WITH_COMMA.fullmatch(cell) else Kind.WORD


def decimal_comma(cell: str) -> bool:
    """Whether it is a number with a comma where a point should be."""
    return _WITH_COMMA.fullmatch(cell) is not None


def judge(first: Sequence[str], below: Sequence[Sequence[str]]) -> FirstRow:
    """Whether the first row is a header, judged together with some of the rows below it."""
    kinds = [kind_of(cell) for cell in first]
    columns = [[row[i] for row in below if i < len(row)] for i in range(len(first))]
    words = [i for i, kind in enumerate(kinds) if kind is Kind.WORD]
    values = [i for i, kind in enumerate(kinds) if kind is Kind.NUMBER]
    if words and values:
        return _mixed(first, values, words, columns)
    if values:
        return _only_numbers(first, values, columns)
    return _no_numbers(first, words, columns)


def _no_numbers(first: Sequence[str], words: Sequence[int], columns: Sequence[Sequence[str]]) -> FirstRow:
    """Words and gaps: a header, unless marks of missing numbers stand beside words that may be classes."""
    marked = any(cell.strip() and kind_of(cell) is Kind.MISSING for cell in first)
    if not words or not marked or _above_numbers(words, columns):
        return FirstRow(header=bool(words))
    again = next((i for i in words if first[i] in columns[i]), None)
    if again is not None:
        return FirstRow(header=False, why=f"'{first[again][:30]}' stands in its column again")
    return FirstRow(
        header=False, doubt="it holds words and missing numbers, and the rows below do not tell which it is"
    )


def _only_numbers(first: Sequence[str], values: Sequence[int], columns: Sequence[Sequence[str]]) -> FirstRow:
    texts = [first[i] for i in values]
    rows = len(columns[values[0]])
    start = _counting(texts)
    if values[0] == 1 and not first[0].strip() and _counts_rows(columns[0], fully=start == 0):
        return FirstRow(
            header=True, why="its first cell is empty, as above an index, and the others are not a row of it"
        )
    fractional = rows > 0 and all(_all_fractional(columns[i]) for i in values)
    if start == 0 and (len(values) > 1 or fractional):
        return FirstRow(header=False, doubt="it counts from 0, as the header of columns without names does")
    whole = fractional and all(_WHOLE.fullmatch(text) for text in texts)
    if whole and len(values) > 2 and _rising(texts):
        return FirstRow(header=False, doubt="whole numbers that rise stand above numbers with a fraction")
    if (whole and len(values) > 1) or (start == 1 and len(values) > 2):
        return FirstRow(header=False, why="it holds numbers only, though they might name columns")
    return FirstRow(header=False)


def _mixed(
    first: Sequence[str], values: Sequence[int], words: Sequence[int], columns: Sequence[Sequence[str]]
) -> FirstRow:
    again = next((i for i in words if first[i] in columns[i]), None)
    if again is not None:
        return FirstRow(header=False, why=f"'{first[again][:30]}' stands in its column again")
    telling = [i for i in words if first[i].strip().casefold() in LABEL_NAMES | ROW_NAMES]
    above = _above_numbers(words, columns)
    counts = _counting([first[i] for i in values]) is not None
    if counts and (telling or above):
        named = first[(telling or above)[0]][:30]
        return FirstRow(header=True, why=f"its numbers count the columns, and '{named}' is a name")
    if above:
        named = first[above[0]][:30]
        return FirstRow(
            header=False, doubt=f"the word '{named}' stands above numbers, beside numbers that name nothing"
        )
    if telling:
        return FirstRow(header=False, doubt=f"'{first[telling[0]][:30]}' is a name, but beside it stand numbers")
    if not counts and all(_among(first[i], columns[i]) for i in values):
        return FirstRow(header=False, why="its numbers lie among those below, and its words stand above words")
    return FirstRow(header=False, doubt="it holds words and numbers, and the rows below do not tell which it is")


def _above_numbers(words: Sequence[int], columns: Sequence[Sequence[str]]) -> list[int]:
    """The words that stand above columns without words."""
    return [i for i in words if columns[i] and all(kind_of(cell) is not Kind.WORD for cell in columns[i])]


def _counting(values: Sequence[str]) -> int | None:
    """The first of numbers that count by ones, from 0 or 1; None if they do not."""
    if not all(_WHOLE.fullmatch(text) for text in values):
        return None
    start, whole = int(values[0]), [int(text) for text in values]
    return start if start in (0, 1) and whole == list(range(start, start + len(whole))) else None


def _rising(values: Sequence[str]) -> bool:
    whole = [int(text) for text in values]
    return all(a < b for a, b in pairwise(whole))


def _all_fractional(column: Sequence[str]) -> bool:
    """Whether every number of a column is written with a fraction or an exponent."""
    return all(kind_of(cell) is Kind.MISSING or not cell.lstrip("+-").isdigit() for cell in column)


def _counts_rows(column: Sequence[str], *, fully: bool) -> bool:
    """Whether a column counts the rows from 0; with `fully` it is enough that none of its cells is missing."""
    if fully:
        return bool(column) and all(kind_of(cell) is not Kind.MISSING for cell in column)
    return len(column) > 1 and list(column) == [str(i) for i in range(len(column))]


def _among(cell: str, column: Sequence[str]) -> bool:
    """Whether a number lies in the range of the column below it, widened by its width to both sides."""
    try:
        value = numbers.literal(cell)
        below = [numbers.literal(other) for other in column if kind_of(other) is Kind.NUMBER]
    except (numbers.NumberError, ValueError):
        return False
    if len(below) < ENOUGH:
        return False
    low, high = min(below), max(below)
    return low - (high - low) <= value <= high + (high - low)
