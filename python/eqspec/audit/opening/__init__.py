"""Opening: what the auditor takes from a file, bounded before anything is made of it. Nothing here proves anything."""

from .arrays import array
from .beside import whole
from .files import Bounded, content, exists, opened
from .header import header
from .printable import label, number_in_words, plain
from .question import Balances, Question, balances, question, witness
from .walking import below, go_on, refuse_if_late

__all__ = [
    "Balances", "Bounded", "Question", "array", "balances", "below", "content", "exists", "go_on", "header", "label",
    "number_in_words", "opened", "plain", "question", "refuse_if_late", "whole", "witness",
]  # fmt: skip
