"""Members of lists that were put in, left out or moved are told from changed ones, at a bounded cost."""

from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.replay import alignment
from otelreplay.replay.alignment import aligned
from otelreplay.replay.diff import compare
from otelreplay.replay.holes import Skeletons
from otelreplay.replay.normalizers import Unordered
from tests.replay.builders import asks, result, text


def found(was, now, field="f", most=20, normalizers=()):
    return [
        (d.path, d.change) + ((d.received_path,) if d.received_path else ())
        for d in compare(was, now, field, Skeletons(normalizers), most)
    ]


HISTORY = [
    text("user", "Where is my order?"),
    asks(("c1", "find", {"order": "A-1"})),
    result("c1", {"state": "lost"}),
    text("assistant", "It is lost, I am afraid."),
    text("user", "Then pay me back."),
]


def without(items, at):
    return [*items[:at], *items[at + 1 :]]


def with_one(items, at, item):
    return [*items[:at], item, *items[at:]]


def test_a_message_that_was_put_in_is_one_added_and_the_rest_is_the_same():
    extra = text("user", "Be quick about it, please.")
    for at in range(len(HISTORY) + 1):
        assert found(HISTORY, with_one(HISTORY, at, extra)) == [(f"f[{at}]", "added")]


def test_a_message_that_was_left_out_is_one_removed():
    for at in range(len(HISTORY)):
        assert found(HISTORY, without(HISTORY, at)) == [(f"f[{at}]", "removed")]


def test_a_message_that_was_moved_is_said_to_be_so_with_both_places():
    moved = [*HISTORY[1:], HISTORY[0]]
    assert found(HISTORY, moved) == [("f[0]", "moved", "f[4]")]
    assert found([1, 2, 3, 4, 5], [1, 4, 2, 3, 5]) == [("f[3]", "moved", "f[1]")]


def test_one_put_in_beside_one_changed_are_told_apart():
    changed = [*HISTORY[:3], text("assistant", "It is lost, I am sorry."), HISTORY[4]]
    both = with_one(changed, 1, text("user", "Anybody there?"))
    where = "parts[0].content"
    assert found(HISTORY, both) == [("f[1]", "added"), (f"f[3].{where}", "changed", f"f[4].{where}")]


def test_of_members_that_became_others_the_most_alike_belong_together():
    was = [text("user", "the cat sat on the mat"), text("user", "one two three four")]
    now = [text("user", "one two three five"), text("user", "something else entirely, and new")]
    assert found(was, now) == [("f[0]", "removed"), ("f[1].parts[0].content", "changed", "f[0].parts[0].content"),
                               ("f[1]", "added")]  # fmt: skip


def test_members_that_have_nothing_in_common_are_changed_in_their_places():
    assert found([1, 2, 3, 4], [1, 8, 9, 4]) == [("f[1]", "changed"), ("f[2]", "changed")]
    assert found(["a", "b"], ["c", "d", "e"]) == [("f[0]", "changed"), ("f[1]", "changed"), ("f[2]", "added")]


def test_one_of_several_equal_members_that_went_away_is_one_removed():
    assert [change for _, change in found([1, 1, 1, 2], [1, 1, 2])] == ["removed"]
    assert [change for _, change in found(["a", "b", "a", "b"], ["a", "b", "b", "a", "b"])] == ["added"]


def test_a_declared_set_has_no_moved_members():
    tags = (Unordered("f.tags"),)
    assert found({"tags": ["a", "b", "c"]}, {"tags": ["c", "a", "b"]}, normalizers=tags) == []
    assert found({"tags": ["a", "b", "c"]}, {"tags": ["c", "d", "a", "b"]}, normalizers=tags) == [("f.tags[1]", "added")]
    assert found({"tags": ["a", "b"]}, {"tags": ["b", "a"]}) == [("f.tags[0]", "moved", "f.tags[1]")]


small = st.lists(st.integers(0, 4), max_size=9)


@settings(max_examples=300, deadline=None)
@given(small, small)
def test_what_is_said_to_differ_accounts_for_every_member(old, new):
    """Each member is the same on both sides, or named exactly once; equal ones are never called changed."""
    matches = aligned(old, new, lambda i, j: 0.5)
    named_old = [m.old for m in matches if m.old is not None]
    named_new = [m.new for m in matches if m.new is not None]
    assert len(named_old) == len(set(named_old))
    assert len(named_new) == len(set(named_new))
    rest = ([v for n, v in enumerate(side) if n not in set(named)] for side, named in ((old, named_old), (new, named_new)))
    first, second = rest
    assert first == second
    for match in matches:
        if match.old is not None and match.new is not None:
            assert (old[match.old] == new[match.new]) == match.same


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(), max_size=30, unique=True), st.data())
def test_one_edit_of_a_list_is_one_difference(items, data):
    at = data.draw(st.integers(0, len(items)))
    assert found(items, with_one(items, at, "new")) == [(f"f[{at}]", "added")]
    if items:
        at = data.draw(st.integers(0, len(items) - 1))
        assert found(items, without(items, at)) == [(f"f[{at}]", "removed")]
        became = [change for _, change in found(items, [*without(items, at), "new"])]
        assert became == (["retyped"] if at == len(items) - 1 else ["removed", "added"])


class Counted:
    """A likeness that counts how often it is asked for."""

    def __init__(self):
        self.asked = 0

    def __call__(self, i, j):
        self.asked += 1
        return 0.0


def test_long_lists_of_other_members_cost_no_more_than_the_bound():
    like = Counted()
    matches = aligned(range(30_000), range(30_000, 60_000), like)
    assert len(matches) == 30_000
    assert like.asked <= alignment.PAIRS
    like = Counted()  # many small gaps between anchors
    old = [n if n % 2 else ("a", n) for n in range(20_000)]
    new = [n if n % 2 else ("b", n) for n in range(20_000)]
    assert all(m.old == m.new for m in aligned(old, new, like))
    assert like.asked <= alignment.PAIRS


def test_long_lists_of_few_values_stay_within_the_table(monkeypatch):
    cells = []
    kept = alignment._common

    def counted(old, new, gap):
        cells.append((gap[1] - gap[0]) * (gap[3] - gap[2]))
        return kept(old, new, gap)

    monkeypatch.setattr(alignment, "_common", counted)
    aligned([n % 3 for n in range(20_000)], [n % 3 + n % 2 for n in range(20_000)], Counted())
    aligned([1, 2] * 200 + list(range(10, 3000)), [2, 1, 1] * 200 + list(range(10, 3000)), Counted())
    assert sum(cells) <= alignment.LCS * 2
    assert cells, "small gaps are compared in full"
