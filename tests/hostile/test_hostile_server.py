"""A server under attack: bodies are refused while they come, others are served, and memory comes back."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from espalier.server.arriving import DEPTH, JsonCount, words
from espalier.server.failures import Failure
from espalier.server.forms import media_type, read_form

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
siege = pytest.importorskip("attacking.siege")
MULTIPART = "multipart/form-data; boundary=b"
URLENCODED = "application/x-www-form-urlencoded"


def drawn(chance: random.Random, depth: int = 0) -> Any:
    """Draw what JSON can say, with odd strings."""
    kind = chance.randrange(6 if depth < 5 else 3)
    if kind < 3:
        return chance.choice([1, -2.5e3, True, None, "", "a  b\nc ", '\\"[', '"]}{,:"', "\\", "é\ud83d", "a\\\\"])
    if kind == 3:
        return {f'k"{i}\\' * chance.randrange(3): drawn(chance, depth + 1) for i in range(chance.randrange(4))}
    return [drawn(chance, depth + 1) for _ in range(chance.randrange(4))]


def counted(value: Any, depth: int = 0) -> tuple[int, int]:
    """Return marks before, between and within values, and how deep they lie: what a walk over them finds."""
    if not isinstance(value, list | dict):
        return 0, depth
    inner = [counted(one, depth + 1) for one in (value.values() if isinstance(value, dict) else value)]
    marks = 1 + max(len(value) - 1, 0) + (len(value) if isinstance(value, dict) else 0)
    return marks + sum(n for n, _ in inner), max([depth + 1, *(d for _, d in inner)])


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
    elif isinstance(value, dict):
        yield from value
        for one in value.values():
            yield from strings(one)


@pytest.mark.parametrize("seed", range(300))
def test_counts_are_those_of_what_is_read(seed: int) -> None:
    chance = random.Random(seed)
    value = drawn(chance)
    text = json.dumps(value, ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, 1]))
    body, at, count = text.encode("utf-8", "surrogatepass"), 0, JsonCount()
    while at < len(body):
        end = at + chance.randrange(1, 9)
        count.add(body[at:end])
        at = end
    assert (count.values, count.deepest) == counted(value)
    assert count.words <= sum(len(one.split()) + one.count(" ") for one in strings(value))


def test_words_are_never_more_than_there_are() -> None:
    assert words(b"one two  three\nfour five") == 4
    assert words("ab cd".encode("utf-16")) == 1
    assert words(b"   ") == words(b"") == words(b"a") == 0


def test_forms_are_read_within_bounds() -> None:
    about = b'Content-Disposition: form-data; name="a"; filename="f.pdf"'
    body = b"x\r\n--b\r\n" + about + b"\r\n\r\n1\r\n--2\r\n--b\r\n\r\n\r\n--b--"
    first, second = read_form(MULTIPART, body)
    assert (first.name, first.filename, first.value, second.value) == ("a", "f.pdf", b"1\r\n--2", b"")
    for header, wrong in (
        (MULTIPART, b"--b\r\n" * 10_001),
        (MULTIPART, b"--b\r\nContent-Disposition: " + b';";' * 5000 + b"\r\n\r\n\r\n--b--"),
        (URLENCODED, b"a=1&" * 10_001),
        (URLENCODED, b"a=" + b"%41" * 400_000),
    ):
        with pytest.raises(Failure) as refused:
            read_form(header, wrong)
        assert refused.value.status == 413
    for signs in (b";" * 3900, b"; a*0=b" * 400):  # 10,000 such parts took 80 seconds
        with pytest.raises(Failure, match="more than 50 parameters"):
            read_form(MULTIPART, b"--b\r\nContent-Disposition: a" + signs + b"\r\n\r\n\r\n--b--")
    with pytest.raises(Failure, match="boundary is missing"):
        read_form(MULTIPART, b"--b\r\n\r\nx")
    with pytest.raises(Failure, match="characters"):  # quadratic in the standard library: hours for a megabyte
        media_type("a" + ';"' * 100_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with siege.serving(tmp_path_factory.mktemp("siege") / "project") as running:
        yield running


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="memory is told by Linux")
@pytest.mark.parametrize(
    ("name", "size", "status"),
    [
        ("JSON: a list of empty lists", 0.2, 413),
        ("JSON: a text that is empty objects", 0.2, 413),
        ("JSON: lists in lists", 0.1, 413),
        ("JSON: objects in objects", 0.1, 413),
        ("JSON: one key, again", 0.1, 413),
        ("JSON: NaN", 0.001, 422),
        ("JSON: backslashes", 0.01, 200),
        ("JSON: short words", 0.7, 413),
        ("JSON: no UTF-8", 0.01, 422),
        ("text: short words", 0.7, 413),
        ("text: one word", 0.2, 413),
        ("gzip: zeros", 0.05, 413),
        ("gzip: as an encoding", 1.0, 422),
        ("form: %41", 0.1, 413),
        ("form: parts", 0.1, 413),
        ("form: the head of a part", 0.1, 413),
        ("form: parts with many parameters", 0.1, 400),
        ("form: a token", 0.1, 413),
        ("head: a type with quotes", 1.0, 400),
        ("head: a cookie with backslashes", 1.0, 431),
        ("head: a list of wishes", 1.0, 431),
        ("address: a thousand questions", 1.0, 414),
        ("address: a path", 1.0, 414),
        ("by hand: chunks without end", 0.26, 413),
        ("by hand: headers without end", 0.1, 431),
        ("by hand: another protocol", 1.0, 200),
        ("by hand: two lengths", 1.0, 400),
    ],
)
def test_others_are_served_while_it_is_attacked(server: Any, name: str, size: float, status: int) -> None:
    cost = siege.besieged(server, name, size, times=2, least=0.3, later=0.0)
    assert str(status) in cost.answer or "hung up" in cost.answer or "Error" in cost.answer, cost
    assert not cost.refused, cost
    assert max(cost.seconds_of_others) < 5, cost  # a busy machine is forgiven, a server that hangs is not
    assert cost.peak < 300, cost


def test_too_deep_is_no_matter_of_the_reader(server: Any) -> None:
    for depth, status in ((DEPTH, 422), (DEPTH + 1, 413)):
        body = "[" * depth + "]" * depth
        found = server.asked("POST", "/api/v1/parse", body, {"Content-Type": "application/json"})
        assert found[0] == status, found
