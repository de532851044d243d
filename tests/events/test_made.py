"""Events that are put together without a check are events like any other."""

from __future__ import annotations

import pytest

from otelreplay.events import Event, Inferred, changed, made

_MEMBERS = {name: None if field.is_required() else field.get_default() for name, field in Event.model_fields.items()}
_GIVEN = {**_MEMBERS, "seq": 3, "id": "t/s", "kind": "tool", "name": "look", "request": {"arguments": {"n": 4.0}}}


def test_a_made_event_equals_one_that_was_checked_and_says_the_same() -> None:
    checked = Event(**_GIVEN)
    event = made(Event, dict(_GIVEN))
    assert event == checked
    assert event.model_dump_json(by_alias=True) == checked.model_dump_json(by_alias=True)
    assert event.model_extra == {}


def test_a_made_mark_equals_one_that_was_checked() -> None:
    members = {"field": "request.arguments", "source": "t/s:x", "rule": "r"}
    mark = made(Inferred, dict(members))
    assert mark == Inferred(**members)
    assert hash(mark) == hash(Inferred(**members))
    assert mark.model_dump(by_alias=True) == Inferred(**members).model_dump(by_alias=True)


def test_a_changed_event_is_a_new_one_and_keeps_members_of_later_versions() -> None:
    event = Event(**_GIVEN, later="kept")
    other = changed(event, request_keys={"name": "sha256:0"})
    assert other.request_keys == {"name": "sha256:0"}
    assert event.request_keys == {}
    assert other.model_extra == {"later": "kept"}
    assert changed(Event(**_GIVEN), name="other").name == "other"


def test_a_made_event_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        made(Event, dict(_GIVEN)).name = "other"
