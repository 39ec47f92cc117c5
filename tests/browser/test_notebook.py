"""The live screen of a notebook in Chromium: one module that uses only the messages of a widget."""

import queue

import pytest
from support.explorations import open_applicants

HOST = """async ([module, style]) => {
  const handlers = [];
  const model = {
    send: (message) => window.ask(message),
    on: (name, handler) => handlers.push(handler),
    off: (name, handler) => handlers.splice(handlers.indexOf(handler), 1),
  };
  window.hear = (message) => [...handlers].forEach((handler) => handler(message));
  const sheet = document.createElement("style");
  sheet.textContent = style;
  document.head.append(sheet);
  const address = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
  const widget = (await import(address)).default;
  window.unmount = widget.render({ model, el: document.getElementById("cell") });
}"""


@pytest.fixture
def notebook(chromium, monkeypatch):
    """A page that carries the messages of the widget, as a notebook does."""
    from fairenum.explore.notebook import ExplorationWidget

    exploration, replies = open_applicants(), queue.Queue()
    widget = ExplorationWidget(exploration)
    monkeypatch.setattr(widget, "send", replies.put, raising=False)
    context = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.expose_function("ask", lambda message: widget._handle_custom_msg(message, []))
    page.set_content('<!doctype html><html lang="en"><title>notebook</title><div id="cell"></div></html>')
    page.evaluate(HOST, [widget._esm, widget._css])

    def settle(is_done) -> None:
        """Carry replies until a condition holds."""
        for _ in range(400):
            while not replies.empty():
                page.evaluate("(message) => window.hear(message)", replies.get())
            if is_done():
                return
            page.wait_for_timeout(25)
        raise AssertionError(page.inner_text("#cell"))

    page.settle, page.exploration = settle, exploration
    yield page
    assert complaints == []
    widget.close()
    context.close()


def test_the_screen_works_by_messages_alone(notebook):
    cell = notebook.locator("#cell .fairenum-explore")
    notebook.settle(lambda: "1 model looked at" in cell.inner_text())
    cell.get_by_role("button", name="Next").first.click()
    notebook.settle(lambda: "2 models looked at" in cell.inner_text())
    assert len(notebook.exploration.view.models) == 2
    notebook.exploration.next()  # as a cell would
    notebook.settle(lambda: "3 models looked at" in cell.inner_text())
    notebook.evaluate("() => window.unmount()")
