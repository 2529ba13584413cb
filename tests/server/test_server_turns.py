"""Whose turn it is: small requests overtake large ones, deadlines hold, and who is gone stops."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
import uvicorn
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from espalier.document import Document
from espalier.server.callers import CallerWatch
from espalier.server.core import Limits
from espalier.server.failures import Deadline, Failure
from espalier.server.transport import configured, listening
from espalier.server.turns import CALLER, LONG, Caller, Turn, Turns
from workbench_server import HEADERS, Running


def of_lengths(lengths: list[int]) -> list[Document]:
    return [Document.from_text("x " * n) for n in lengths]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 700), max_size=60), st.sampled_from([0, 64, 2048]))
def test_pieces_cover_everything_and_long_texts_are_alone(lengths: list[int], fixed: int) -> None:
    turns = Turns()
    with turns.turn(60) as turn:
        found = list(turn.pieces(of_lengths(lengths), fixed))
    assert [i for a, b in found for i in range(a, b)] == list(range(len(lengths)))
    for a, b in found:
        assert b == a + 1 or max(lengths[a:b]) <= LONG
        assert b == a + 1 or sum(lengths[a:b]) <= max(fixed, 4096)


def test_pieces_shrink_when_they_are_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("espalier.server.turns.thread_time", lambda: clock[0])
    sizes = []
    with Turns().turn(1e9) as turn:
        for a, b in turn.pieces(of_lengths([16] * 2000)):
            sizes.append(16 * (b - a))
            clock[0] += 0.001 if len(sizes) < 5 else 1.0
    assert sizes[:4] == [1024, 2048, 4096, 4096]
    assert sizes[-2] == 128  # the last one may be smaller


def test_a_small_request_overtakes_a_large_one() -> None:
    turns, order, begun = Turns(), list[str](), threading.Event()

    def large() -> None:
        with turns.turn(60) as turn:
            for _ in range(8):
                turn.check()
                order.append("large")
                begun.set()
                time.sleep(0.05)

    def small() -> None:
        with turns.turn(60) as turn:
            turn.check()
            order.append("small")

    threads = [threading.Thread(target=large)]
    threads[0].start()
    begun.wait()
    threads += [threading.Thread(target=small) for _ in range(3)]
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join()
    assert order.count("large") == 8
    assert order.index("small") <= 3
    assert order[-1] == "large"


def test_one_at_a_time_whatever_happens() -> None:
    turns, inside, most = Turns(), [0], [0]
    lock = threading.Lock()

    def work(k: int) -> None:
        try:
            with turns.turn(0.02 if k % 3 == 0 else 30) as turn:
                for _ in range(4):
                    turn.check()
                    with lock:
                        inside[0] += 1
                        most[0] = max(most[0], inside[0])
                    time.sleep(0.002)
                    with lock:
                        inside[0] -= 1
                    if k % 5 == 0:
                        raise ValueError
        except (Failure, ValueError):
            pass

    threads = [threading.Thread(target=work, args=(k,)) for k in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert most == [1]
    assert turns.waiting == 0
    with turns.turn(1):  # and the next one finds it free
        pass


def test_the_time_of_a_request_is_one_for_all_its_turns() -> None:
    caller, turns = Caller(), Turns()
    token = CALLER.set(caller)
    try:
        with turns.turn(60):
            pass
        assert caller.deadline is not None
        caller.deadline = Deadline(0.0)
        with pytest.raises(Failure, match="longer than"), turns.turn(60) as turn:
            turn.check()
        caller.deadline, caller.gone = None, True
        with pytest.raises(Failure, match="gone"), turns.turn(60) as turn:
            turn.check()
    finally:
        CALLER.reset(token)


def test_too_many_that_wait_are_told_so() -> None:
    turns = Turns()
    turn = Turn(turns, Deadline(60), None)
    turn.take()
    waiting = [Turn(turns, Deadline(60), None) for _ in range(64)]
    for one in waiting:
        turns.queue(one)
    with pytest.raises(Failure) as refused:
        turns.queue(Turn(turns, Deadline(60), None))
    assert (refused.value.status, bool(refused.value.hint)) == (503, True)


def played(watch: CallerWatch, messages: list[tuple[float, dict[str, Any]]], headers: list[Any]) -> None:
    """Let a client send messages, each after some seconds."""

    async def receive() -> Any:
        if not messages:
            await asyncio.sleep(60)
        pause, message = messages.pop(0)
        await asyncio.sleep(pause)
        return message

    async def send(_: Any) -> None:
        pass

    # In a thread of its own: the browser's tests may have left a loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, watch({"type": "http", "method": "POST", "headers": headers}, receive, send)).result()


BODY = {"type": "http.request", "body": b"x", "more_body": False}


def test_a_client_that_hangs_up_is_noticed() -> None:
    seen = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        caller = CALLER.get()
        assert caller is not None
        seen.append(caller.gone)
        await asyncio.sleep(0.2)
        seen.append(caller.gone)
        assert (await receive())["type"] == "http.disconnect"

    for headers in ([], [(b"content-length", b"1")]):
        played(CallerWatch(app), [(0, BODY), (0.05, {"type": "http.disconnect"})], headers)
    assert seen == [False, True] * 2


def test_a_body_that_does_not_come() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()

    with pytest.raises(HTTPException) as late:
        played(CallerWatch(app, seconds=0.05), [(5, BODY)], [(b"content-length", b"1")])
    assert late.value.status_code == 408


def answered(client: socket.socket) -> bool:
    found = b""
    while not found.endswith(b"ok"):
        found += client.recv(1000)
    return found.startswith(b"HTTP/1.1 200")


def test_half_a_head_is_not_waited_for() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    listener = listening("127.0.0.1", 0)
    server = uvicorn.Server(configured(app, head_seconds=0.3, lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    address = listener.getsockname()
    with socket.create_connection(address, timeout=20) as half, socket.create_connection(address, timeout=20) as kept:
        half.sendall(b"GET / HTTP/1.1\r\nHo")
        kept.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answered(kept)
        assert half.recv(10) == b""  # closed
        kept.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")  # one that waits between two requests is kept
        assert answered(kept)
        kept.sendall(b"GET / HT")
        assert kept.recv(10) == b""
    server.should_exit = True
    thread.join(timeout=20)


def test_a_head_without_end_is_refused(start: Callable[..., Running]) -> None:
    pytest.importorskip("httptools")
    server = start()
    listener = listening("127.0.0.1", 0)
    below = uvicorn.Server(configured(server.app, lifespan="off"))
    thread = threading.Thread(target=below.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    with socket.create_connection(listener.getsockname(), timeout=20) as endless:
        endless.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        told = b""
        with contextlib.suppress(ConnectionError):  # it may be closed while this one is still speaking
            for _ in range(200):
                endless.sendall(b"".join(b"X-%d: %s\r\n" % (k, b"x" * 90) for k in range(200)))
            told = endless.recv(100)
    assert told.startswith(b"HTTP/1.1 431") or not told
    # A body that is refused is read to its end, however large, so that its sender hears why.
    with httpx.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=20) as client:
        refused = client.post("/api/v1/tasks/ads/records", content=b"x" * 11_000_000, headers=HEADERS)
        assert refused.status_code == 413
        assert client.get("/health").status_code == 200
    # Whoever closes the connection afterwards hears it, too, though half of the words are still on their way.
    for _ in range(5):
        asked = urllib.request.Request(f"{client.base_url}/api/v1/parse", b"a " * 4_500_000)
        asked.add_header("Content-Type", "text/plain")
        with pytest.raises(urllib.error.HTTPError) as told_why:
            urllib.request.urlopen(asked, timeout=20)
        assert told_why.value.code == 413
        assert b"words" in told_why.value.read()
    below.should_exit = True
    thread.join(timeout=20)


def test_answers_are_sent_at_once() -> None:
    """What asyncio looks at before it sets TCP_NODELAY on a connection."""
    with listening("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_too_much_work_is_refused_with_a_way_out(start: Callable[..., Running]) -> None:
    server = start(limits=Limits(tokens=100))
    done = server.client.post("/tasks/ads/parse", json={"texts": ["a b c d e"] * 30, "k": 2}, headers=HEADERS)
    assert done.status_code == 413
    assert "at most 10 texts" in done.json()["error"]["hint"]
    assert httpx.get(f"{server.origin}/api/v1/status").status_code == 200


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("Smith AB. Soil salts. Acta Hortic. 2004;12(4):33-9.\n" * 4, "text/plain"),
        (
            "<html><body><h2>References</h2><ol>"
            + "".join(f"<li>Smith AB. Soil salts {i}. Acta Hortic. 2004;1{i}(4):33-9.</li>" for i in range(5))
            + "</ol></body></html>",
            "text/html",
        ),
    ],
)
def test_a_list_of_too_many_references_is_left_before_its_end(
    start: Callable[..., Running], body: str, kind: str
) -> None:
    server = start(limits=Limits(records=3))
    root = f"{server.origin}/api/v1/parse"
    with httpx.Client(timeout=60, headers={"Content-Type": kind}) as client:
        done = client.post(root, content=body)
        assert done.status_code == 413, done.text
        assert "more than 3 records" in done.json()["error"]["what"]
        assert done.json()["error"]["hint"] == "send it in parts"
