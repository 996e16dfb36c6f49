"""The page of a report in a real browser, where one is installed: it fits, is legible in light and dark, prints, and
fetches nothing.

A script that only the test adds measures the page and writes down what it saw.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import html5lib
import pytest

from eqspec.report.comparison import compare
from eqspec.report.html import page
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict
from eqspec.tasks.witness import Witness
from small_tasks import undecided_task

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

MEASURE = """<script>addEventListener('load', () => {
  const rgb = text => { const n = text.match(/[\\d.]+/g).map(Number); return {c: n.slice(0, 3), a: n[3] ?? 1}; };
  const linear = v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r / 255) + .7152 * linear(g / 255) + .0722 * linear(b / 255);
  const contrast = (a, b) => (Math.max(light(a), light(b)) + .05) / (Math.min(light(a), light(b)) + .05);
  const ground = e => {
    const back = rgb(getComputedStyle(e).backgroundColor);
    return back.a ? back.c : e.parentElement ? ground(e.parentElement) : [255, 255, 255];
  };
  const told = [], outside = [], edge = Math.min(innerWidth, document.documentElement.getBoundingClientRect().width);
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].filter(n => n.nodeType == 3).map(n => n.data.trim()).join('');
    const box = e.getBoundingClientRect();
    if (!own || !box.width || !e.checkVisibility()) continue;
    const style = getComputedStyle(e), drawing = e.ownerSVGElement;
    const ink = rgb(drawing ? style.fill : style.color).c;
    told.push([contrast(ink, ground(drawing ? drawing.parentElement : e)), own]);
    if (!e.closest('.wide') && (box.left < -1 || box.right > edge + 1)) outside.push(own);
  }
  document.body.setAttribute('data-seen', JSON.stringify({
    contrast: told.sort((a, b) => a[0] - b[0]).slice(0, 3), outside, texts: told.length,
    scroll: document.documentElement.scrollWidth, width: innerWidth,
    fetched: performance.getEntriesByType('resource').map(r => r.name),
    ground: getComputedStyle(document.body).backgroundColor,
    unfolded: [...document.querySelectorAll('details.task')].map(d => d.open),
  }));
});</script>"""


def some_results() -> list[Result]:
    """Every verdict, a sweep, an undecided search with its open boxes, and names that are long."""
    undecided = Runner(Options(boxes=60, threads=1)).run(undecided_task())
    long = "a_very_long_name_without_any_place_to_break_" * 4
    names = (long, "größe")
    seen = Witness(
        normalised=(Fraction(1, 3), Fraction(-2)),
        raw=(Fraction(10**9), Fraction(-1, 7)),
        features=names,
        units=("GeV", None),
        outputs=(long, "y"),
        reference=(1.5, 1e-9),
        candidate=(-1e300, 0.0),
        confidence=0.75,
        statement=f"reference decides {long}",
    )
    near = {"claim": f"{long} keeps top1 of f", "source": f"specs/{long}.eqspec:3:1"}
    sweep = [
        Result(f"near[sigma={s},row={r}]", "near", {"sigma": Fraction(s), "row": Fraction(r)}, verdict, **near)  # type: ignore[arg-type]
        for s in range(3)
        for r, verdict in enumerate([Verdict.EQUIVALENT] * 19 + [Verdict.UNKNOWN])
    ]
    different = Result(long, "same", {}, Verdict.DIFFERENT, witness=seen, claim="g keeps top1 of f")
    empty = Result("empty", "empty", {}, Verdict.EQUIVALENT, vacuous=True)
    fine = replace(undecided, id="fine", verdict=Verdict.EQUIVALENT, reason=None, undecided=None)
    return [*sweep, different, undecided, empty, fine]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with the script that measures it."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    after = some_results()
    fine = next(result for result in after if result.id == "fine")
    before = [
        *(replace(r, verdict=Verdict.EQUIVALENT, seconds=0.5) for r in after if r.id not in ("fine", "empty")),
        replace(fine, verdict=Verdict.DIFFERENT),
        replace(fine, id="gone"),
    ]
    text = page(after, against=compare(before, after))
    path.write_text(text.replace("</body>", f"{MEASURE}</body>"), encoding="utf-8")
    return path


def browse(path: Path, *options: str, fragment: str = "") -> str:
    """Standard output of the browser, without any network."""
    assert BROWSER is not None
    profile = path.parent / "profile"
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += ["--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}", *options]
    done = subprocess.run(
        [*command, f"{path.as_uri()}{fragment}"], capture_output=True, text=True, timeout=240, check=True
    )
    return done.stdout


@cache
def measured(path: Path, scheme: str, width: int = 1280, fragment: str = "") -> dict[str, Any]:
    preference = {"light": 1, "dark": 0}[scheme]
    options = (f"--blink-settings=preferredColorScheme={preference}", f"--window-size={width},2000", "--dump-dom")
    tree = html5lib.parse(browse(path, *options, fragment=fragment), namespaceHTMLElements=False)
    seen: dict[str, Any] = json.loads(tree.find("body").get("data-seen"))
    return seen


@pytest.mark.parametrize(("scheme", "ground"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(21, 24, 28)")])
def test_every_text_is_legible_and_nothing_is_fetched(written: Path, scheme: str, ground: str) -> None:
    seen = measured(written, scheme)
    assert seen["ground"] == ground
    assert seen["texts"] > 200
    assert seen["contrast"][0][0] >= 4.5, seen["contrast"]  # WCAG 2.2, level AA
    assert seen["fetched"] == []
    assert seen["scroll"] <= seen["width"]
    assert seen["outside"] == []


def test_a_narrow_window_scrolls_only_tables(written: Path) -> None:
    seen = measured(written, "light", width=500)
    assert seen["scroll"] <= seen["width"]
    assert seen["outside"] == []


def test_a_phone_scrolls_only_tables(written: Path) -> None:
    phone = written.with_name("phone.html")
    text = written.read_text(encoding="utf-8")
    phone.write_text(text.replace("</head>", "<style>html { width: 390px }</style></head>"), encoding="utf-8")
    assert measured(phone, "light")["outside"] == []


def test_links_from_the_grid_unfold_what_they_lead_to(written: Path) -> None:
    number = len(some_results()) - 1  # the last is decided, so it is folded
    assert measured(written, "light")["unfolded"][number] is False
    assert measured(written, "light", fragment=f"#t{number}")["unfolded"][number] is True


def test_it_prints(written: Path, tmp_path: Path) -> None:
    printed = tmp_path / "report.pdf"
    browse(written, "--blink-settings=preferredColorScheme=0", f"--print-to-pdf={printed}")
    content = printed.read_bytes()
    assert content.startswith(b"%PDF")
    pages = len(re.findall(rb"/Type\s*/Page\b", content))
    assert 2 <= pages <= 12
