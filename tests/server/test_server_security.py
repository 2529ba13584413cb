"""Who is let in, how much may come, and the headers of every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from espalier.errors import InputError
from espalier.server.core import Limits
from espalier.server.database import Database
from espalier.server.security import Gate, RequestGuard, is_local
from espalier.server.sessions import Door
from workbench_server import HEADERS, Running

TOKEN = "a-token-of-some-length"


def test_headers_of_every_answer(api: httpx.Client) -> None:
    origin = str(api.base_url).replace("/api/v1", "")
    for answer in (api.get("/status"), api.get("/tasks/none"), api.post("/nothing"), httpx.get(f"{origin}api")):
        assert "default-src 'self'" in answer.headers["content-security-policy"] or "/api" in str(answer.url)
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    assert api.get("/status").headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X-Espalier": "1"}, 201),
        ({}, 403),
        ({"X-Espalier": "1", "Origin": "http://evil.example"}, 403),
        ({"X-Espalier": "1", "Origin": "null"}, 403),
        ({"X-Espalier": "1", "Origin": "http://["}, 403),
        ({"X-Espalier": "1", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"X-Espalier": "1", "Sec-Fetch-Site": "same-origin"}, 201),
        ({"X-Espalier": "1", "Host": "evil.example"}, 403),
        ({"X-Espalier": "1", "Host": "localhost:1234"}, 201),
        ({"X-Espalier": "1", "Host": "localhost.evil.example"}, 403),
        ({"X-Espalier": "1", "Host": "[::1]:80"}, 201),
        ({"X-Espalier": "1", "Host": "["}, 403),
    ],
)
def test_who_may_write(api: httpx.Client, task: str, headers: dict[str, str], status: int) -> None:
    url = f"{api.base_url}tasks/{task}/records"
    done = httpx.post(url, json={"text": "lamp"}, headers=headers)
    assert done.status_code == status, done.text
    if status == 403:
        assert done.json()["error"]["hint"]


def test_own_origin_is_welcome(api: httpx.Client, task: str) -> None:
    origin = f"http://{api.base_url.host}:{api.base_url.port}"
    assert api.post(f"/tasks/{task}/records", json={"text": "x"}, headers={"Origin": origin}).status_code == 201


def test_reading_needs_the_host_too(api: httpx.Client) -> None:
    assert api.get("/tasks", headers={"Host": "evil.example"}).status_code == 403  # DNS rebinding


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("192.168.0.4", False),
        ("example.org", False),
        ("", False),
    ],
)
def test_local_addresses(host: str, local: bool) -> None:
    assert is_local(host) is local


def test_a_gate_without_a_token_is_for_this_machine() -> None:
    with pytest.raises(ValueError, match="token"):
        Gate.of("0.0.0.0", None)
    assert Gate.of("0.0.0.0", TOKEN).hosts is None
    assert "box.lan" in (Gate.of("192.168.0.4", TOKEN, ["Box.LAN"]).hosts or ())


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with a token and narrow limits."""
    limits = Limits(body=4000, file=4000, records=3, length=50, seconds=20)
    running = Running(tmp_path_factory.mktemp("strict"), gate=Gate.of("0.0.0.0", TOKEN), limits=limits)
    yield running
    running.stop()


def test_the_token(strict: Running) -> None:
    base = f"{strict.origin}/api/v1/status"
    assert httpx.get(base).status_code == 401
    assert httpx.get(f"{strict.origin}/").status_code == 401
    assert httpx.get(base, headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert httpx.get(base, headers={"Authorization": f"Basic {TOKEN}"}).status_code == 401
    assert httpx.get(base, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    for cookie in ("espalier_session=\x01; =", f"espalier_session={TOKEN}"):
        assert httpx.get(base, headers={"Cookie": cookie}).status_code in (400, 401)
    with httpx.Client(base_url=strict.origin) as browser:
        door = browser.post("/login", data={"token": TOKEN})
        assert door.status_code == 303
        cookie = door.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert TOKEN not in cookie
        assert browser.get("/api/v1/status").status_code == 200
        assert browser.post("/api/v1/tasks", json={}).status_code == 403  # a cookie is no permission to write


def tried(server: Running, token: str, **headers: str) -> int:
    """Send a token, and return the status."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = httpx.get(f"{server.origin}/api/v1/status", headers={"Authorization": f"Bearer {token}", **named})
    return answer.status_code


def test_who_asks_is_not_who_says_so(start: Callable[..., Running]) -> None:
    """Only named proxies are believed: else each try would come from another address, or from somebody else's."""
    server = start(gate=Gate.of("0.0.0.0", TOKEN))
    for i in range(5):
        assert tried(server, "wrong", X_Forwarded_For=f"10.0.0.{i}") == 401
    assert tried(server, "wrong", X_Forwarded_For="10.0.0.77") == 429
    assert tried(server, TOKEN, X_Forwarded_For="10.0.0.78") == 429


def test_a_named_proxy_is_believed(start: Callable[..., Running]) -> None:
    server = start(gate=Gate.of("0.0.0.0", TOKEN, proxies=["127.0.0.0/8", "192.0.2.7"]))
    for i in range(5):  # what stands before the address that the proxy has seen, anybody may have written
        assert tried(server, "wrong", X_Forwarded_For=f"203.0.113.9, 10.0.0.{i}, 198.51.100.1, 192.0.2.7") == 401
    assert tried(server, TOKEN, X_Forwarded_For="198.51.100.1") == 429
    for free in ("203.0.113.9", "10.0.0.1", "198.51.100.2:4711", "unknown", ""):
        assert tried(server, TOKEN, X_Forwarded_For=free) == 200, free
    for i in range(5):  # whoever has a network of IPv6 has all its addresses
        assert tried(server, "wrong", X_Forwarded_For=f"[2001:db8:1:2::{i}]:80") == 401
    assert tried(server, TOKEN, X_Forwarded_For="2001:db8:1:2:ffff::1") == 429
    assert tried(server, TOKEN, X_Forwarded_For="2001:db8:1:3::1") == 200
    with pytest.raises(InputError, match="--proxy"):
        Gate.of("0.0.0.0", TOKEN, proxies=["proxy.example"])


def test_a_cookie_of_https_stays_there(start: Callable[..., Running]) -> None:
    server = start(gate=Gate.of("0.0.0.0", TOKEN, proxies=["127.0.0.1"]))
    for scheme, secure in (("https", True), ("http", False), ("http, https", True), ("gopher", False)):
        sent = httpx.post(f"{server.origin}/login", data={"token": TOKEN}, headers={"X-Forwarded-Proto": scheme})
        assert ("secure" in sent.headers["set-cookie"].lower()) is secure, scheme


def test_a_cookie_of_http_without_a_named_proxy(strict: Running) -> None:
    sent = httpx.post(f"{strict.origin}/login", data={"token": TOKEN}, headers={"X-Forwarded-Proto": "https"})
    assert "secure" not in sent.headers["set-cookie"].lower()


def test_two_hosts(api: httpx.Client) -> None:
    """A proxy may have looked at the other one."""
    for hosts in (("localhost", "evil.example"), ("evil.example", "localhost"), ("localhost", "localhost")):
        with closing(HTTPConnection(api.base_url.host, api.base_url.port or 80)) as connection:
            connection.putrequest("GET", "/api/v1/tasks", skip_host=True)
            for host in hosts:
                connection.putheader("Host", host)
            connection.endheaders()
            answer = connection.getresponse()
            assert answer.status == 400
            assert b"more than one header Host" in answer.read()


def test_requests_hold_so_much_together(start: Callable[..., Running]) -> None:
    server = start(limits=Limits(held=100_000, values=30))
    long = {"text": "x" * 90_000}
    assert server.client.post("/tasks/ads/records", json=long).status_code == 201
    full = server.client.post("/tasks/ads/records", json={"text": "x" * 150_000})
    assert (full.status_code, full.headers["retry-after"]) == (503, "5")
    assert server.client.post("/tasks/ads/records", json=long).status_code == 201  # nothing of it is still counted
    items = [{"data": {"text": f"lamp {i}"}} for i in range(40)]  # a file may have more values, whatever its type
    file = server.client.post("/tasks/ads/records/upload", json=items, params={"format": "label_studio"})
    assert (file.status_code, len(file.json()["added"])) == (201, 40), file.text
    many = server.client.post("/tasks/ads/parse", json={"texts": ["a"] * 31})
    assert (many.status_code, many.json()["error"]["what"]) == (413, "the request has more than 30 values")


def entered(origin: str, token: str = TOKEN) -> dict[str, str]:
    """Fill in the form, and return the headers of somebody who has."""
    assert httpx.get(origin, headers={"Accept": "text/html"}).headers["location"] == "/login"
    form = httpx.get(f"{origin}/login")
    assert form.status_code == 200
    assert 'type="password"' in form.text
    own = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    sent = httpx.post(f"{origin}/login", data={"token": token}, headers=own)
    assert sent.status_code == 303, sent.text
    return {**HEADERS, "Cookie": f"espalier_session={sent.cookies['espalier_session']}"}


def test_odd_cookies_beside_the_session(strict: Running) -> None:
    headers = entered(strict.origin)
    for odd in ('a={"b": 1}', "a b=c", "=", "ä[1]=x"):
        cookie = f"{odd}; {headers['Cookie']}".encode()
        assert httpx.get(f"{strict.origin}/api/v1/status", headers={b"Cookie": cookie}).status_code == 200, odd


def test_an_address_is_no_try(start: Callable[..., Running]) -> None:
    """On plain http a browser does not say who asks: a picture of any page may point at the form, with any token."""
    server = start(gate=Gate.of("0.0.0.0", TOKEN))
    for token in (TOKEN, *["wrong"] * 9):
        shown = httpx.get(f"{server.origin}/login", params={"token": token})
        assert (shown.status_code, "set-cookie" in shown.headers) == (200, False)
        assert f'value="{token}"' in shown.text
    for _ in range(9):  # a form of another page is refused before it counts
        foreign = {"Origin": "http://evil.example"}
        assert httpx.post(f"{server.origin}/login", data={"token": "wrong"}, headers=foreign).status_code == 403
    assert "<b>" not in httpx.get(f"{server.origin}/login", params={"token": '"><b>'}).text
    entered(server.origin)


def test_sessions_end(strict: Running) -> None:
    one, other, third = (entered(strict.origin) for _ in range(3))
    status, leave = (f"{strict.origin}/api/v1/{name}" for name in ("status", "logout"))
    assert httpx.post(leave, json={}, headers=one).json() == {"ended": 1}
    assert httpx.get(status, headers=one).status_code == 401
    assert httpx.get(status, headers=other).status_code == 200
    assert httpx.post(leave, json={"everywhere": True}, headers=other).json()["ended"] >= 2
    assert httpx.get(status, headers=third).status_code == 401


def test_a_form_of_another_site_is_refused(strict: Running) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert httpx.post(f"{strict.origin}/login", data={"token": TOKEN}, headers=headers).status_code == 403


def test_a_session_ends_with_its_token_and_outlives_a_restart(start: Callable[..., Running]) -> None:
    first = start(gate=Gate.of("0.0.0.0", TOKEN))
    cookie = entered(first.origin)
    first.stop()
    again = start(gate=Gate.of("0.0.0.0", TOKEN))
    assert httpx.get(f"{again.origin}/api/v1/status", headers=cookie).status_code == 200
    again.stop()
    other = start(gate=Gate.of("0.0.0.0", "another-token-of-some-length"))
    assert httpx.get(f"{other.origin}/api/v1/status", headers=cookie).status_code == 401


def test_wrong_tokens_are_counted(start: Callable[..., Running]) -> None:
    server = start(gate=Gate.of("0.0.0.0", TOKEN))
    status, open_session = f"{server.origin}/api/v1/status", entered(server.origin)
    for _ in range(3):
        assert httpx.get(status, headers={"Authorization": "Bearer wrong"}).status_code == 401
    for _ in range(2):
        refused = httpx.post(f"{server.origin}/login", data={"token": "<b>wrong"})
        assert refused.status_code == 401
        assert "this is not the token" in refused.text
    late = httpx.post(f"{server.origin}/login", data={"token": TOKEN})
    assert late.status_code == 429
    assert "wait" in late.text
    assert httpx.get(status, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 429
    assert httpx.get(status, headers=open_session).status_code == 200


def test_limits(strict: Running) -> None:
    api = strict.client
    api.headers["Authorization"] = f"Bearer {TOKEN}"
    assert api.post("/tasks/ads/records", json={"text": "x" * 4000}).status_code == 413
    chunks = api.post("/tasks/ads/records/upload", content=iter([b"x" * 3000] * 3))  # no length announced
    assert chunks.status_code == 413
    assert chunks.json()["error"]["hint"]
    assert api.post("/tasks/ads/parse", json={"texts": ["x"] * 4}).status_code == 413
    long = api.post("/tasks/ads/parse", json={"texts": ["ok", "y" * 51]})
    assert long.status_code == 413
    assert long.json()["error"]["where"] == "text 1"
    assert api.get("/tasks/ads/records", params={"limit": 4}).status_code == 413
    left_out = api.post("/tasks/ads/records", json={"text": "fine\n" + "z" * 51}).json()
    assert (len(left_out["added"]), len(left_out["problems"])) == (1, 1)


def test_the_time_of_a_request(start: Callable[..., Running], tmp_path: Path) -> None:
    server = start(tmp_path / "hasty", limits=Limits(seconds=0.0))
    done = server.client.post("/tasks/ads/parse", json={"texts": ["a lamp"]})
    assert done.status_code == 504
    assert "longer than 0 seconds" in done.json()["error"]["what"]
    assert server.client.get("/status").status_code == 200


def test_the_page_is_served_without_the_header(api: httpx.Client) -> None:
    origin = str(api.base_url).replace("api/v1/", "")
    assert httpx.get(f"{origin}../../etc/passwd").status_code == 404
    assert httpx.get(f"{origin}%2e%2e/app.py").status_code == 404
    assert HEADERS["X-Espalier"]


def test_a_mistake_of_the_server_tells_nothing(start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch) -> None:
    server = start()
    monkeypatch.setattr(server.app.state.core.tasks, "all", lambda: 1 / 0)
    done = server.client.get("/tasks")
    assert done.status_code == 500
    assert done.json()["error"]["what"] == "the server made a mistake"
    assert "ZeroDivision" not in done.text
    assert done.headers["x-content-type-options"] == "nosniff"
    assert server.client.get("/status").status_code == 200


def test_a_client_that_goes_away_is_no_mistake(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    async def reading(scope: Any, receive: Any, send: Any) -> None:
        await Request(scope, receive).body()

    sent: list[Any] = []
    with closing(Database(tmp_path)) as database:
        guard = RequestGuard(reading, Gate(), Door(None, database), Limits(body=100, file=100))
        head = [(b"host", b"localhost"), (b"x-espalier", b"1")]
        scope = {"type": "http", "method": "POST", "path": "/x", "headers": head, "query_string": b""}
        with ThreadPoolExecutor(1) as pool:  # the browser's tests may have left a loop running in this thread
            pool.submit(asyncio.run, guard(scope, receive, send)).result()
    assert sent[0]["status"] == 499
    assert not caplog.records
