"""Authentication of requests: only the live page of an exploration may send them.

Pages of other sites can send requests to this computer, and a foreign host name can resolve to it. So a request must
name this host and port, carry the cookie that is set when the address shown on the terminal is opened and, if it
changes anything, come from the page itself.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import msgspec

from fairenum.explore.worker import Refusal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = "127.0.0.1"
LARGEST_BODY = 64 * 1024
OWN_ASSETS = "script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
POLICY = f"default-src 'none'; {OWN_ASSETS}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"cache-control": b"no-store",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}
USE_THE_ADDRESS = "open the address that the terminal shows; it works once, and then in every tab of the same browser"
COOKIE_SET = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><title>fairenum</title>'
NO_ACCESS = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>fairenum</title><h1>No access</h1>'
    f"<p>Please {USE_THE_ADDRESS}. Run the command again for a new one.</p></html>"
)


class AccessToken:
    """A token that can be exchanged once for a cookie; the cookie is valid until the server ends."""

    def __init__(self, port: int) -> None:
        self.token, self._cookie = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._name = f"fairenum-{port}"  # browsers keep the cookies of all ports of a host together
        self._is_used = False

    def exchange(self, token: str) -> str | None:
        """Return the value of the Set-Cookie header; None for a wrong token, or one that was used before."""
        if self._is_used or not secrets.compare_digest(token.encode(), self.token.encode()):
            return None
        self._is_used = True
        return f"{self._name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"

    def is_in(self, header: str) -> bool:
        """Tell whether the value of a Cookie header has the right cookie."""
        try:
            cookie = SimpleCookie(header).get(self._name)
        except CookieError:
            return False
        return cookie is not None and secrets.compare_digest(cookie.value.encode(), self._cookie.encode())


class AuthMiddleware:
    """ASGI middleware that passes on requests of the exploration's page, and refuses all others."""

    def __init__(self, app: ASGIApp, access: AccessToken, port: int) -> None:
        self._app, self._access = app, access
        self._host = f"{LOOPBACK}:{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, answer it, or pass it to the application; every response gets the security headers."""
        if scope["type"] != "http":
            raise RuntimeError(f"unexpected ASGI scope {scope['type']!r}")
        send = _with_security_headers(send)
        try:
            headers = _headers(scope)
            self._refuse_other_sites(scope, headers)
            if scope["path"] == "/" and await self._exchanged(scope, headers, send):
                return
            self._require_cookie(headers)
            body = await self._body(scope, headers, receive)
        except Refusal as refusal:
            await _refuse(refusal, scope["path"], send)
            return
        await self._app(scope, _with_body(body, receive), send)

    def _refuse_other_sites(self, scope: Scope, headers: dict[str, list[str]]) -> None:
        """Refuse a request for another host or port, with another method, or from a page of another site."""
        if headers.get("host") != [self._host]:
            raise Refusal(403, f"this server is http://{self._host} only; {USE_THE_ADDRESS}")
        method, is_safe = scope["method"], scope["method"] == "GET"
        if method not in ("GET", "POST"):
            raise Refusal(405, "GET and POST only")
        site = headers.get("sec-fetch-site", [])
        if not is_safe and (site != ["same-origin"] or headers.get("origin") != [f"http://{self._host}"]):
            raise Refusal(403, "this has to come from the page itself")
        # a link to the page may be followed; other sites may load nothing else
        is_link = scope["path"] == "/" and headers.get("sec-fetch-mode") == ["navigate"]
        if is_safe and site not in ([], ["same-origin"], ["none"]) and not is_link:
            raise Refusal(403, "this has to come from the page itself")

    async def _exchanged(self, scope: Scope, headers: dict[str, list[str]], send: Send) -> bool:
        """Answer a request that has a token by setting the cookie; return whether the request was answered.

        A wrong token is refused, unless the request has the cookie already.
        """
        if scope["method"] != "GET" or not scope["query_string"]:
            return False
        given = _tokens(scope["query_string"].decode("latin-1"))
        cookie = self._access.exchange(given[0]) if len(given) == 1 else None
        if cookie is None:
            self._require_cookie(headers)
        # no redirect: after a link from another site, browsers would not send the cookie with it
        await _answer(send, 200, COOKIE_SET.encode(), "text/html; charset=utf-8", cookie)
        return True

    def _require_cookie(self, headers: dict[str, list[str]]) -> None:
        if not self._access.is_in("; ".join(headers.get("cookie", []))):
            raise Refusal(403, f"this needs a cookie; {USE_THE_ADDRESS}")

    @staticmethod
    async def _body(scope: Scope, headers: dict[str, list[str]], receive: Receive) -> bytes:
        """Return the body of a POST; refuse other types than JSON, and more than `LARGEST_BODY` bytes."""
        if scope["method"] == "GET":
            if headers.get("content-length", ["0"]) != ["0"] or "transfer-encoding" in headers:
                raise Refusal(400, "GET has no body")
            return b""
        kinds = headers.get("content-type", [])
        if len(kinds) != 1 or kinds[0].partition(";")[0].strip().lower() != "application/json":
            raise Refusal(415, "a body is application/json")
        announced = headers.get("content-length", ["0"])[0]
        body, is_more = bytearray(), True
        length = int(announced) if announced.isascii() and announced.isdigit() and len(announced) < 20 else 0
        while is_more and length <= LARGEST_BODY:
            message = await receive()
            body += message.get("body", b"")
            length, is_more = len(body), message.get("more_body", False)
        if length > LARGEST_BODY:
            raise Refusal(413, f"a body has up to {LARGEST_BODY} bytes")
        return bytes(body)


def _tokens(query: str) -> list[str]:
    try:
        return parse_qs(query, max_num_fields=5).get("token", [])
    except ValueError:
        return []


def _headers(scope: Scope) -> dict[str, list[str]]:
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


def _with_security_headers(send: Send) -> Send:
    """Return a `send` function that adds the security headers that a response does not set itself."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [*message.get("headers", [])]
            names = {name.lower() for name, _ in own}
            message = {**message, "headers": own + [pair for pair in HEADERS.items() if pair[0] not in names]}
        await send(message)

    return sent


def _with_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` function that first gives a body already read, and then the messages after it."""
    is_given = False

    async def received() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return received


async def _refuse(refusal: Refusal, path: str, send: Send) -> None:
    if path == "/" and refusal.status == 403:
        await _answer(send, 403, NO_ACCESS.encode(), "text/html; charset=utf-8")
    else:
        await _answer(send, refusal.status, msgspec.json.encode({"error": str(refusal)}), "application/json")


async def _answer(send: Send, status: int, body: bytes, kind: str, cookie: str | None = None) -> None:
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    if cookie is not None:
        headers.append((b"set-cookie", cookie.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
