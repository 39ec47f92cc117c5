"""Plots as whole drawings: in a page, in a file of their own, or several as small multiples."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from fairenum.rendering.svg.markup import element, joined, number
from fairenum.rendering.svg.plot import Plot, axes, heading
from fairenum.rendering.svg.style import STYLE

NAMESPACE = "http://www.w3.org/2000/svg"


def draw(plot: Plot) -> Markup:
    """Draw a plot as an ``<svg>`` that stands in a page and takes its style from there."""
    box = f"0 0 {number(plot.width)} {number(plot.height)}"
    return element(
        "svg", _inside(plot), id=plot.identity, class_="plot", viewBox=box, role="group", aria_label=plot.name
    )


def standalone(plot: Plot) -> str:
    """Draw a plot as a file of its own."""
    return grid([plot], columns=1)


def grid(plots: Sequence[Plot], columns: int) -> str:
    """Lay plots out in rows, as a file of its own."""
    columns = min(columns, len(plots))
    width, height = max(plot.width for plot in plots), max(plot.height for plot in plots)
    rows = -(-len(plots) // columns)
    cells = (
        element(
            "g",
            _about(plot),
            _inside(plot),
            transform=f"translate({number(place % columns * width)} {number(place // columns * height)})",
        )
        for place, plot in enumerate(plots)
    )
    size = {"width": columns * width, "height": rows * height}
    box = f"0 0 {number(size['width'])} {number(size['height'])}"
    style = element("style", Markup(STYLE))
    drawing = element("svg", style, *cells, xmlns=NAMESPACE, viewBox=box, role="img", **size)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{drawing}\n'


def _inside(plot: Plot) -> Markup:
    frame = plot.frame
    return joined([heading(plot), axes(plot, frame), *(layer.drawn(frame) for layer in plot.layers)])


def _about(plot: Plot) -> Markup:
    return joined([element("title", plot.name), element("desc", plot.description)])
