"""The notebook beside the examples, run from beginning to end: its outputs are those that it is kept with."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import eqspec

SPECS = Path(__file__).parents[3] / "specs"
_FIGURE = re.compile(r"\d[\d.]*")


def said(cell: Any) -> list[str]:
    """What a cell prints and shows as text, without figures and without what passes while it runs."""
    texts = [
        output.text if output.output_type == "stream" else output.data["text/plain"]
        for output in cell.outputs
        if output.output_type in ("stream", "execute_result")
    ]
    return [_FIGURE.sub("0", text) for text in texts]


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas")
    for name in ("lhc", "lhc.eqspec"):
        copy: Any = shutil.copytree if (SPECS / name).is_dir() else shutil.copy
        copy(SPECS / name, tmp_path / name)
    monkeypatch.setenv("PYTHONPATH", os.fspath(Path(eqspec.__file__).parents[1]))
    monkeypatch.chdir(tmp_path)
    book = nbformat.read(SPECS / "first_look.ipynb", as_version=4)
    kept = [said(cell) for cell in book.cells if cell.cell_type == "code"]
    assert sum(map(bool, kept)) == len(kept)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    assert [said(cell) for cell in book.cells if cell.cell_type == "code"] == kept
