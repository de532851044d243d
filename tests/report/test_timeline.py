"""The timeline of ``show``: order, tree, times, tokens and marks, in the columns there are."""

from otelreplay.events import Event
from otelreplay.report.text import width
from otelreplay.report.timeline import began, headline, timeline_json, timeline_text
from tests.report.runs import BASE, EVENTS

GOLDEN = """\
seq  event                     start    took    tokens  marks
  0  agent  order-desk          0 ms  2.30 s            1 redacted
  1  ├ model  gpt-4o-mini       3 ms  1.10 s  320 > 45  1 redacted
  2  ├ tool  lookup_order          -       -            1 inferred
  3  ├ tool  send\\x1b[2Jmail  1.15 s   20 ms            error
  4  └ model  gpt-4o-mini     1.20 s  1.09 s   420 > ?  1 missing, 1 redacted

missing: not in the telemetry; `otelreplay report` says why
inferred: read from another span; `show --event SEQ` says which
redacted: replaced or removed by the policy
"""


def chain(depth):
    return [Event(seq=n, id=f"t/{n}", kind="agent", name="deep", parent=n - 1 if n else None) for n in range(depth)]


def test_the_timeline_shows_one_event_a_line():
    assert GOLDEN == timeline_text(EVENTS)


def test_a_timeline_without_marks_has_no_legend():
    assert "seq  event        start  took  tokens  marks\n  0  agent  deep      -     -\n" == timeline_text(chain(1))


def test_no_line_is_wider_than_the_terminal_however_deep_the_tree():
    lines = timeline_text(chain(100), columns=60).splitlines()
    assert 101 == len(lines)
    assert max(map(width, lines)) <= 60


def test_branches_are_drawn_to_the_last_child():
    parents = [None, 0, 1, 0, 3]
    events = [Event(seq=n, id=f"t/{n}", kind="agent", name="x", parent=p) for n, p in enumerate(parents)]
    drawn = [line[5:].split("agent")[0] for line in timeline_text(events).splitlines()[1:]]
    assert ["", "├ ", "│ └ ", "└ ", "  └ "] == drawn


def test_an_event_whose_parent_is_not_there_stands_at_the_top():
    assert "  5  agent  x" in timeline_text([Event(seq=5, id="t/5", kind="agent", name="x", parent=99)])


def test_no_events_give_a_header_and_nothing_else():
    assert "seq  event  start  took  tokens  marks\n" == timeline_text([])


def test_the_json_timeline_counts_the_marks_that_the_text_shows():
    rows = timeline_json(EVENTS)
    assert [(0, 0, 1), (0, 0, 1), (0, 1, 0), (0, 0, 0), (1, 0, 1)] == [
        (r["missing"], r["inferred"], r["redactions"]) for r in rows
    ]
    assert [False, False, False, True, False] == [r["error"] for r in rows]
    assert str(BASE) == rows[0]["start"]


def test_the_headline_counts_calls_first_and_says_how_long_it_took():
    assert "2 model calls, 2 tool calls, 1 agent event, 2.30 s" == headline(EVENTS)
    assert "1 agent event" == headline(chain(1))
    assert "" == headline([])


def test_a_run_begins_at_its_earliest_start():
    assert (BASE, 0) == (began(EVENTS), began([]))
