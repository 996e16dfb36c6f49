"""The pictures of reports in docs/index.md and docs/howto/events.md: `.venv/bin/python docs/_site/report_picture.py`.

A Chromium takes them, light and dark, from the page that `eqspec check specs/lhc.eqspec --report` writes, and from that
of a survey over the rows of a table. Run it again when the page has changed for its readers; times are those of the
machine that it ran on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
SURVEY = """eqspec 1
include "lhc.eqspec"
region near(r) in jet = ball linf r sigma around rows of "lhc/heldout.csv" columns 1..16 sample 25
check decisions {
  prove  pruned keeps top1 of reference
  on     near(radius)
  for    radius in [0.01, 0.02, 0.05, 0.1, 0.2]
  budget { timeout 5s }
}
"""
SCHEMES = {"light": 1, "dark": 0}
"""What Chromium calls them."""


def main() -> int:
    """Take the pictures; 1 where no Chromium is installed."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print("no Chromium is installed", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        taken(browser, ROOT / "specs" / "lhc.eqspec", folder, "report", "1000,680")
        shutil.copy(ROOT / "specs" / "lhc.eqspec", folder)
        shutil.copytree(ROOT / "specs" / "lhc", folder / "lhc")
        (folder / "events.eqspec").write_text(SURVEY, encoding="utf-8")
        taken(browser, folder / "events.eqspec", folder, "survey", "1100,560", without="failed")
    return 0


def taken(browser: str, spec: Path, folder: Path, name: str, size: str, without: str = "none") -> None:
    """Both pictures of the page of a spec, of a size in pixels, as far as they reach, `without` one of its sections."""
    page = folder / "report.html"
    shown = spec.relative_to(ROOT) if spec.is_relative_to(ROOT) else spec.name
    here = ROOT if spec.is_relative_to(ROOT) else folder
    command = [sys.executable, "-m", "eqspec", "check", str(shown), "--report", str(page)]
    kept = {**os.environ, "EQSPEC_CACHE": "off"}
    done = subprocess.run(command, cwd=here, env=kept, check=False, stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}")
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("</style>", f"#{without} {{ display: none }}\n</style>"), encoding="utf-8")
    for scheme, number in SCHEMES.items():
        picture = PICTURES / f"{name}-{scheme}.png"
        wanted = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={size}"]
        wanted += [f"--blink-settings=preferredColorScheme={number}", f"--screenshot={picture}", page.as_uri()]
        subprocess.run([browser, *wanted], check=True, stderr=subprocess.DEVNULL, timeout=60)


if __name__ == "__main__":
    sys.exit(main())
