"""An exploration in a notebook: the same answers as over HTTP, as messages."""

import json
import queue
import re
import subprocess
import sys

import pytest
from support.explorations import open_applicants

from fairenum.explore.notebook import IMPORTED, bundled


@pytest.fixture
def exploration():
    return open_applicants()


class Notebook:
    """The notebook side of a widget: messages received and requests sent."""

    def __init__(self, widget, monkeypatch) -> None:
        self.widget, self.heard = widget, queue.Queue()
        monkeypatch.setattr(widget, "send", self.heard.put, raising=False)
        self.events: list[dict] = []

    def ask(self, method: str, path: str, body: object = None, seen: str | None = None) -> dict:
        asked = {"id": "one-1", "method": method, "path": path, "body": body, "seen": seen}
        self.widget._handle_custom_msg(asked, [])
        return self.until(lambda message: message.get("id") == "one-1")

    def until(self, is_it) -> dict:
        while not is_it(message := json.loads(json.dumps(self.heard.get(timeout=20)))):
            self.events.append(message)
        return message


@pytest.fixture
def notebook(exploration, monkeypatch):
    from fairenum.explore.notebook import ExplorationWidget

    widget = ExplorationWidget(exploration)
    yield Notebook(widget, monkeypatch)
    widget.close()


def test_a_notebook_gets_the_answers_of_the_server(notebook, exploration):
    found = notebook.ask("GET", "/state")
    assert (found["status"], found["data"]["revision"], found["data"]["numbers"]) == (200, 1, [1])
    assert notebook.ask("POST", "/steps", {"step": "next"})["data"] == {"revision": 2, "message": None}
    assert len(exploration.view.models) == 2
    assert [row["number"] for row in notebook.ask("GET", "/models?first=2")["data"]["models"]] == [2]
    assert notebook.ask("POST", "/steps", {"step": "undo"})["status"] == 428
    assert notebook.ask("POST", "/steps", {"step": "undo"}, "2")["status"] == 200
    assert notebook.ask("POST", "/steps", {"step": "nonsense"})["status"] == 400
    assert notebook.ask("GET", "/nowhere")["status"] == 404
    assert notebook.ask("POST", "/stop", {}) == {"id": "one-1", "status": 204, "data": None}


def test_a_step_of_a_cell_is_seen(notebook, exploration):
    exploration.next()
    told = notebook.until(lambda message: message.get("event") == "state" and message["data"]["revision"] == 2)
    assert told["data"] == {"revision": 2, "models": 2}


def test_an_exploration_shows_itself_live_and_still(exploration):
    bundle = exploration._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/html"] == exploration._repr_html_()
    shown = bundle["application/vnd.jupyter.widget-view+json"]
    again = exploration._repr_mimebundle_()["application/vnd.jupyter.widget-view+json"]
    assert shown["model_id"] == again["model_id"]


def test_without_what_it_needs_it_shows_itself_still(exploration, monkeypatch):
    monkeypatch.setattr("fairenum.explore.exploration.find_spec", lambda _: None)
    assert exploration._repr_mimebundle_() == {}


def test_exploring_loads_no_widget():
    heavy = {"anywidget", "starlette", "uvicorn"}
    code = f"import sys, fairenum; fairenum.Exploration; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_bundle_holds_every_module_after_those_that_it_imports(tmp_path):
    texts = {
        "last.js": 'import { a } from "./a.js";\nimport { b } from "./b.js";\nexport default a + b;\n',
        "a.js": 'import { b } from "./b.js";\nexport const a = b;\n',
        "b.js": 'export const b = "from nowhere";\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    made = bundled(tmp_path, "last.js")
    modules = json.loads(re.search(r"of (\[\[.*\]\])\)", made)[1])
    assert dict(modules) == texts
    order = [name for name, _ in modules]
    for name, text in modules:
        assert all(order.index(other) < order.index(name) for other in IMPORTED.findall(text))
