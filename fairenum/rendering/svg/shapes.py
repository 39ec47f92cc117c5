"""Shapes of marks, so that no meaning hangs on colour."""

from __future__ import annotations

from typing import Literal, get_args

from markupsafe import Markup

from fairenum.rendering.svg.markup import element, number

Shape = Literal[
    "circle",
    "diamond",
    "square",
    "triangle",
    "down",
    "star",
    "cross",
    "ring",
    "hollow",
    "line",
    "dash",
    "upright",
    "band",
]
SHAPES: tuple[Shape, ...] = get_args(Shape)

# paths from the middle of the mark; sizes look alike to the eye, not to the ruler
PATHS: dict[Shape, str] = {
    "circle": "m-4,0a4,4,0,1,0,8,0a4,4,0,1,0-8,0z",
    "ring": "m-4.5,0a4.5,4.5,0,1,0,9,0a4.5,4.5,0,1,0-9,0z",
    "diamond": "m0-6.5l6.5,6.5-6.5,6.5-6.5-6.5z",
    "square": "m-4.5-4.5h9v9h-9z",
    "hollow": "m-4.5-4.5h9v9h-9z",
    "triangle": "m0-6l5.8,10h-11.6z",
    "down": "m0,6l5.8-10h-11.6z",
    "star": "m0-8l2.1,5.1,5.5.4-4.2,3.5,1.3,5.4-4.7-2.9-4.7,2.9,1.3-5.4-4.2-3.5,5.5-.4z",
    "cross": "m-2.3-6.5h4.6v4.2h4.2v4.6h-4.2v4.2h-4.6v-4.2h-4.2v-4.6h4.2z",
    "line": "m-7,0h14",
    "dash": "m-7,0h5m4,0h5",
    "upright": "m0-6v12",
    "band": "m-7-4h14v8h-14z",
}
OUTLINED = ("ring", "hollow")
LINES = ("line", "dash", "upright")


def icon(shape: Shape, x: float, y: float) -> Markup:
    """Draw a shape around a place; the most frequent one has the shortest form."""
    if shape == "circle":
        return element("circle", cx=x, cy=y, r=4.0)
    return element("path", class_=sign_class(shape), d=f"M{number(x)},{number(y)}{PATHS[shape]}")


def sign_class(shape: Shape) -> str:
    """Say how a shape is painted: filled, as an outline, as a line or as a band."""
    return "hole" if shape in OUTLINED else "curve" if shape in LINES else "wash" if shape == "band" else "dot"
