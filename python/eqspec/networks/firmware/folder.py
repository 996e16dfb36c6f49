"""Which folders are projects of hls4ml: asked of every path, before anything else of such projects is loaded."""

from __future__ import annotations

from pathlib import Path

DEFINES, PARAMETERS = "firmware/defines.h", "firmware/parameters.h"
OF_ONEAPI = "src/firmware/defines.h"
"""Where the oneAPI backend has its types; such projects are refused by their name."""


def is_project(path: Path) -> bool:
    """Whether a path is a folder that holds a project's firmware."""
    found = path.is_dir() and (path / DEFINES).is_file() and (path / PARAMETERS).is_file()
    return found or (path / OF_ONEAPI).is_file()
