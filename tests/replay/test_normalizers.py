"""Declared normalisers act where they were declared; two recordings teach the least that they need, and nothing more."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.errors import UsageError
from otelreplay.redaction import compile_policy, default_policy, off_policy
from otelreplay.replay.declared import declared, lines_of
from otelreplay.replay.learning import Watching, learn
from tests.replay.builders import OTHER_KEY, Player, asks, play, record, result, text

U1, U2, U3, U4 = (f"0b6b6ae0-1d8a-4e0c-9d6a-0f8f6f6b7a{n:02x}" for n in range(4))
MEMORY, OTHER_MEMORY = "<Order object at 0x7f3c5d2e1a90>", "<Order object at 0x7fe2111e0010>"


def call(**arguments):
    return ("tool", "find", {"arguments": arguments}, "found")


def replayed(recorded, live, *specs, policy=None):
    cassette = record(recorded, policy=policy)
    return play(Player(cassette, policy, normalizers=declared(specs)), live)


@pytest.mark.parametrize(
    ("spec", "was", "now", "rule"),
    [
        ("timestamps", "at 2026-01-31T10:00:00Z", "at 2027-02-01T11:11:11.5+01:00", "timestamp"),
        ("uuids", f"id {U1}", f"id {U2}", "uuid"),
        ("addresses", MEMORY, OTHER_MEMORY, "address"),
        ("addresses", "http://127.0.0.1:50123/x", "http://127.0.0.1:6011/x", "address"),
        ("addresses", "localhost:1", "localhost:65000", "address"),
        ("addresses", "[::1]:80", "[fe80::1]:8080", "address"),
        ("numbers:arguments.x", "try 3 of 10", "try 4 of 11", "number"),
        ("numbers:request.arguments.x", 7, 8, "number"),
        ("unordered:arguments.x", ["a", "b", {"c": 1}], [{"c": 1}, "b", "a"], "unordered"),
        ("regex:arguments.x:req_[0-9a-f]{6}", "req_00ff11 now", "req_abcdef now", "regex"),
    ],
)
def test_a_declared_difference_is_equal_and_listed_and_an_undeclared_one_is_not(spec, was, now, rule):
    done = replayed([call(x=was)], [call(x=now)], spec)
    assert (0, [rule]) == (done.exit_code, [entry["rule"] for entry in done.normalised])
    assert "request.arguments.x" == done.normalised[0]["field"]
    assert 1 == replayed([call(x=was)], [call(x=now)]).exit_code
    assert () == replayed([call(x=was)], [call(x=was)], spec).normalised


@pytest.mark.parametrize(
    ("spec", "was", "now"),
    [
        ("timestamps", "order 2026-13-45", "order 2026-13-46"),
        ("uuids", U1, "no uuid"),
        ("addresses", "version 1.2.3.4", "version 1.2.3.5"),
        ("addresses", "0x7f", "0x80"),
        ("addresses", "999.1.1.1:80", "999.1.1.2:80"),
        ("numbers:arguments.y", 7, 8),
        ("numbers:arguments.x", 7, "7"),
        ("numbers:arguments.x", "A7", "A8"),
        ("numbers:arguments.x", True, False),
        ("unordered:arguments.x", ["a", "b"], ["a", "c"]),
        ("unordered:arguments.x", ["a", "a", "b"], ["a", "b", "b"]),
        ("unordered:arguments", ["a", "b"], ["b", "a"]),
        ("uuids:arguments.xy", U1, U2),
        ("regex:arguments.x:req_[0-9]+", "req_1 a", "req_2 b"),
    ],
)
def test_nothing_else_becomes_equal(spec, was, now):
    assert 1 == replayed([call(x=was)], [call(x=now)], spec).exit_code


def test_one_recorded_uuid_stands_for_one_live_uuid_over_the_whole_run():
    recorded = [call(x=U1), call(x=U2), call(x=U1)]
    assert 0 == replayed(recorded, [call(x=U3), call(x=U4), call(x=U3)], "uuids").exit_code
    assert 1 == replayed(recorded, [call(x=U3), call(x=U4), call(x=U4)], "uuids").exit_code
    assert 1 == replayed(recorded, [call(x=U3), call(x=U3), call(x=U3)], "uuids").exit_code


def test_a_uuid_that_the_program_was_given_it_must_pass_on():
    def story(passed):
        return [("tool", "new", {"arguments": {}}, {"id": U1}), call(x=passed)]

    assert 0 == replayed(story(U1), story(U1), "uuids").exit_code
    assert 1 == replayed(story(U1), story(U2), "uuids").exit_code


def test_a_minted_id_is_bound_in_conversations_and_in_arguments_alike():
    def story(own):
        asked = asks(("c1", "find", {"x": own}))
        told = [text("user", f"Ticket {own}"), asked, result("c1", {"seen": own})]
        return [
            ("model", "m", {"messages": told[:1]}, asked),
            ("tool", "find", {"arguments": {"x": own}, "call_id": "c1"}, {"seen": U1}),
            ("model", "m", {"messages": told}, "ok"),
        ]

    assert 0 == replayed(story(U1), story(U1), "uuids").exit_code
    mixed = [story(U2)[0], story(U2)[1], story(U3)[2]]
    assert 1 == replayed(story(U1), mixed, "uuids").exit_code


def test_a_normaliser_leaves_placeholders_alone_and_sets_of_private_values_are_sets():
    people = [{"mail": f"{name}@acme-mail.com", "n": n} for n, name in enumerate(("ann", "bob", "eve"))]
    rules = default_policy()
    assert 0 == replayed([call(x=people)], [call(x=people[::-1])], "unordered:arguments.x", policy=rules).exit_code
    written = "mail ann@acme-mail.com 7 times"
    specs = ("numbers:arguments.x", "regex:arguments.x:[0-9a-z]{5,}", "timestamps", "addresses")
    assert 0 == replayed([call(x=written)], [call(x=written.replace("7", "8"))], *specs, policy=rules).exit_code


@pytest.mark.parametrize(
    "spec",
    ["", "nothing", "numbers", "unordered:", "regex", "regex:a", "regex:a:", "regex:a:(", "regex:a:x*", "regex::(?=a)|b?"],
)
def test_what_is_no_normaliser_is_refused_with_its_words(spec):
    with pytest.raises(UsageError) as caught:
        declared([spec])
    assert "replay.normalizer" == caught.value.code


def test_a_file_holds_one_a_line():
    assert ("uuids", "regex:a:# x") == lines_of("# learned\n\n  uuids\nregex:a:# x\n")


# --- learning -----------------------------------------------------------------------------------------------------------


def taught(first, second, policy=None, **more):
    cassettes = [record(steps, policy=policy, **more) for steps in (first, second)]

    def compare(normalizers):
        return Watching(*cassettes, redactor=compile_policy(policy or off_policy(), key=OTHER_KEY), normalizers=normalizers)

    return learn(compare)


def specs(lesson):
    return [one.spec for one in lesson.learned]


@pytest.mark.parametrize(
    ("was", "now", "spec"),
    [
        (U1, U2, "uuids:request.arguments.x"),
        (f"for {U1} now", f"for {U2} now", "uuids:request.arguments.x"),
        ("2026-01-31", "2027-02-01", "timestamps:request.arguments.x"),
        ([{"at": "2026-01-31T10:00:00Z"}], [{"at": "2026-01-31T10:00:09Z"}], "timestamps:request.arguments.x[*].at"),
        (MEMORY, OTHER_MEMORY, "addresses:request.arguments.x"),
        (["b", "a", "c"], ["c", "a", "b"], "unordered:request.arguments.x"),
        (
            "req_8f3a2b9c01", "req_91cc02d7ef",
            "regex:request.arguments.x:(?<![0-9A-Za-z_-])req_[0-9a-f]{10}(?![0-9A-Za-z_-])",
        ),
    ],
)  # fmt: skip
def test_one_kind_of_value_is_learned_as_one_normaliser_that_makes_the_recordings_equal(was, now, spec):
    lesson = taught([call(x=was, y=1)], [call(x=now, y=1)])
    assert ([spec], True) == (specs(lesson), lesson.equal)
    assert 0 == replayed([call(x=was, y=1)], [call(x=now, y=1)], *specs(lesson)).exit_code


def test_equal_recordings_teach_nothing():
    lesson = taught([call(x=U1)], [call(x=U1)])
    assert ([], (), True) == (specs(lesson), lesson.not_learned, lesson.equal)


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (40, 50),
        ("paid", "refused"),
        ("ord-7", "ord-8"),
        ("A-100001", "A-100002"),
        ("The parcel is late and was lost.", "The parcel is here and was found."),
        (True, False),
        ({"a": 1}, {"a": 1, "b": 2}),
        (5, "5"),
        (["a", "b"], ["a", "c"]),
        ("refund2025x", "return2026x"),
        (f"refund {U1}", f"refuse {U2}"),
        ("2026-01-31 paid 40", "2026-02-01 paid 50"),
    ],
)
def test_a_difference_that_may_mean_something_is_never_learned(was, now):
    lesson = taught([call(x=was)], [call(x=now)])
    assert ([], False) == (specs(lesson), lesson.equal)
    assert lesson.not_learned[0]["reason"]


def test_a_counter_is_learned_from_two_steps_and_not_from_one():
    lesson = taught([call(x=n) for n in (101, 102, 105)], [call(x=n) for n in (7, 8, 11)])
    assert ["numbers:request.arguments.x"] == specs(lesson)
    assert [] == specs(taught([call(x=n) for n in (101, 102)], [call(x=n) for n in (7, 9)]))


def test_two_kinds_in_one_text_are_both_learned():
    lesson = taught([call(x=f"{U1} at 2026-01-31")], [call(x=f"{U2} at 2026-02-01")])
    assert ["timestamps:request.arguments.x", "uuids:request.arguments.x"] == specs(lesson)


def test_what_an_answer_or_the_input_brought_in_needs_no_normaliser():
    def run(own):
        return [("tool", "new", {"arguments": {}}, {"id": own}), call(x=own, note=f"about {own}!")]

    lesson = taught(run(U1), run(U2))
    assert ([], True) == (specs(lesson), lesson.equal)


def test_a_call_that_only_one_recording_has_is_not_learned():
    lesson = taught([call(x=1)], [call(x=1), ("tool", "mail", {"arguments": {"to": "x"}}, 1)])
    assert ([], False) == (specs(lesson), lesson.equal)


def test_a_value_inside_json_text_is_learned_where_the_text_stands():
    def run(at):
        told = [text("user", "q"), asks(("c1", "f", {})), result("c1", f'{{"at": "{at}", "n": 1}}')]
        return [("tool", "f", {"arguments": {}, "call_id": "c1"}, {"n": 1}), ("model", "m", {"messages": told}, "ok")]

    lesson = taught(run("2026-01-31"), run("2026-02-01"))
    assert ["timestamps:request.messages[*].parts[*].response"] == specs(lesson)
    assert lesson.equal


def test_a_lesson_of_private_values_shows_none():
    def run(own):
        return [call(x=f"{own} for ann@acme-mail.com")]

    lesson = taught(run(U1), run(U2), default_policy())
    assert ["uuids:request.arguments.x"] == specs(lesson)
    assert "acme" not in str(lesson.as_json())


_WORDS = st.text(alphabet="abcdefgh 0123456789-:._", min_size=1, max_size=30)


@given(_WORDS, _WORDS)
@settings(max_examples=60, deadline=None)
def test_whatever_is_learned_makes_the_recordings_equal_and_every_piece_of_it_is_needed(was, now):
    lesson = taught([call(x=was)], [call(x=now)])
    names = specs(lesson)
    assert lesson.equal == (0 == replayed([call(x=was)], [call(x=now)], *names).exit_code)
    for spec in names:
        assert 1 == replayed([call(x=was)], [call(x=now)], *(n for n in names if n != spec)).exit_code


@given(st.uuids(), st.uuids(), st.datetimes(), st.datetimes(), _WORDS)
@settings(max_examples=40, deadline=None)
def test_values_of_known_kinds_in_equal_words_are_learned_by_their_kind(u, v, t, s, words):
    first, second = (f"{words} | {a} | {b.isoformat()}Z" for a, b in ((u, t.replace(year=2026)), (v, s.replace(year=2027))))
    lesson = taught([call(x=first)], [call(x=second)])
    assert lesson.equal
    assert {name.partition(":")[0] for name in specs(lesson)} <= {"uuids", "timestamps"}
