"""The reliability diagram as one inline SVG: accuracy over confidence, with the weight of each bin."""

from __future__ import annotations

from collections.abc import Sequence

from inference import sinks
from inference.calibration.measures import Bin, ece

SIDE, EDGE = 320, 44


def diagram(title: str, bins: Sequence[Bin]) -> str:
    """An SVG that needs no other file; equal bins give equal bytes.

    A line reaches from the diagonal to a bin's accuracy; where that is below, the scores promise too
    much. The dot's area is the bin's weight.
    """
    total = sum(b.weight for b in bins)
    parts = [_line(0, 0, 1, 1, "#999", "4 3"), _frame()]
    for b in bins:
        parts.append(_bar(b, total))
    parts += [_tick(share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    size = SIDE + 2 * EDGE
    heading = f"{sinks.html(title)}: calibration error {ece(tuple(bins)):.4f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" width="{size}"'
        f' height="{size}" role="img" font-family="sans-serif" font-size="12">'
        f"<title>{heading}</title>"
        f'<text x="{size / 2:g}" y="20" text-anchor="middle">{heading}</text>'
        f"{''.join(parts)}"
        f'<text x="{size / 2:g}" y="{size - 8}" text-anchor="middle">confidence</text>'
        f'<text x="14" y="{size / 2:g}" text-anchor="middle"'
        f' transform="rotate(-90 14 {size / 2:g})">accuracy</text></svg>\n'
    )


def _x(share: float) -> str:
    return f"{EDGE + share * SIDE:.2f}"


def _y(share: float) -> str:
    return f"{EDGE + (1 - share) * SIDE:.2f}"


def _line(x: float, y: float, to_x: float, to_y: float, colour: str, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{_x(x)}" y1="{_y(y)}" x2="{_x(to_x)}" y2="{_y(to_y)}"'
    return f'<line {ends} stroke="{colour}"{dashed}/>'


def _frame() -> str:
    place = f'x="{EDGE}" y="{EDGE}" width="{SIDE}" height="{SIDE}"'
    return f'<rect {place} fill="none" stroke="#333"/>'


def _bar(b: Bin, total: float) -> str:
    """One bin: a line of its gap, and a dot whose area is its share of the weight."""
    radius = 3 + 12 * (b.weight / total) ** 0.5
    colour = "#b3402a" if b.gap > 0 else "#2a6fb3"
    told = (
        f"{b.low:.2f} to {b.high:.2f}: weight {b.weight:g}, confidence {b.confidence:.3f},"
        f" accuracy {b.accuracy:.3f}, gap {b.gap:+.3f}"
    )
    return (
        _line(b.confidence, b.confidence, b.confidence, b.accuracy, colour)
        + f'<circle cx="{_x(b.confidence)}" cy="{_y(b.accuracy)}" r="{radius:.2f}"'
        f' fill="{colour}" fill-opacity="0.6"><title>{told}</title></circle>'
    )


def _tick(share: float) -> str:
    below, left = EDGE + SIDE + 16, EDGE - 6
    return (
        f'<text x="{_x(share)}" y="{below}" text-anchor="middle">{share:g}</text>'
        f'<text x="{left}" y="{_y(share)}" text-anchor="end" dominant-baseline="middle">'
        f"{share:g}</text>"
    )
