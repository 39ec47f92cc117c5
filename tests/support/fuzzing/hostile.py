"""What strangers may send: texts, numbers, documents, options and tables that were made to do harm, all by a seed.

`TEXTS` is for names, cells and paths; the makers below return one case each, from a generator of chance, so that a long
run of them can be repeated and any case of it made again alone.
"""

from __future__ import annotations

import copy
import json
import unicodedata
from collections.abc import Iterator
from random import Random
from typing import Any

MARKUP = (
    "<script>window.hacked=1;alert(1)</script>",
    "</script><script>window.hacked=1</script>",
    "\"'><img src=x onerror=window.hacked=1>",
    "--><svg onload=window.hacked=1>",
    "<!--<script>",
    "]]><b>",
    "&lt;b&gt; &#60; &amp;amp;",
    "{{ 7*7 }}{% raw %}${7*7}",
    "javascript:window.hacked=1",
    "</title></style></textarea><base href=//example.org>",
    "'; DROP TABLE models; --",
)
MARKDOWN = (
    "[click](javascript:alert(1)) ![x](https://example.org/x.png)",
    "<https://example.org> http://example.org www.example.org mailto:a@example.org a@example.org",
    "@octocat @org/team #123 GH-7 org/repo#12 0123456789abcdef0123456789abcdef01234567",
    "a | b\n|---|\n| c |",
    "``` `code` ~~~",
    "**bold** __bold__ _i_ ~~gone~~ # head > quote - [x] done",
    "$x^2$ $`x`$ :tada: [^1] <details>",
    "1. one",
    "+ item",
    "=====",
    "-----",
    "\\",
    "    code",
)
FORMULAS = (
    '=HYPERLINK("http://example.org","x")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1+1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1+1",
    "＝1+1",
    "\u200b=1+1",
    "\ufeff=1+1",
    '"=1+1',
    ";=1+1",
    ",=1+1",
    "'=1",
    "#N/A",
    "_x0041_",
)
STEERING = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b]8;;http://example.org\x1b\\x\x1b]8;;\x1b\\",
    "\x9b31m",
    "a\rb\x08\x7f\x00\x0b\x0c\x85",
    "\u202egnp.exe\u202c \u2066x\u2069 \u200f\u061c",
    "line\nbreak\u2028line\u2029paragraph",
    "\ufeffmark \u200bzero \u00adsoft \u2060",
    "\ufffe\uffff\U0001fffe",
    "\ue000\U000f0000",
    "\U000e0041\U000e0042tags",
)
STRANGE = (
    "",
    " ",
    "x" * 10_000,
    "👩🏽‍🚀 \U0001f1fa\U0001f1f8",
    "a" + "\u0301" * 200,
    "ﷺ" * 50,
    "../../etc/passwd",
    "..\\..\\x",
    "/etc/passwd",
    "CON",
    'a/b:c*d?e"f<g>h',
    "-rf",
    "~root",
    "%s %d %n {0} {x}",
    "None",
    "nan",
    "true",
    "0x10",
)
LONE = ("\ud800", "a\udc80b", "\udfff\ud800")  # no text that can be written as UTF-8
TEXTS = (*MARKUP, *MARKDOWN, *FORMULAS, *STEERING, *STRANGE)  # each a text that UTF-8 can write

LONG = "9" * 30
LONGER = "7" * 5000  # more digits than Python turns into a number
NUMBERS = (
    *("0", "-0", "-1", "1", "2", "3", "0.5", "1e-300", "5e-324", "1e-9", "1e9", "1e300", "1.8e308", "1e400", "-1e-300"),
    *("inf", "-inf", "nan", "Infinity", "0x10", "0b1", "1_000", "１２", "٣", "²", "1e", "", " 1", "1 ", "+1", "--1"),
    *(LONG, f"-{LONG}", f"{LONG}.5", LONGER, f"0.{'0' * 400}1", "2147483648", "9223372036854775808", "1,5", "1;2"),
)

MILD = ("0", "1", "2", "3", "10", "0.5", "0.1", "1e-3", "0.9", "20")  # which most options take


def steers(sign: str) -> bool:
    """Tell whether a sign shows nothing and steers a terminal, a reader's eye or a parser; line ends do."""
    is_none = ord(sign) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(sign) <= 0xFDEF  # Unicode's noncharacters
    return is_none or unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def text(rng: Random) -> str:
    """Make a hostile text: one of the corpus, or two joined, or signs at random."""
    kind = rng.random()
    if kind < 0.6:
        return rng.choice(TEXTS)
    if kind < 0.8:
        return rng.choice(TEXTS) + rng.choice(TEXTS)
    return "".join(chr(rng.choice((rng.randrange(32), rng.randrange(32, 127), _scalar(rng)))) for _ in range(8))


def _scalar(rng: Random) -> int:
    while 0xD800 <= (found := rng.randrange(0x110000)) < 0xE000:
        pass
    return found


# --- bytes ---------------------------------------------------------------------------------------------------------

CHUNKS = (
    b"\0",
    b"\xff",
    b"\x1a",
    b'"',
    b"\n",
    b"\r",
    b",",
    b";",
    b"\t",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"=1+1",
    b"NaN",
    b"1e999",
)


def mutated_bytes(rng: Random, content: bytes, most: int = 4) -> bytes:
    """Damage a file: signs changed, put in, taken out or repeated, or the end cut off."""
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, most))):
        place, length = rng.randrange(len(found) + 1), rng.choice((1, 1, 2, 8, 64))
        match rng.randrange(6):
            case 0:
                found[place : place + 1] = bytes([rng.randrange(256)])
            case 1:
                found[place:place] = rng.choice(CHUNKS)
            case 2:
                del found[place : place + length]
            case 3:
                found[place:place] = found[place : place + length] * rng.choice((1, 2, 50))
            case 4:
                del found[place:]
            case 5:
                other = rng.randrange(len(found) + 1)
                found[place : place + length] = found[other : other + length]
    return bytes(found)


# --- JSON ----------------------------------------------------------------------------------------------------------

Way = tuple[str | int, ...]
RAW = (  # what is put into the text of a document in the place of a value
    *(
        "1e999",
        "-1e999",
        "1e308",
        "-1e308",
        "5e-324",
        "-0.0",
        "1e-400",
        LONG,
        f"-{LONG}",
        LONGER,
        "0.1",
        "-1",
        "0",
        "1",
    ),
    *("null", "true", "false", "[]", "{}", '""', "NaN", "Infinity", r'"\ud800"', r'"\udfff\ud800"', r'"\u0000"'),
    *("[" * 5000 + "]" * 5000, '{"a":' * 2000 + "1" + "}" * 2000, "[null]", "[[]]", '{"":{}}', '{"a":1,"a":2}'),
    *("2147483648", "9223372036854775808", "1000000000", "99", "[0,1]", "[1,0]", '"2.0"'),
)
PLACE = "\ue123 here \ue123"


def ways(value: object, way: Way = (), most: int = 3) -> Iterator[Way]:
    """Yield the way to every part of a document; of lists, the first few entries stand for all."""
    parts = value.items() if isinstance(value, dict) else enumerate(value[:most]) if isinstance(value, list) else ()
    for name, part in parts:
        yield (*way, name)
        yield from ways(part, (*way, name), most)


def mutated_json(rng: Random, document: Any, places: list[Way], most: int = 3) -> bytes:
    """Change, remove, add or exchange parts of a document; the result is most often JSON."""
    found, raw = copy.deepcopy(document), []
    for _ in range(rng.choice((1, 1, 1, most))):
        way = rng.choice(places)
        try:
            _mutate(rng, found, way, places, raw)
        except (LookupError, TypeError):
            continue  # an earlier change took the place away
    written = json.dumps(found, ensure_ascii=rng.random() < 0.5)
    for one in raw:
        written = written.replace(json.dumps(PLACE), one, 1).replace(f'"{PLACE}"', one, 1)
    content = written.encode(errors="surrogatepass")
    return mutated_bytes(rng, content, 1) if rng.random() < 0.05 else content


def _mutate(rng: Random, document: Any, way: Way, places: list[Way], raw: list[str]) -> None:
    *before, last = way
    part = at(document, tuple(before))
    match rng.randrange(12):
        case 0:
            del part[last]
        case 1:
            part[last] = PLACE
            raw.append(rng.choice(RAW))
        case 2:
            part[last] = rng.choice((text(rng), rng.choice(LONE)))
        case 3:
            part[last] = copy.deepcopy(at(document, rng.choice(places)))
        case 4 if isinstance(part, dict):
            part[text(rng)] = part.pop(last)
        case _:
            part[last] = _alike(rng, part[last], document, places)


def _alike(rng: Random, value: Any, document: Any, places: list[Way]) -> Any:
    """Exchange a value for another of its kind, which a look at types alone does not refuse."""
    match value:
        case bool():
            return not value
        case int():
            return rng.choice((value + 1, max(value - 1, 0), 0, 1, 10**6, 10**12, 2**53 - 1, -value))
        case float():
            return rng.choice((-value, value * 1e6, value * 1e-300, 0.0, 1.0, -1.0, 1e308, -1e308, 5e-324))
        case str():
            others = [found for _ in range(20) if isinstance(found := at(document, rng.choice(places)), str)]
            return rng.choice((text(rng), *others))
        case list():
            return rng.choice(([], value * 2, value[::-1], value[:-1], value + value[:1]))
        case dict():
            return {name: value[name] for name in list(value)[: rng.randrange(len(value) + 1)]}
    return rng.choice((0, 1, 0.5, "x", [], {}, True))


def at(document: Any, way: Way) -> Any:
    """Return the part that a way leads to."""
    for step in way:
        document = document[step]
    return document


# --- options and configuration files -------------------------------------------------------------------------------

AUDIT_NUMBERS = (
    *(
        "-k",
        "--models",
        "--C",
        "--gamma",
        "--degree",
        "--coef0",
        "--min-difference",
        "--patience",
        "--max-nodes",
        "--eps",
    ),
    *(
        "--time-limit",
        "--max-left-out",
        "--max-performance-drop",
        "--same-within",
        "--seed",
        "--confidence",
    ),
    *("--min-group-size", "--replications", "--max-levels", "--trials", "--jobs"),
)
AUDIT_TEXTS = (
    *(
        "--class-weight",
        "--split",
        "--flips",
        "--band",
        "--guard",
        "--decide",
        "--cutoff",
        "--performance",
        "--fail-on",
    ),
    *(
        "--merge",
        "--only",
        "--exclude",
        "--delimiter",
        "--sheet",
        "--primary",
        "--control",
        "--label",
        "--favourable",
    ),
    *("--drop", "--solver", "--kernel", "--strategy", "--data-source", "--date", "--weight", "--incumbent", "--metric"),
)
SHAPES = (  # of texts that hold numbers
    *("{0}", "{0}:{1}", "{0},{1},{2}", "{0},{1}", "income={0}", "income={0},{1}", "selection_rate=+-{0}", "rate={0}"),
    *("threshold={0}", "cost={0}:{1}", "accuracy>={0}", "worst_group_selection_rate>={0}", "Other={0},{1}"),
    *("demographic_parity_difference<={0}", "equal_opportunity_difference<=+{0}", "{0}-{1}-{2}"),
)


def number(rng: Random) -> str:
    """Make a number, or what looks like one, as it is typed."""
    if rng.random() < 0.3:
        return rng.choice(MILD)
    return rng.choice(NUMBERS) if rng.random() < 0.8 else repr(rng.uniform(-1, 1) * 10.0 ** rng.randint(-320, 308))


def options(rng: Random) -> list[str]:
    """Make options of an audit: numbers out of any range, and texts that hold such numbers or nothing of the kind."""
    found: list[str] = []
    for _ in range(rng.randint(1, 2)):
        if rng.random() < 0.6:
            found += [rng.choice(AUDIT_NUMBERS), number(rng)]
        elif rng.random() < 0.7:
            found += [rng.choice(AUDIT_TEXTS), rng.choice(SHAPES).format(number(rng), number(rng), number(rng))]
        else:
            found += [rng.choice(AUDIT_TEXTS), text(rng)]
        if rng.random() < 0.3:
            found += ["--kernel", rng.choice(("rbf", "poly"))]
        if rng.random() < 0.2:
            found += ["--attack"]
    return [one.replace("\0", "") for one in found]  # no operating system hands such an argument over


TOML_PARTS = (
    *("[[tool]]", "[tool]", "[tool.fairenum]", "[[tool.fairenum]]", "tool = 3", "tool = []", "[tool.fairenum.k]"),
    *("[project]", "output = 'x.json'", "json = 'x.json'", "solver = 'path'", "config = 'x'", "help = true"),
    *(
        "k = 1979-05-27",
        "k = 07:32:00",
        "k = [1, [2]]",
        "k = {}",
        "fail-on = [1, {}]",
        "drop = [[]]",
        "split = [1,2,3]",
    ),
    *('k = """\n3"""', "rows = 'x'", "rows = true", "seed = 0xff", "C = inf", "C = nan", "C = -inf", "C = 1e-300"),
    *("a.b.c = 1", "'' = 1", "data = 'german'", "bands = 1", "range = true", "no-range = true", "band = ['income=1']"),
    *("merge = 'a=b'", "debug = true", "attack = true", "standardise = false", "raw = true", "k = true", "label = 3"),
)


def toml(rng: Random) -> bytes:
    """Make a configuration file that is none, holds what it must not, or numbers out of any range."""
    lines = []
    for _ in range(rng.randint(1, 3)):
        key = rng.choice((*AUDIT_NUMBERS, *AUDIT_TEXTS)).lstrip("-")
        match rng.randrange(5):
            case 0 | 1:
                lines.append(rng.choice(TOML_PARTS))
            case 2:
                lines.append(f"{key} = {number(rng)}")
            case 3:
                lines.append(f"{key} = {json.dumps(text(rng), ensure_ascii=False)}")
            case 4:
                depth = rng.choice((1, 2, 50, 3000))
                lines.append(f"{key} = {'[' * depth}{number(rng)}{']' * depth}")
    content = "\n".join(lines).encode(errors="surrogatepass")
    return mutated_bytes(rng, content, 1) if rng.random() < 0.2 else content
