"""Authentication: only requests of the page itself are accepted."""

import re
import socket

import pytest
from starlette.routing import Route
from support.explorations import Visitor, open_applicants, served, token

from fairenum.explore.auth import LARGEST_BODY, LOOPBACK
from fairenum.explore.routes import JSON_ROUTES
from fairenum.explore.server import Clients, routes
from fairenum.explore.worker import Worker

WORKER = Worker(open_applicants)
STATIC = [route.path for route in routes(WORKER, Clients(WORKER)) if isinstance(route, Route)]
GETS = [path for path in STATIC if "{" not in path] + [path for method, path in JSON_ROUTES if method == "GET"]
POSTS = [path for method, path in JSON_ROUTES if method == "POST"]
ALL = [("GET", path) for path in GETS] + [("POST", path) for path in POSTS]
BODIES = {"/steps": b'{"step": "next"}', "/stop": b"{}", "/preview": b'{"eps": 0.1}', "/person": b'{"row": 0}'}

HOSTS = (
    "evil.example",
    "evil.example:{port}",  # a name that was made to lead here
    "localhost:{port}",
    "127.0.0.1",
    "127.0.0.1:{other}",
    "127.0.0.1:{port}.evil.example",
    "127.0.0.1:{port}@evil.example",
    "[::1]:{port}",
    "127.1:{port}",
    "",
)


def asked(visitor: Visitor, method: str, path: str, **headers):
    return visitor.ask(method, path, BODIES[path.partition("?")[0]] if method == "POST" else None, headers)


def refused(reply, status: int = 403) -> None:
    assert reply.status == status
    assert guarded(reply)


def guarded(reply) -> bool:
    """Check the security headers of an answer."""
    headers = reply.headers
    policy = headers["content-security-policy"]
    return (
        policy.startswith("default-src 'none'")
        and "frame-ancestors 'none'" in policy
        and "unsafe" not in policy
        and headers["x-content-type-options"] == "nosniff"
        and headers["cache-control"] == "no-store"
        and headers["referrer-policy"] == "no-referrer"
        and headers["cross-origin-resource-policy"] == "same-origin"
        and "access-control-allow-origin" not in headers
        and "server" not in headers
    )


@pytest.fixture
def unchanged(shared, owner):
    """Refused requests have changed nothing."""
    before = owner.get("/state").value
    yield
    assert owner.get("/state").value == before


def test_every_way_in_is_known_here():
    assert set(BODIES) == set(POSTS)
    assert {"/", "/state", "/events", "/report", "/models"} <= set(GETS)
    assert any(path.endswith(".js") for path in GETS)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(("method", "path"), ALL)
class TestOnEveryRoute:
    def test_without_the_cookie(self, stranger, method, path):
        refused(asked(stranger, method, path))

    def test_with_another_cookie(self, shared, stranger, method, path):
        refused(asked(stranger, method, path, Cookie=f"fairenum-{shared.port}=guess"))
        refused(asked(stranger, method, path, Cookie=f"other={shared.owner.cookie.partition('=')[2]}"))

    def test_the_token_in_the_place_of_the_cookie(self, shared, stranger, method, path):
        refused(asked(stranger, method, f"{path}?token={token(shared.address)}"))
        refused(asked(stranger, method, path, Cookie=f"fairenum-{shared.port}={token(shared.address)}"))

    def test_another_host_or_port(self, shared, owner, method, path):
        for host in HOSTS:
            refused(asked(owner, method, path, Host=host.format(port=shared.port, other=shared.port + 1)))
        # HTTP itself asks for a host; a body would be left unread, and its connection reset
        assert owner.ask(method, path, headers={"Host": None}).status == 400

    def test_from_another_site(self, owner, method, path):
        for site in ("cross-site", "same-site"):
            refused(asked(owner, method, path, **{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}))

    def test_another_method(self, owner, method, path):
        for verb in ("PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "PROPFIND"):
            refused(owner.ask(verb, path), 405)

    def test_the_page_itself(self, shared, owner, method, path):
        if path in ("/events", "/steps"):
            return  # see elsewhere: one does not end, the other changes something
        reply = asked(owner, method, path)
        assert reply.status not in (403, 405, 413, 415)
        assert guarded(reply)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("path", POSTS)
class TestWhatChangesSomething:
    @pytest.mark.parametrize(
        "origin", [None, "null", "http://evil.example", "http://localhost:{port}", "https://127.0.0.1:{port}"]
    )
    def test_from_another_origin(self, shared, owner, path, origin):
        refused(asked(owner, "POST", path, Origin=origin and origin.format(port=shared.port)))

    @pytest.mark.parametrize("site", [None, "none", "same-site", "cross-site", ""])
    def test_without_the_word_of_the_browser(self, owner, path, site):
        refused(asked(owner, "POST", path, **{"Sec-Fetch-Site": site}))

    def test_by_a_get(self, owner, path):
        refused(owner.get(path), 405)
        refused(owner.get(f"{path}?step=next"), 405)

    @pytest.mark.parametrize(
        "kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx"]
    )
    def test_of_another_kind(self, owner, path, kind):
        refused(asked(owner, "POST", path, **{"Content-Type": kind}), 415)

    def test_too_large(self, owner, path):
        refused(owner.ask("POST", path, b" " * LARGEST_BODY + BODIES[path]), 413)

    def test_too_large_in_chunks_of_unsaid_length(self, owner, path):
        chunks = b"".join(b"%x\r\n%s\r\n" % (8192, b" " * 8192) for _ in range(10)) + b"0\r\n\r\n"
        refused(owner.ask("POST", path, chunks, {"Transfer-Encoding": "chunked"}), 413)

    @pytest.mark.parametrize("body", [b"", b"[", b"\xff", b"[]", b'{"unknown": 1}', b'{"step": "format"}', b"1e999"])
    def test_of_another_form(self, owner, path, body):
        refused(owner.ask("POST", path, body), 204 if (path, body) == ("/stop", b"{}") else 400)


def test_a_get_has_no_body(owner):
    refused(owner.ask("GET", "/state", b"{}"), 400)


def test_what_is_not_there_is_not_found(owner, stranger):
    for path in (
        "/other",
        "/static/",
        "/static/../gate.py",
        "/static/%2e%2e/gate.py",
        "/static/gate.py",
        "/docs",
        "//",
    ):
        refused(owner.get(path), 404)
        refused(stranger.get(path))


def test_a_token_is_traded_once():
    with served(lambda progress: open_applicants(progress=progress)) as found:
        first, second = found.visitor(), found.visitor()
        guess = found.address.replace(token(found.address), "x" * 43)
        assert first.enter(guess).status == 403
        entered = first.enter(found.address)
        assert entered.status == 200
        assert guarded(entered)
        parts = entered.headers["set-cookie"].split("; ")
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} == set(parts[1:])
        assert token(found.address) not in parts[0]
        assert b"url=/" in entered.body
        replayed = second.enter(found.address)
        assert replayed.status == 403
        assert "set-cookie" not in replayed.headers
        assert first.enter(found.address).status == 200  # who is in goes on
        assert first.get("/").status == 200
        first.wait()


def test_a_link_from_elsewhere_leads_in_by_a_page_of_our_own():
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    with served(lambda progress: open_applicants(progress=progress)) as found:
        visitor = found.visitor()
        reply = visitor.get(f"/?token={token(found.address)}", **link)
        assert reply.status == 200
        assert re.search(rb'http-equiv="refresh"', reply.body)


def test_others_on_the_network_cannot_reach_it(shared):
    assert [one.getsockname()[0] for one in shared.server.servers[0].sockets] == [LOOPBACK]
    with socket.socket(socket.AF_INET6) as probe:
        assert probe.connect_ex(("::1", shared.port)) != 0


def test_two_hosts_are_none(shared, owner):
    with socket.create_connection((LOOPBACK, shared.port)) as raw:
        host = f"Host: {LOOPBACK}:{shared.port}\r\n"
        raw.sendall(f"GET /state HTTP/1.1\r\n{host}Host: evil.example\r\nCookie: {owner.cookie}\r\n\r\n".encode())
        assert re.match(rb"HTTP/1.1 (400|403) ", raw.recv(100))


def test_an_upgrade_to_a_socket_is_not_made(owner):
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "x"}
    assert owner.get("/events-socket", **headers).status == 404
