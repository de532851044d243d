"""Which call a result answers is told by the place of the call, never by the text of its id."""

from hypothesis import given
from hypothesis import strategies as st

from otelreplay.replay.ordinals import answers_another
from tests.replay.builders import asks, result, text

TWO = ("find", {"n": 1}), ("send", {"n": 2})


def talk(ids, answered):
    """Two calls with these ids, then a result for each of ``answered``."""
    calls = asks(*((i, name, arguments) for i, (name, arguments) in zip(ids, TWO, strict=True)))
    return [text("user", "go"), calls, *(result(i, "done") for i in answered)]


def test_a_result_that_answers_the_other_call_is_named_with_its_ids():
    found = answers_another(talk("ab", "ab"), talk("ab", "ba"), "request.messages")
    assert found == ("request.messages[2].parts[0].id", "a", "b")


def test_what_is_no_list_of_messages_has_no_results():
    assert answers_another("text", [], "f") is None
    assert answers_another([], None, "f") is None
    assert answers_another(["text", {"role": "user"}], ["text", {"parts": "x"}], "f") is None


_IDS = st.lists(st.text(min_size=1, max_size=6), min_size=2, max_size=2, unique=True)


@given(_IDS, _IDS, st.permutations([0, 1]))
def test_other_ids_for_the_same_calls_are_no_difference(one, other, order):
    was, now = (talk(ids, [ids[n] for n in order]) for ids in (one, other))
    assert answers_another(was, now, "request.messages") is None
