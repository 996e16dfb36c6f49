"""What files about a task are called: by its id, without what file systems do not take, and no longer than they do."""

from __future__ import annotations

import hashlib
import re

_MOST, _KEPT = 150, 100
"""Bytes of a name; systems take 255, of which suffixes, numbers and names of unfinished files need some."""


def stem(task_id: str) -> str:
    """A name for files about a task, without a suffix. Of a long id its beginning and a digest."""
    name = re.sub(r"[^\w.,=+-]+", "_", task_id).strip("_") or "task"
    if len(name.encode()) <= _MOST:
        return name
    return f"{name.encode()[:_KEPT].decode(errors='ignore')}_{hashlib.sha256(task_id.encode()).hexdigest()[:12]}"
