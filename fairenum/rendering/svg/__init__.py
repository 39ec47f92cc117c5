"""Drawing: numbers become SVG text, by pure functions; colours are roles that a style gives a meaning.

A `Plot` has two axes and layers; `draw` makes it an ``<svg>`` to stand in a page that styles it, `standalone` a file
that brings its own style, and `grid` lays several out as small multiples.
"""

from fairenum.rendering.svg.arrow import Arrow, draw_arrow, scale_end
from fairenum.rendering.svg.document import draw, grid, standalone
from fairenum.rendering.svg.layers import Bar, Bars, Curve, Mark, Marks, Rug, Rule, Span, unlinked
from fairenum.rendering.svg.plot import Axis, Key, Layer, Plot, aligned

__all__ = [
    "Arrow",
    "Axis",
    "Bar",
    "Bars",
    "Curve",
    "Key",
    "Layer",
    "Mark",
    "Marks",
    "Plot",
    "Rug",
    "Rule",
    "Span",
    "aligned",
    "draw",
    "draw_arrow",
    "grid",
    "scale_end",
    "standalone",
    "unlinked",
]
