"""Text from outside: names, cells and messages are shown as text, whatever is in them."""

import unicodedata
from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size

ELLIPSIS = "…"


def plain(text: object) -> str:
    """Show controls, direction marks and lone surrogates as escapes; all else stays as it is."""
    shown = str(text)
    return shown if shown.isprintable() else "".join(map(_visible, shown))  # most names need no second look


def shortened(text: object, width: int) -> str:
    """Fit text into so many columns; of a long one the beginning and the end are shown."""
    shown = plain(text)
    # marks that take no column of their own pass a limit on columns, so signs are limited, too
    if cell_len(shown) <= width and len(shown) <= 4 * width:
        return shown
    end = (width - 1) // 3
    start = width - 1 - end
    beginning = set_cell_size(shown[: 4 * start], start).rstrip()
    return beginning + ELLIPSIS + set_cell_size(shown[: -4 * end - 1 : -1], end).rstrip()[::-1]


def file_name(name: str, ending: str) -> str:
    """Name a file after a table, in signs that every file system takes."""
    safe = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in name)
    short = safe[:60].encode()[:120].decode(errors="ignore")  # a file's name has 255 bytes, not signs
    return f"fairenum-{short}.{ending}"


def sentence_list(parts: Iterable[str]) -> str:
    """Join parts as one does in a sentence: a, b and c."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def capitalised(text: str) -> str:
    """Begin with a capital letter; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def _visible(sign: str) -> str:
    # Cc controls, Cf formats (with the direction marks), Cs surrogates, Co private, Zl and Zp line ends; and Unicode's
    # noncharacters, of which XML forbids some
    is_none = ord(sign) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(sign) <= 0xFDEF
    if is_none or unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
        return sign.encode("unicode_escape").decode("ascii")
    return sign
