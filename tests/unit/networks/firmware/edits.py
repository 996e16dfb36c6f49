"""Projects that were edited by hand, and are refused for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eqspec.errors import NetworkError
from eqspec.networks import read_network


def check_refused(place: Path, file: str, old: str, new: str, message: str, count: int = -1) -> NetworkError:
    """The project with a text of a file replaced, in so many places (all by default), is refused with a path, a message
    and a fix. What is thrown; the file is then as it was.
    """
    text = (place / file).read_text()
    assert old in text
    (place / file).write_text(text.replace(old, new, count))
    with pytest.raises(NetworkError) as refused:
        read_network(place)
    said = f"{refused.value.path}: {refused.value.message}"
    assert re.search(message, said), said
    assert refused.value.fix
    (place / file).write_text(text)
    return refused.value
