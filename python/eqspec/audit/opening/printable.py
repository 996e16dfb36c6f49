"""Names and numbers as they are shown.

A name comes from a file that anyone may have written. It is put between quotation marks, with whatever could leave
them, move the cursor or turn the text around written as an escape, so that it can be taken for nothing but a name.
"""

from __future__ import annotations

from decimal import Context
from fractions import Fraction

from ..rounding import decimal
from . import limits


def label(text: str, most: int = limits.LABEL) -> str:
    """A text in quotation marks, shortened, every character of it visible."""
    shown = "".join(map(_visible, text[:most]))
    return f'"{shown}"' if len(text) <= most else f'"{shown}"... ({len(text)} characters)'


def plain(text: str, most: int = 2000) -> str:
    """A sentence with texts of a file in it, made visible, without marks around it."""
    shown = "".join(c if c in '"\\' else _visible(c) for c in text[:most])
    return shown if len(text) <= most else shown + "..."


def _visible(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


def number_in_words(number: Fraction) -> str:
    """Exactly if that is short, as a decimal or as a fraction; else rounded, which is said."""
    if number.denominator == 1 and abs(number) < 10**15:
        return str(number)
    near = decimal(number, Context(prec=12))
    if Fraction(near) == number and -12 <= near.adjusted() <= 15:
        return format(near.normalize(), "f")
    exact = str(number) if number.numerator.bit_length() + number.denominator.bit_length() < 80 else ""
    if exact and len(exact) <= 20:
        return exact
    return f"about {decimal(number, Context(prec=7)).normalize()}"
