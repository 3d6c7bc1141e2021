"""Small plots as inline SVG: one strip per run, as wide as the page gives.

A strip holds marks alone; its label and value are text beside it, so that it can shrink to a
telephone's width without shrinking letters. Colours are classes that the page's style defines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Final

from inference import sinks

WIDTH: Final = 1000
HEIGHT: Final = 20


@dataclass(frozen=True, slots=True)
class Strip:
    """One line of a plot: who, what is drawn, and the value in words.

    `kind` is the class of its colour; `note` stands under the label.
    """

    label: str
    marks: str
    value: str
    kind: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """From a value to a place on a strip; `ticks` are values with their labels."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False

    def at(self, value: float) -> float:
        """The place of a value, 0 to WIDTH; values outside stand at the edge."""
        low, high, v = self.low, self.high, value
        if self.log:
            low, high, v = log10(low), log10(high), log10(max(value, self.low))
        return min(1.0, max(0.0, (v - low) / (high - low))) * WIDTH


def share_scale(largest: float = 1.0) -> Scale:
    """From 0 to a share, in four steps of whole per cents."""
    top = next(t for t in (0.08, 0.2, 0.4, 0.6, 0.8, 1.0) if largest <= t or t == 1.0)
    return Scale(0, top, tuple((top * i / 4, f"{top * i / 4:.0%}") for i in range(5)))


def log_scale(values: Sequence[float], unit: str) -> Scale | None:
    """Powers of ten around positive values; None of nothing."""
    positive = [v for v in values if v > 0]
    if not positive:
        return None
    low, high = floor(log10(min(positive))), ceil(log10(max(positive)))
    high = max(high, low + 1)
    steps = range(low, high + 1, 1 if high - low <= 5 else 2)
    ticks = tuple((10.0**i, f"{unit}{decimal(10.0**i)}") for i in steps)
    return Scale(10.0**low, 10.0**high, ticks, log=True)


def decimal(value: float) -> str:
    """Three significant digits without an exponent."""
    places = max(0, 2 - floor(log10(abs(value)))) if value else 0
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def bar(scale: Scale, value: float, kind: str) -> str:
    """A bar from the left edge; a value of 0 is a thin line that can be seen."""
    width = max(scale.at(value), 3.0)
    return f'<rect class="{kind}" x="0" y="4" width="{width:.1f}" height="12"/>'


def interval(scale: Scale, low: float, high: float, kind: str) -> str:
    """A thin line from low to high."""
    x, width = scale.at(low), max(scale.at(high) - scale.at(low), 2.0)
    return f'<rect class="{kind} faint" x="{x:.1f}" y="8" width="{width:.1f}" height="4"/>'


def point(scale: Scale, value: float, kind: str) -> str:
    """A mark at a value."""
    x = min(max(scale.at(value) - 5, 0.0), WIDTH - 10)
    return f'<rect class="{kind}" x="{x:.1f}" y="2" width="10" height="16" rx="2"/>'


def grid(scale: Scale) -> str:
    """The lines behind a strip, at its ticks."""
    places = (min(max(scale.at(v), 0.5), WIDTH - 0.5) for v, _ in scale.ticks)
    return "".join(
        f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{HEIGHT}"/>' for x in places
    )


def plot(title: str, about: str, scale: Scale, strips: Sequence[Strip]) -> str:
    """A figure of strips under one scale, as HTML with an SVG in every line."""
    lines = "".join(_line(scale, strip) for strip in strips)
    return (
        f'<figure class="plot"><figcaption><b>{sinks.html(title)}</b>'
        f"<span>{sinks.html(about)}</span></figcaption>{lines}{_axis(scale)}</figure>"
    )


def _line(scale: Scale, strip: Strip) -> str:
    note = f"<small>{sinks.html(strip.note)}</small>" if strip.note else ""
    said = sinks.html(f"{strip.label}: {strip.value}")
    return (
        f'<div class="line"><span class="who"><i class="{strip.kind}"></i>'
        f"<span>{breakable(strip.label)}{note}</span></span>"
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{said}">{grid(scale)}{strip.marks}</svg>'
        f'<span class="value">{sinks.html(strip.value)}</span></div>'
    )


def breakable(text: str) -> str:
    """A name as HTML that may break after its underscores."""
    return sinks.html(text).replace("_", "_<wbr>")


def _axis(scale: Scale) -> str:
    """Tick labels under the strips."""
    ticks = "".join(
        f'<span style="left:{scale.at(value) / WIDTH * 100:.2f}%">{sinks.html(label)}</span>'
        for value, label in scale.ticks
    )
    blank = '<span class="who"></span>'
    return f'<div class="line axis">{blank}<span class="ticks">{ticks}</span>{blank}</div>'
