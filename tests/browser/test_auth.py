"""Pages of other sites, in a real Chromium, can only link to a served exploration."""

import http.server
import shutil
import threading

import pytest
from browser.conftest import FLAGS, PROGRAMS
from support.explorations import open_applicants, served

ATTACK = """
<!doctype html><title>evil</title><a id="link" href="ADDRESS">look</a>
<iframe src="ORIGIN/"></iframe><img src="ORIGIN/state"><script src="ORIGIN/static/explore.js"></script>
<form id="form" method="post" action="ORIGIN/steps" enctype="text/plain" target="hole">
<input name='{"step": "next", "x": "' value='"}'></form><iframe name="hole"></iframe>
<script>
  const send = (path, options) => fetch("ORIGIN" + path, { credentials: "include", ...options }).then(
    (answer) => answer.text(), (error) => String(error));
  const body = JSON.stringify({ step: "next" });
  document.getElementById("form").submit();
  const heard = [];
  const source = new EventSource("ORIGIN/events", { withCredentials: true });
  source.onmessage = source.onopen = (event) => heard.push(event.type);
  window.done = Promise.all([
    send("/state", {}), send("/state", { mode: "no-cors" }),
    send("/steps", { method: "POST", body, mode: "no-cors" }),
    send("/steps", { method: "POST", body, headers: { "content-type": "application/json" } }),
    send("/steps", { method: "POST", body, headers: { "content-type": "text/plain" } }),
    new Promise((resolve) => setTimeout(() => resolve(String(heard)), 500)),
  ]);
</script>
"""


class Evil(http.server.BaseHTTPRequestHandler):
    """A page of another site."""

    page = b""

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(self.page)

    def log_message(self, *_):
        pass


@pytest.fixture
def browser(chromium):
    """A browser that resolves a foreign host name to this computer."""
    program = next(filter(None, map(shutil.which, PROGRAMS)))
    flags = [*FLAGS, "--host-resolver-rules=MAP evil.example 127.0.0.1"]
    found = chromium.browser_type.launch(executable_path=program, args=flags)
    yield found
    found.close()


def test_another_site_can_link_to_the_page_and_no_more(browser):
    with (
        served(lambda progress: open_applicants(progress=progress)) as found,
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil) as site,
    ):
        origin, evil = f"http://127.0.0.1:{found.port}", f"http://evil.example:{site.server_port}/"
        Evil.page = ATTACK.replace("ADDRESS", found.address).replace("ORIGIN", origin).encode()
        threading.Thread(target=site.serve_forever, daemon=True).start()
        context = browser.new_context()
        page = context.new_page()
        page.goto(evil)
        page.click("#link")  # as from a mail or a chat: the cookie is not sent on a redirect of such a link
        page.wait_for_url(f"{origin}/")
        page.wait_for_selector("#explore")
        assert page.request.get(f"{origin}/state").status == 200

        while found.worker.revision < 1:
            page.wait_for_timeout(20)
        other, statuses = context.new_page(), []  # the cookie is in this browser now
        other.on("response", lambda answer: statuses.append((answer.url, answer.status)))
        other.goto(evil)
        said = other.evaluate("() => window.done")
        assert all("revision" not in one and "model" not in one for one in said)
        assert said[-1] == ""
        reached = [status for url, status in statuses if url.startswith(origin)]
        assert set(reached) == {403}
        assert len(reached) >= 2, "the rest Chromium did not let out"
        assert found.worker.revision == 1
        frames = [frame.content() for frame in other.frames[1:]]
        assert not any('id="explore"' in content for content in frames)
        site.shutdown()


def test_a_name_that_leads_here_is_not_answered(browser):
    with served(lambda progress: open_applicants(progress=progress)) as found:
        page = browser.new_context().new_page()
        page.goto(found.address)
        page.wait_for_selector("#explore")
        answer = page.goto(f"http://evil.example:{found.port}/")
        assert answer.status == 403
        assert "revision" not in page.evaluate("() => fetch('/state').then((answer) => answer.text())")
