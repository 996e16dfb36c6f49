"""A question that only the user can answer: raised where the table does not tell, with the options that answer it."""

from __future__ import annotations

from collections.abc import Sequence

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Answer:
    """An option of the command line with its value, and what choosing it means."""

    option: str
    value: str
    words: str

    @property
    def typed(self) -> str:
        """The option as it is written behind a command."""
        value = self.value if self.value and not set(self.value) - _PLAIN else f"'{self.value}'"
        return f"{self.option} {value}"


class Question(InputError):  # noqa: N818 (it is answered, not mended)
    """`asked` says what is not known and why, `answers` are those that can be given, the likely ones first."""

    def __init__(self, asked: str, answers: Sequence[Answer]) -> None:
        self.asked, self.answers = asked, tuple(answers)
        width = max(len(answer.typed) for answer in answers)
        lines = [f"  {answer.typed:<{width}}  {answer.words}" for answer in answers]
        super().__init__("\n".join([asked, *lines, "Run it again with one of these options."]))


_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,+=:@%")
