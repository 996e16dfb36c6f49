"""The pictures of a report in docs/index.md, light and dark: `.venv/bin/python docs/_site/report_picture.py`.

A Chromium takes them from the page that `eqspec check specs/lhc.eqspec --report` writes. Run it again when the page has
changed for its readers; times are those of the machine that it ran on.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
SIZE = "1000,680"
SCHEMES = {"light": 1, "dark": 0}
"""What Chromium calls them."""


def main() -> int:
    """Take the pictures; 1 where no Chromium is installed."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print("no Chromium is installed", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = [sys.executable, "-m", "eqspec", "check", "specs/lhc.eqspec", "--report", str(page)]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        for name, scheme in SCHEMES.items():
            picture = PICTURES / f"report-{name}.png"
            wanted = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={SIZE}"]
            wanted += [f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={picture}", page.as_uri()]
            subprocess.run([browser, *wanted], check=True, stderr=subprocess.DEVNULL, timeout=60)
    return 0


if __name__ == "__main__":
    sys.exit(main())
