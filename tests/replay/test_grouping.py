"""Failures of many replays: which are one fault, and what tells the runs that have it from those that pass."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.replay.grouping import Case, Facts, facts_of, grouped
from tests.replay.builders import Tape, desk, record


def divergence(**more):
    return {
        "code": "replay.request_changed",
        "boundary": "tool",
        "operation": "find",
        "path": "request.arguments.limit",
        **more,
    }


def case(name, first=None, *, exit_code=1, began=None, events=3, features=None, **more):
    held = {key: frozenset(values) for key, values in (features or {}).items()}
    return Case(
        name=name, exit_code=exit_code, outcome="diverged" if exit_code else "as_recorded", first=first,
        facts=Facts(features=held, began=began, events=events), **more,
    )  # fmt: skip


def passed(name="p", **more):
    return case(name, exit_code=0, **more)


def names(groups):
    return [[one.name for one in group.cases] for group in groups]


def test_the_same_fault_at_another_place_of_the_history_is_one_group():
    one, other = (divergence(boundary="model", path=f"request.messages[{n}].parts[0].content") for n in (1, 7))
    (group,) = grouped([case("a", one), case("b", other)])
    assert group.path == "request.messages[*].parts[*].content"
    assert group.as_json()["count"] == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("order-10442", "order-99871"),
        ("6f1c2a4e-0b6b-4d6e-9b1a-2f3c4d5e6f70", "0f1c2a4e-0b6b-4d6e-9b1a-2f3c4d5e6f71"),
        ("x [email#abcdefghijklmnop] y", "x [email#ponmlkjihgfedcba] y"),
    ],
)
def test_ids_and_placeholders_in_the_name_of_an_operation_do_not_part_a_group(one, other):
    assert len(grouped([case("a", divergence(operation=one)), case("b", divergence(operation=other))])) == 1


@pytest.mark.parametrize(
    "more",
    [{"operation": "send"}, {"boundary": "retrieval"}, {"path": "request.arguments.order"}, {"code": "replay.missing_call"}],
)
def test_another_code_boundary_operation_or_path_is_another_group(more):
    assert len(grouped([case("a", divergence()), case("b", divergence(**more))])) == 2


def test_the_name_of_the_model_is_no_part_of_the_fault():
    found = [divergence(boundary="model", operation=name, path="request.tools") for name in ("m-1", "m-2")]
    (group,) = grouped([case("a", found[0]), case("b", found[1])])
    assert group.operation == ""


def test_runs_that_did_not_begin_are_grouped_by_their_error_and_others_by_their_outcome():
    groups = grouped([
        case("a", code="cassette.altered", problem="altered"), case("b", code="cassette.altered"), case("c"), passed(),
    ])  # fmt: skip
    assert [(group.code, len(group.cases)) for group in groups] == [("cassette.altered", 2), ("diverged", 1)]
    assert groups[0].as_json()["problem"] == "altered"


def test_the_largest_group_comes_first_and_passing_runs_are_in_none():
    send = divergence(operation="send")
    groups = grouped([case("a", divergence()), case("c", send), case("b", send), passed("z")])
    assert names(groups) == [["b", "c"], ["a"]]


def test_what_all_have_in_common_and_no_passing_run_has_tells_the_group():
    both = {"agent": {"desk"}, "model": {"m-2"}, "tool": {"find", "send"}}
    (group,) = grouped([
        case("a", divergence(), features=both), case("b", divergence(), features={**both, "tool": {"find"}, "place": {"eu"}}),
        passed(features={"agent": {"desk"}, "model": {"m-1"}, "tool": {"send"}}),
    ])  # fmt: skip
    assert group.common == {"agent": ("desk",), "model": ("m-2",), "tool": ("find",)}
    assert group.telling == {"model": ("m-2",), "tool": ("find",)}


def test_without_a_passing_run_nothing_tells():
    (group,) = grouped([case("a", divergence(), features={"model": {"m-2"}})])
    assert (group.common, group.telling, group.alone_in_time) == ({"model": ("m-2",)}, {}, False)


@pytest.mark.parametrize(("at", "alone"), [(5, True), (10, False), (15, False), (20, False), (25, True)])
def test_a_group_is_alone_in_time_if_no_passing_run_began_within_it(at, alone):
    (group,) = grouped([case("a", divergence(), began=20), case("b", divergence(), began=10), passed(began=at)])
    assert (group.began, group.alone_in_time) == ((10, 20), alone)
    assert group.as_json()["began"] == ["10", "20"]


def test_runs_without_a_time_say_nothing_of_it():
    (group,) = grouped([case("a", divergence()), passed(began=3)])
    assert (group.began, group.alone_in_time, group.as_json()["began"]) == (None, False, None)


def test_the_shortest_run_stands_for_its_group():
    (group,) = grouped([
        case("a", divergence(), events=9, reproduce="replay a"), case("b", divergence(path="request.arguments.limit"), events=2,
                                                                      reproduce="replay b"),
    ])  # fmt: skip
    assert (group.representative.name, group.as_json()["reproduce"]) == ("b", "replay b")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_the_runs_changes_nothing(drawn, chance: random.Random):
    cases = [
        case(f"{n}", divergence(operation=op), exit_code=int(failed), features={"op": {op, str(n % 2)}}, began=n)
        for n, (op, failed) in enumerate(drawn)
    ]
    mixed = list(cases)
    chance.shuffle(mixed)
    assert [g.as_json() for g in grouped(cases)] == [g.as_json() for g in grouped(mixed)]
    assert sum(len(g.cases) for g in grouped(cases)) == sum(1 for c in cases if c.exit_code)


def test_the_facts_of_a_cassette_are_what_runs_can_share():
    steps = desk(1)
    steps[1][2]["version"] = "7"
    resources = (
        {"service.name": "shop", "service.version": "2.1", "deployment.environment.name": "eu", "pid": 1},
        {"service.name": 3},
    )
    facts = facts_of(record(steps, resources=resources, scopes=("otelreplay 0.1",)))
    features = {name: {*values} for name, values in facts.features.items()}
    prompt = features.pop("prompt")
    assert features == {
        "agent": {"desk"}, "tool": {"find"}, "model": {"m"}, "provider": {"demo"}, "service": {"shop", "3"}, "version": {"2.1"},
        "place": {"eu"}, "scope": {"otelreplay 0.1"}, "tool version": {"7"},
    }  # fmt: skip
    assert len(prompt) == 1
    assert facts.events == 4
    assert facts.began == 1_000


def test_another_prompt_is_another_feature_and_the_same_one_is_not():
    def prompt(said):
        steps = desk(1)
        for step in steps:
            if step[0] == "model":
                step[2]["system"] = said
        return facts_of(record(steps)).features["prompt"]

    assert prompt("Be brief.") == prompt("Be brief.") != prompt("Be long.")


def test_a_cassette_without_events_or_times_has_facts_all_the_same():
    facts = facts_of(Tape().cassette())
    assert (facts.began, facts.events) == (None, 0)
    assert not facts.features.keys() & {"agent", "model", "tool"}
