"""Which files and folders are programs of da4ml: asked of every path, before anything else of them is loaded."""

from __future__ import annotations

from pathlib import Path

PIPELINE, COMBINATIONAL = "model/pipeline.json", "model/comb.json"
"""Where a project of da4ml has its program: in stages if registers were put between them, else whole."""


def is_program(path: Path) -> bool:
    """Whether a path says that it is a program, by its suffix."""
    return path.suffix.lower() == ".json"


def is_project(path: Path) -> bool:
    """Whether a path is a folder that da4ml wrote."""
    return path.is_dir() and any((path / name).is_file() for name in (PIPELINE, COMBINATIONAL))


def program_of(folder: Path) -> Path:
    """The file that says what a project computes."""
    return next(folder / name for name in (PIPELINE, COMBINATIONAL) if (folder / name).is_file())
