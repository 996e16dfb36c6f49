"""Inline SVG: elements with escaped text, and axes with round numbers. Colours come from the page's style by class."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from markupsafe import Markup, escape

from eqspec.lazy_dataclass import dataclass
from eqspec.report.numbers import value

_SMALLEST = 1e-290
"""Below this a step of an axis loses its digits."""
_MOST_DECADES = 8

Mapped = Callable[[float], float]


def element(name: str, *inside: str | Markup, **attributes: object) -> Markup:
    """An element; text is escaped, `class_` stands for class, and x_y for x-y. Floats are cut to two digits."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(given))}"'
        for key, given in attributes.items()
        if given is not None
    )
    content = Markup("").join(inside)
    return Markup(f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>")


def picture(width: float, height: float, title: str, *inside: Markup, class_: str | None = None) -> Markup:
    """A whole picture; its title is what a screen reader says."""
    head = element("title", title)
    box = f"0 0 {_plain(width)} {_plain(height)}"
    return element(
        "svg", head, *inside, viewBox=box, width=width, height=height, role="img", aria_label=title, class_=class_
    )


def _plain(given: object) -> str:
    return f"{given:.2f}".rstrip("0").rstrip(".") if isinstance(given, float) else str(given)


def number(x: float) -> str:
    """For attributes: two digits after the point."""
    return _plain(float(x))


def text(x: float, y: float, said: str, *, anchor: str = "start", class_: str | None = None) -> Markup:
    """A line of text at a place."""
    return element("text", said, x=x, y=y, text_anchor=None if anchor == "start" else anchor, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("path", d=f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}", class_=class_)


def steps(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    """A line that keeps its height until the next point."""
    (x, y), *rest = points
    path = f"M{number(x)} {number(y)}" + "".join(f"H{number(a)}V{number(b)}" for a, b in rest)
    return element("path", d=path, class_=class_)


def cells(squares: Iterable[tuple[int, int, int]], size: float, levels: int, class_: str) -> Markup:
    """Squares (column, row, level) of a raster; level 0 is left out, one path for each of the others."""
    paths: dict[int, list[str]] = {}
    for column, row, level in squares:
        if level > 0:
            paths.setdefault(min(level, levels), []).append(f"M{column} {row}h1v1h-1z")
    inside = [
        element("path", d="".join(parts), fill_opacity=f"{level / levels:.3f}")
        for level, parts in sorted(paths.items())
    ]
    return element("g", *inside, transform=f"scale({number(size)})", class_=class_)


def round_steps(low: float, high: float, wanted: int = 4) -> list[float]:
    """Round numbers from low to high, about so many."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low] if math.isfinite(low) else []
    rough = (high - low) / wanted
    if rough < _SMALLEST:
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if (high - low) / (power * factor) <= wanted + 1.5)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)] or [low]


def decades(low: float, high: float) -> list[float]:
    """Powers of ten within two positive numbers, not too many of them; with the two numbers where there are few."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    powers = range(first, last + 1, max(1, math.ceil((last - first) / _MOST_DECADES)))
    found = [10.0**p for p in powers]
    return found if len(found) > 1 else sorted({low, *found, high})


@dataclass(frozen=True)
class Frame:
    """A place to plot in: `width` by `height`, with room at the left and below for numbers."""

    width: float
    height: float
    left: float = 58.0
    right: float = 12.0
    top: float = 8.0
    bottom: float = 30.0

    @property
    def across(self) -> float:
        """Width of the plot itself."""
        return self.width - self.left - self.right

    @property
    def floor(self) -> float:
        """Where the horizontal axis lies."""
        return self.height - self.bottom

    def x(self, low: float, high: float) -> Mapped:
        """From a range of numbers to places."""
        span = high - low or 1.0
        return lambda at: self.left + self.across * (at - low) / span

    def y(self, low: float, high: float) -> Mapped:
        """Where a number of the vertical axis lies."""
        span = high - low or 1.0
        return lambda at: self.floor - (self.floor - self.top) * (at - low) / span

    def log_x(self, low: float, high: float) -> Mapped:
        """From a range of positive numbers to places, by their logarithms; what is below lies at the left end."""
        place = self.x(math.log10(low), math.log10(high))
        return lambda at: place(math.log10(max(at, low)))

    def horizontal(
        self, place: Mapped, ticks: Sequence[float], label: str, said: Callable[[float], str] = value
    ) -> Markup:
        """The axis below."""
        marks = [line(place(t), self.floor, place(t), self.floor + 4, "axis") for t in ticks]
        names = [text(place(t), self.floor + 15, said(t), anchor="middle", class_="tick") for t in ticks]
        axis = line(self.left, self.floor, self.width - self.right, self.floor, "axis")
        under = text(self.left + self.across / 2, self.height - 3, label, anchor="middle", class_="label")
        return Markup("").join([axis, *marks, *names, under])

    def vertical(
        self, place: Mapped, ticks: Sequence[float], label: str, said: Callable[[float], str] = value
    ) -> Markup:
        """The axis at the left, with faint lines across."""
        lines = [line(self.left, place(t), self.width - self.right, place(t), "faint") for t in ticks]
        names = [text(self.left - 5, place(t) + 4, said(t), anchor="end", class_="tick") for t in ticks]
        middle = f"translate(11 {number((self.top + self.floor) / 2)}) rotate(-90)"
        beside = element("text", label, transform=middle, text_anchor="middle", class_="label")
        return Markup("").join([*lines, *names, beside])
