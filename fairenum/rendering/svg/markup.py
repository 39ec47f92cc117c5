"""SVG elements as text: what is no markup yet is escaped."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

from fairenum.rendering.text import plain

Attribute = str | float | None


def element(name: str, *children: str, **attributes: Attribute) -> Markup:
    """Write an element; an attribute that is None is left out, ``class_`` becomes class and ``data_x`` data-x."""
    known = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    written = "".join(f' {key}="{_value(value)}"' for key, value in known.items())
    if not children:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")


def joined(parts: Iterable[str]) -> Markup:
    """Put parts in a row; text is escaped, markup is not."""
    return Markup("").join(part if isinstance(part, Markup) else escape(plain(part)) for part in parts)


def number(value: float) -> str:
    """Write a coordinate: a tenth of a pixel is enough."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return str(value if isinstance(value, Markup) else escape(plain(value)))
    return number(value)
