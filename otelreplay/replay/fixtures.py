"""Fixtures: answers for events whose data the recording does not hold.

The file is a JSON object. A key is the ``seq`` of an event, or its ``id``; a value is an object with exactly one of

    {"result": VALUE}                               what the boundary gave
    {"response": {"messages": [...], ...}}          the event's whole response, for a model
    {"error": {"type": "TimeoutError", "message": "..."}}

Typed values (``$otelreplay``) are read as in a cassette. What is given for an event whose data is there is not used, and a note
says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from otelreplay import canonical
from otelreplay.errors import CassetteFormatError, UsageError
from otelreplay.events import Event, Failure

_FORMS: Final = ("result", "response", "error")


@dataclass(frozen=True, slots=True)
class Fixture:
    """One answer."""

    response: dict[str, Any] | None = None
    error: Failure | None = None


def read_fixtures(text: str, *, where: str = "fixtures") -> dict[int | str, Fixture]:
    """The fixtures of a file. Raises UsageError (``replay.fixture``)."""
    try:
        members = canonical.loads(text)
    except (ValueError, CassetteFormatError):
        members = None
    if not isinstance(members, dict):
        raise UsageError("not a JSON object of fixtures", code="replay.fixture", where=where, next_step=_ADVICE)
    return fixtures_of(members, where=where)


_ADVICE: Final = 'write it like {"4": {"result": 42}}'


def fixtures_of(given: Mapping[Any, Any], *, where: str = "fixtures") -> dict[int | str, Fixture]:
    """Fixtures by seq (int) or event id (text), from values in the form of the file, or results as they are.

    A value that is no object is a result.
    """
    return {
        _key(key): value if isinstance(value, Fixture) else _fixture(value, f"{where}: {_name(key)}")
        for key, value in given.items()
    }


def fixture_for(event: Event, fixtures: Mapping[int | str, Fixture]) -> Fixture | None:
    """The fixture of an event, by seq or by id."""
    return fixtures.get(event.seq) or fixtures.get(event.id)


def _key(key: Any) -> int | str:
    return int(key) if isinstance(key, str) and key.isascii() and key.isdecimal() and len(key) < 19 else key


def _name(key: Any) -> str:
    return str(_key(key)) if isinstance(_key(key), int) else "an event by id"


def _fixture(value: Any, where: str) -> Fixture:
    if not isinstance(value, dict):
        return Fixture(response={"result": value})
    if len(value) == 1:
        ((form, inner),) = value.items()
        if form == "result":
            return Fixture(response={"result": inner})
        if form == "response" and isinstance(inner, dict):
            return Fixture(response=inner)
        if form == "error" and isinstance(inner, dict):
            try:
                return Fixture(error=Failure.model_validate(inner))
            except ValidationError:
                pass
    raise UsageError(f"a fixture has exactly one of {', '.join(_FORMS)}", code="replay.fixture", where=where, next_step=_ADVICE)
