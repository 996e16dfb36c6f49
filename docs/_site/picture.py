"""The picture of a run in README.md: what a command prints, as text and as SVG for light and dark pages.

Run from the repository after the output has changed: `.venv/bin/python docs/_site/picture.py`. It writes the three
files beside each other in docs/pictures; tests/contracts/test_readme.py compares them with what the command prints.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
COMMAND = ["eqspec", "check", "specs/lhc.eqspec"]
COLUMNS = 100
COLOURS = [
    *((0x24, 0x29, 0x2F), (0xCF, 0x22, 0x2E), (0x11, 0x63, 0x29), (0x7D, 0x4E, 0x00)),
    *((0x09, 0x69, 0xDA), (0x82, 0x50, 0xDF), (0x1B, 0x7C, 0x83), (0x57, 0x60, 0x6A)),
]
BRIGHT = [
    *((0x6E, 0x76, 0x81), (0xFF, 0x7B, 0x72), (0x56, 0xD3, 0x64), (0xE3, 0xB3, 0x41)),
    *((0x79, 0xC0, 0xFF), (0xD2, 0xA8, 0xFF), (0x56, 0xD4, 0xDD), (0xE6, 0xED, 0xF3)),
]
THEMES = {
    "light": TerminalTheme((0xFF, 0xFF, 0xFF), (0x1F, 0x23, 0x28), COLOURS),
    "dark": TerminalTheme((0x0D, 0x11, 0x17), (0xE6, 0xED, 0xF3), BRIGHT),
}


def printed() -> str:
    """What the command prints on a terminal of 100 columns, with its colours."""
    done = subprocess.run(
        [sys.executable, "-m", *COMMAND],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1", "EQSPEC_CACHE": "off"},
        capture_output=True,
        text=True,
        check=True,
    )
    return f"$ {' '.join(COMMAND)}\n{done.stdout}"


def picture(text: Text, theme: TerminalTheme) -> str:
    """The text as SVG; letters are those of the reader's machine, so nothing is fetched."""
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), force_terminal=True)
    console.print(text)
    drawn = console.export_svg(title="eqspec", theme=theme, unique_id="eqspec")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    drawn = drawn.replace("Fira Code", "ui-monospace, SFMono-Regular, Menlo, Consolas")
    return re.sub(r"[ \t]+$", "", drawn, flags=re.MULTILINE)


def main() -> None:
    """Write the text and both pictures."""
    text = Text.from_ansi(printed())
    PICTURES.mkdir(exist_ok=True)
    lines = [line.rstrip() for line in text.plain.splitlines()]
    (PICTURES / "lhc.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, theme in THEMES.items():
        (PICTURES / f"lhc-{name}.svg").write_text(picture(text, theme), encoding="utf-8")


if __name__ == "__main__":
    main()
