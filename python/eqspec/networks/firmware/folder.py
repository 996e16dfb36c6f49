"""Which folders are projects of hls4ml: asked of every path, before anything else of such projects is loaded."""

from __future__ import annotations

from pathlib import Path

DEFINES, PARAMETERS = "firmware/defines.h", "firmware/parameters.h"


def is_project(path: Path) -> bool:
    """Whether a path is a folder that holds a project's firmware."""
    return path.is_dir() and (path / DEFINES).is_file() and (path / PARAMETERS).is_file()
