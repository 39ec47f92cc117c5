"""The modules of the page as one, for a host that loads a single module and knows no path."""

from __future__ import annotations

import json
import re
from graphlib import TopologicalSorter
from importlib.resources.abc import Traversable

IMPORTED = re.compile(r'from "\./(\w+\.js)"')
# Gives every module an address of its own, those that it imports first, and hands on what the last one exports.
LOADER = """\
const addresses = {{}};
for (const [name, text] of {modules}) {{
  const bound = text.replace(/from "\\.\\/(\\w+\\.js)"/g, (_, other) => `from "${{addresses[other]}}"`);
  addresses[name] = URL.createObjectURL(new Blob([bound], {{ type: "text/javascript" }}));
}}
const entry = await import(addresses[{entry}]);
export default entry.default;
"""


def bundled(folder: Traversable, entry: str) -> str:
    """Return one module that does what another one does with all that it imports."""
    texts: dict[str, str] = {}
    wanted = [entry]
    while wanted:
        if (name := wanted.pop()) not in texts:
            texts[name] = (folder / name).read_text(encoding="utf-8")
            wanted += IMPORTED.findall(texts[name])
    order = TopologicalSorter({name: IMPORTED.findall(text) for name, text in texts.items()}).static_order()
    return LOADER.format(modules=json.dumps([(name, texts[name]) for name in order]), entry=json.dumps(entry))
