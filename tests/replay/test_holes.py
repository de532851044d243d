"""Typed holes: equality on both sides of a policy, without its key (I6)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.boundary import ReplayStopped
from otelreplay.canonical import digest_value
from otelreplay.redaction import compile_policy, default_policy, find_placeholders
from otelreplay.replay import bindings, holes
from otelreplay.replay.holes import Hole, Skeletons
from otelreplay.replay.rules import soft_rules
from tests.replay.builders import (
    KEY,
    OTHER_KEY,
    Player,
    Tape,
    call,
    cassette_of,
    desk,
    first,
    play,
    policy,
    record,
    result,
    run_of,
    text,
)

JANE, JOHN = "jane.roe@acme-mail.com", "john.doe@acme-mail.com"
ALL = policy(("mail", "detector: email, action: pseudonym"), ("secret", "detector: secrets, action: pseudonym"))
HASH = policy(("mail", "detector: email, action: hash"))
MASK = policy(("mail", "detector: email, action: mask"))


def send(*whom):
    """One call of a tool for each address; several in one call as a tuple."""
    return [("tool", "send", {"arguments": {"to": list(w) if isinstance(w, tuple) else w}}, "sent") for w in whom]


def replayed(recorded, live, rules=ALL):
    return play(Player(record(recorded, policy=rules), rules), live)


def same(policy_, story):
    return replayed(story, story, policy_).exit_code


@pytest.mark.parametrize("rules", [ALL, HASH, MASK, default_policy()], ids=["pseudonym", "hash", "mask", "default"])
def test_the_unchanged_program_replays_green_under_every_action(rules):
    whole = [
        (
            "model",
            "m",
            {"messages": [text("user", f"Write to {JANE} and {JOHN}, then {JANE}")], "system": f"Ask {JOHN}"},
            f"to {JANE}",
        ),
        *send(JANE, JOHN, JANE, (JANE, JOHN)),
        ("tool", "find", {"arguments": {JANE: 1, JOHN: 2}}, {"mail": JANE}),
        ("tool", "read", {"arguments": {"raw": f"<{JOHN}>".encode(), "set": {JANE, JOHN}, "t": (JANE, 1)}}, None),
    ]
    assert replayed(whole, whole, rules).exit_code == 0


def test_the_program_never_needs_the_recording_key():
    cassette = record(send(JANE), policy=ALL)
    (event,) = [e for e in cassette.events if e.kind == "tool"]
    live = Player(cassette, ALL).session.live_of(call("tool", "send", arguments={"to": JANE}))
    assert live.request["arguments"]["to"] != event.request["arguments"]["to"]
    assert find_placeholders(live.request["arguments"]["to"])


def test_one_hole_stands_for_one_value_over_the_whole_run():
    assert replayed(send(JANE, JANE), send(JANE, JANE)).exit_code == 0
    found = replayed(send((JANE, JANE)), send((JANE, JOHN))).first_divergence
    assert (found.kind, found.path, found.cause) == ("request_changed", "request.arguments.to[1]", "redaction")


def test_two_holes_do_not_stand_for_one_value():
    found = replayed(send((JANE, JOHN)), send((JANE, JANE))).first_divergence
    assert (found.kind, found.path) == ("request_changed", "request.arguments.to[1]")


def test_a_fresh_value_binds_and_another_one_later_is_refused():
    """The program may use its own address, but the same one everywhere."""
    other = "somebody.else@acme-mail.com"
    assert replayed(send(JANE, JANE), send(other, other)).exit_code == 0
    assert replayed(send(JANE, JANE), send(other, JANE)).exit_code == 1


def served_first(address):
    asked = [("tool", "who", {"arguments": {}}, {"mail": JANE})]
    return [*asked, ("tool", "send", {"arguments": {"to": address}}, "sent")]


def test_a_placeholder_that_was_served_is_accepted_and_a_fresh_value_is_not():
    cassette = record(served_first(JANE), policy=ALL)
    player = Player(cassette, ALL)
    token = player.enter(input={"q": "orders"})
    given_ = player.get("tool", "who", parent=token)["mail"]
    assert find_placeholders(given_)
    assert player.get("tool", "send", arguments={"to": given_}, parent=token) == "sent"
    found = play(Player(cassette, ALL), served_first(JANE)).first_divergence
    assert (found.kind, found.path, found.cause) == ("request_changed", "request.arguments.to", "redaction")


def test_a_placeholder_that_came_with_the_agents_input_was_served():
    """A replay calls the agent with its recorded input: the program has the placeholder, and nothing else fits its hole."""
    tape = Tape()
    agent = tape.agent(input={"to": JANE}, output=None)
    tape.tool("send", {"to": JANE}, "sent", parent=agent)
    cassette = tape.cassette(ALL)
    held = cassette.events[0].request["input"]["to"]
    player = Player(cassette, ALL)
    token = player.enter(input={"to": held})
    with pytest.raises(ReplayStopped):
        player.get("tool", "send", arguments={"to": JANE}, parent=token)
    assert player.get("tool", "send", arguments={"to": held}, parent=token) == "sent"


def test_a_value_bound_before_its_placeholder_was_served_is_still_accepted():
    steps = [*send(JANE), ("tool", "who", {"arguments": {}}, {"mail": JANE}), *send(JANE)]
    assert replayed(steps, steps).exit_code == 0


def test_a_placeholder_of_the_cassette_fits_only_its_own_hole():
    cassette = record(send(JANE, JOHN), policy=ALL)
    first_, second = (e.request["arguments"]["to"] for e in cassette.events if e.kind == "tool")
    player = Player(cassette, ALL)
    token = player.enter(input={"q": "orders"})
    assert player.get("tool", "send", arguments={"to": second}, parent=token) == "sent"
    with pytest.raises(ReplayStopped):
        player.get("tool", "send", arguments={"to": second}, parent=token)
    assert player.get("tool", "send", arguments={"to": first_}, parent=token) == "sent"


def test_a_value_that_is_not_of_the_rules_kind_does_not_fit():
    found = replayed(send(JANE), send("nobody")).first_divergence
    assert (found.kind, found.path) == ("request_changed", "request.arguments.to")
    assert replayed(send(JANE), send("")).exit_code == 1


def test_literals_around_a_hole_must_be_equal():
    def letter(word):
        return [("tool", "send", {"arguments": {"text": f"{word} {JANE}!"}}, None)]

    assert replayed(letter("Dear"), letter("Dear")).exit_code == 0
    assert replayed(letter("Dear"), letter("Hello")).exit_code == 1


def test_bound_values_are_listed_and_never_printed():
    done = replayed(send(JANE), send(JOHN))
    assert (done.exit_code, done.normalised[0]["rule"], done.normalised[0]["field"]) == (0, "mail", "request.arguments.to")
    changed = replayed(send((JANE, JANE)), send((JOHN, JANE)))
    live = compile_policy(ALL, key=OTHER_KEY).text(JANE)
    for each in (done, changed):
        shown = str(each.as_json()) + "\n".join(each.lines())
        assert JANE not in shown
        assert JOHN not in shown
        assert live not in shown


def test_bindings_are_tried_before_the_order_of_the_recording():
    steps = send(JANE, JOHN)
    cassette = record(
        [("tool", "who", {"arguments": {}}, [JANE, JOHN]), *[(k, n, f, f["arguments"]["to"]) for k, n, f, _ in steps]],
        policy=ALL,
    )
    player = Player(cassette, ALL)
    token = player.enter(input={"q": "orders"})
    jane, john = player.get("tool", "who", parent=token)
    assert player.get("tool", "send", arguments={"to": john}, parent=token) == john
    assert player.get("tool", "send", arguments={"to": jane}, parent=token) == jane


def test_a_fresh_value_that_fits_several_recordings_gets_the_first_with_a_note():
    steps = [("tool", "send", {"arguments": {"to": who}}, who) for who in (JANE, JOHN)]
    done = replayed(steps, steps)
    assert done.exit_code == 0
    assert any("cannot be told apart" in note for note in done.notes)


def test_a_dropped_field_is_unchecked_and_the_rest_is_compared():
    drop = policy(("mail", 'path: "request.arguments.to", action: drop'))
    steps, other = send(JANE), [("tool", "send", {"arguments": {"to": JANE, "cc": "x"}}, "sent")]
    done = replayed(steps, send(JOHN), drop)
    assert done.exit_code == 0
    assert {e["field"] for e in done.unchecked} == {"request.arguments.to"}
    assert replayed(steps, other, drop).first_divergence.path == "request.arguments.cc"


def test_a_masked_component_is_unchecked_and_the_text_around_a_mask_is_compared():
    def letter(word, address):
        return [("tool", "send", {"arguments": {"text": f"{word} {address}"}}, None)]

    done = replayed(letter("Dear", JANE), letter("Dear", JOHN), MASK)
    assert (done.exit_code, done.unchecked[0]["field"]) == (0, "request.arguments.text")
    assert replayed(letter("Dear", JANE), letter("Hello", JANE), MASK).exit_code == 1


def test_what_a_truncation_left_is_compared_and_the_rest_is_said_to_be_unchecked():
    cut = policy(("long", 'path: "request.arguments.text", action: truncate, keep: 5'))

    def write(what):
        return [("tool", "write", {"arguments": {"text": what}}, None)]

    done = replayed(write("abcdefghij"), write("abcdeXXXXX"), cut)
    assert (done.exit_code, done.unchecked[0]["reason"]) == (0, "a placeholder of action truncate fits any value of its rule")
    found = replayed(write("abcdefghij"), write("XXcdefghij"), cut).first_divergence
    assert found.cause == "truncation"


def registered(said, **more):
    """A cassette whose recording side knew a secret that nobody here does."""
    redactor = compile_policy(ALL, key=OTHER_KEY, secrets=["hunter22-swordfish"])
    recording = record(said).recording()
    made, placeholders = redactor.recording_with_placeholders(recording)
    return cassette_of(made, placeholders=[{f: getattr(p, f) for f in p.__struct_fields__} for p in placeholders], **more)


@pytest.mark.parametrize(
    ("now", "fits"),
    [
        ("the word is another-secret ok", True),
        ("the word is  ok", False),
        ("the word is ok", False),
        ("the word was x ok", False),
        ("the word is x no", False),
        ("the word is x ok ok", True),
    ],
)
def test_a_hole_whose_rule_is_not_known_here_accepts_text_between_equal_literals(now, fits):
    cassette = registered([("tool", "say", {"arguments": {"text": "the word is hunter22-swordfish ok"}}, None)])
    done = play(Player(cassette, ALL), [("tool", "say", {"arguments": {"text": now}}, None)])
    assert done.exit_code == (0 if fits else 1)
    if fits:
        assert [e["rule"] for e in done.assumed] == ["registered-secret"]
        assert "another-secret" not in str(done.as_json())


def test_two_such_holes_in_one_text_are_found_from_the_left():
    cassette = registered([("tool", "say", {"arguments": {"a": ["x hunter22-swordfish, hunter22-swordfish; y", "z"]}}, None)])

    def say(first_text, second="z"):
        return [("tool", "say", {"arguments": {"a": [first_text, second]}}, None)]

    assert play(Player(cassette, ALL), say("x one, two; y")).exit_code == 0
    assert play(Player(cassette, ALL), say("x one, ; y")).exit_code == 1
    assert play(Player(cassette, ALL), say("x , two; y")).exit_code == 1
    assert play(Player(cassette, ALL), say("x one; y")).exit_code == 1
    assert play(Player(cassette, ALL), say("x one, two; y", "other")).exit_code == 1


def test_an_environment_secret_that_is_unset_here_is_assumed():
    rules = policy(("key", "secret: env:DESK_KEY, action: pseudonym"))
    assert "key" in soft_rules(compile_policy(rules, key=OTHER_KEY), [])
    assert "key" not in soft_rules(compile_policy(rules, key=OTHER_KEY, env={"DESK_KEY": "hunter22"}), [])
    assert "newer" in soft_rules(compile_policy(rules, key=OTHER_KEY), ["newer", "unwalkable"])
    assert "unwalkable" not in soft_rules(compile_policy(rules, key=OTHER_KEY), ["newer", "unwalkable"])


words = st.sampled_from(["order", "mail", JANE, JOHN, "x@y.example.org", "sk-", "then", "and", ""])
texts = st.lists(words, max_size=5).map(" ".join)
values = st.recursive(
    texts | st.integers(0, 9) | st.none(),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(texts, v, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(values, texts, st.sampled_from([ALL, HASH, MASK]))
def test_any_request_equals_itself_under_any_policy(value, said, rules):
    """I6: whatever the policy takes away, and under whatever key."""
    story = [
        ("tool", "t", {"arguments": {"v": value}}, {"v": value}),
        ("model", "m", {"messages": [text("user", said), result("c", value)], "system": said}, said or "x"),
    ]
    assert same(rules, story) == 0


@settings(max_examples=60, deadline=None)
@given(values)
def test_a_skeleton_does_not_depend_on_the_key(value):
    made = [Skeletons().value(compile_policy(ALL, key=key).value(value), "f") for key in (KEY, OTHER_KEY)]
    assert digest_value(made[0][0]) == digest_value(made[1][0])
    assert len(made[0][1]) == len(list(holes.holes_in(compile_policy(ALL, key=OTHER_KEY).value(value))))


def test_what_holds_no_hole_is_its_own_skeleton():
    value = {"a": [1, "x", ("y",), {"z"}, b"w", None]}
    assert Skeletons().value(value, "f") == (value, ())
    assert Skeletons().value(value, "f")[0] is value


def hole(name, value, action="pseudonym"):
    return Hole(name, value, action)


def test_bindings_follow_their_table():
    made = bindings.Bindings({"P", "Q", "R"})
    assert made.fits([hole("r", "P")], [hole("r", "P")]) == []
    assert made.fits([hole("r", "P")], [hole("r", "Q")]) is None
    assert made.fits([hole("r", "P")], [hole("s", "v")]) is None
    assert made.fits([hole("r", "P")], [hole("r", "v", "hash")]) is None
    assert made.fits([hole("r", "P")], []) is None
    assert made.fits([hole("r", "P")] * 2, [hole("r", "v")] * 2) == [("P", "v")]
    made.bind([("P", "v")])
    assert made.fits([hole("r", "P")], [hole("r", "v")]) == []
    assert made.fits([hole("r", "P")], [hole("r", "w")]) is None
    assert made.fits([hole("r", "Q")], [hole("r", "v")]) is None
    made.served([hole("r", "R"), hole("r", "M", "mask")])
    assert made.fits([hole("r", "R")], [hole("r", "u")]) is None
    assert made.known_as((hole("r", "v"), hole("r", "Q"), hole("r", "x"), hole("r", "m", "mask"))) == ("P", "Q", bindings.FRESH)
    assert made.allows([("Q", "w")])
    assert not made.allows([("Q", "v")])
    assert not made.allows([("P", "w")])
    assert not made.allows([("Q", "w"), ("Q", "z")])


def test_unredacted_recordings_replay_beside_fresh_personal_data():
    """A recording without holes fits no live value that a policy would have taken."""
    cassette = record(desk(1))
    assert play(Player(cassette, ALL), desk(1)).exit_code == 0
    assert first(cassette, send(JANE)).kind == "unexpected_call"


def test_run_of_makes_small_recordings():
    assert run_of([]).events == ()


@pytest.mark.parametrize("change", [lambda t: t.partition("@")[0], str.upper, lambda t: t.replace("@", "%40")])
def test_a_program_that_rewrites_a_placeholder_is_told_that_the_policy_is_the_cause(change):
    cassette = record(
        [("tool", "who", {"arguments": {}}, {"mail": JANE}), ("tool", "send", {"arguments": {"to": change(JANE)}}, "sent")],
        policy=ALL,
    )
    player = Player(cassette, ALL)
    token = player.enter(input={"q": "orders"})
    given_ = player.get("tool", "who", parent=token)["mail"]
    with pytest.raises(ReplayStopped):
        player.get("tool", "send", arguments={"to": change(given_)}, parent=token)
    found = player.result().first_divergence
    assert ("redaction", True) == (found.cause, bool(found.remedy))
