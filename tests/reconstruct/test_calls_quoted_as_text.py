"""Calls of a reply that a later request quotes as text."""

from tests.reconstruct.builders import ASK, DONE, agent, calls, model, rebuilt, text


def quoting(said, call="call_1"):
    history = [*ASK, text("assistant", said), text("user", "Observation: two")]
    return rebuilt(agent(), model(2, ASK, calls((call, "find", {"id": "o-1"}))), model(4, history, DONE))


def test_text_that_holds_the_ids_of_a_replys_calls_quotes_that_reply():
    assert not [m for m in quoting("Calling tools: [{'id': 'call_1', 'name': 'find'}]").missing if m.field == "model"]


def test_an_id_that_is_a_part_of_a_word_or_hardly_more_than_a_letter_tells_nothing():
    assert [m for m in quoting("I saw call_12.").missing if m.field == "model"]
    assert [m for m in quoting("I found 1 order.", call="1").missing if m.field == "model"]


def test_text_without_them_quotes_a_reply_that_did_not_arrive():
    assert [m for m in quoting("I did something else.").missing if m.field == "model"]
