"""The labelling that a user corrects, step by step against a plain table of tokens; and the keys of labels."""

from __future__ import annotations

import random

import pytest
from browser_desk import Desk

SIZE = 7
LABELS = ["a", "b"]
RUN = """async ([tokens, fields, steps]) => {
  const { Labelling } = await import('/labelling.js');
  const work = new Labelling({ tokens, fields, corrected: null });
  return steps.map(([name, ...given]) => {
    work[name](...given);
    return { fields: work.fields.map(({ label, from, to }) => [label, from, to]), selection: work.selection };
  });
}"""


class Table:
    """The naive labelling: each token has the number of its field, or None; fields have labels."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, str] | None] = [None] * SIZE
        self.past: list[list[tuple[int, str] | None]] = []
        self.anchor = self.caret = self.made = 0

    def fields(self) -> list[list[object]]:
        found: list[list[object]] = []
        for place, row in enumerate(self.rows):
            if row is not None and place > 0 and self.rows[place - 1] == row:
                found[-1][2] = place + 1
            elif row is not None:
                found.append([row[1], place, place + 1])
        return found

    def selection(self) -> list[int]:
        return [min(self.anchor, self.caret), max(self.anchor, self.caret) + 1]

    def move(self, to: int, extend: bool) -> None:
        self.caret = min(max(to, 0), SIZE - 1)
        self.anchor = self.anchor if extend else self.caret

    def assign(self, label: str | None, apart: bool) -> None:
        rows = list(self.rows)
        first, behind = self.selection()
        self.made += 1
        for place in range(first, behind):
            rows[place] = None if label is None else (self.made, label)
        # A field that was cut in two is two fields.
        for place in range(behind, SIZE):
            cut = rows[place]
            if cut is not None and cut in rows[:first]:
                rows[place] = (-self.made, cut[1])
        if label is not None and not apart:
            for start, step in ((first, -1), (behind - 1, 1)):
                beside = start + step
                while 0 <= beside < SIZE and rows[beside] == self.neighbour(rows, start + step, label):
                    beside += step
                for place in range(start, beside, step):
                    rows[place] = (self.made, label)
        before, old = self.fields(), self.rows
        self.rows = rows
        if self.fields() == before:
            self.rows = old
        else:
            self.past.append(old)

    @staticmethod
    def neighbour(rows: list[tuple[int, str] | None], place: int, label: str) -> tuple[int, str] | object:
        """The one field beside the selection that joins it; an object that equals nothing if none does."""
        row = rows[place]
        return row if row is not None and row[1] == label else object()

    def undo(self) -> None:
        if self.past:
            self.rows = self.past.pop()


def walk(seed: int) -> tuple[list[list[object]], list[dict[str, object]]]:
    """Random steps, and what the table says after each."""
    chance, table = random.Random(seed), Table()
    steps: list[list[object]] = []
    states: list[dict[str, object]] = []
    for _ in range(25):
        step = chance.choice(["move", "move", "assign", "assign", "undo"])
        given: list[object] = []
        if step == "move":
            given = [chance.randrange(-1, SIZE + 1), chance.random() < 0.5]
        elif step == "assign":
            given = [chance.choice([*LABELS, None]), chance.random() < 0.3]
        steps.append([step, *given])
        getattr(table, step)(*given)
        states.append({"fields": table.fields(), "selection": table.selection()})
    return steps, states


def test_steps_agree_with_a_plain_table(desk: Desk) -> None:
    desk.page.goto(desk.server.url)
    tokens = [edge for place in range(SIZE) for edge in (2 * place, 2 * place + 1)]
    for seed in range(40):
        steps, states = walk(seed)
        assert desk.page.evaluate(RUN, [tokens, [], steps]) == states


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([["x", 0, 3], ["y", 4, 7]], [["x", 0, 1], ["y", 1, 2]]),
        ([["x", 1, 3]], [["x", 0, 1]]),  # begins inside a token: the token has it
        ([["x", 0, 5]], [["x", 0, 2]]),  # ends inside a token
        ([["x", 3, 4]], []),  # white space alone is no field
    ],
)
def test_fields_in_characters_become_fields_in_tokens(desk: Desk, fields: list, expected: list) -> None:
    desk.page.goto(desk.server.url)
    given = [dict(zip(("label", "start", "end"), field, strict=True)) for field in fields]
    [state] = desk.page.evaluate(RUN, [[0, 3, 4, 7], given, [["move", 0]]])
    assert state["fields"] == expected


def test_every_label_has_its_own_key(desk: Desk) -> None:
    desk.page.goto(desk.server.url)
    script = "async (labels) => Object.fromEntries((await import('/palette.js')).keysOf(labels))"
    assert desk.page.evaluate(script, ["price", "place", "sum", "1st", "x"]) == {
        "price": "p",
        "place": "l",
        "sum": "m",
        "1st": "t",
        "x": "1",
    }
    labels = [f"label-{number}" for number in range(30)]
    keys = desk.page.evaluate(script, labels)
    assert len(set(keys.values())) == len(keys) == 30
    assert not set("usx") & set(keys.values())
