"""Line 1 of a cassette: what it is, where it came from, and which rules it was made under."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from otelreplay import canonical
from otelreplay.errors import CassetteFormatError, IntegrityError, UsageError
from otelreplay.events import Recording

FORMAT = "1"
SEMANTICS: dict[str, Any] = {"events": 1, "matching": 1}
"""Meanings that may change without the form changing; a reader of a later version keeps the old ones for old cassettes."""

_RUN_ID = re.compile(r"[0-9a-f]{1,64}")
_ROOT = re.compile(r"[0-9a-f]{64}")
_FORMAT = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?(-[a-z]{1,16})?")
_MEMBERS_ALWAYS = frozenset({"format", "semantics", "run_id", "revision"})


def moment(text: str) -> datetime:
    """An RFC 3339 time with a zone; raises ValueError for anything else."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError("a time needs a zone, such as 2026-01-31T12:00:00Z")
    try:
        return found.astimezone(UTC)
    except OverflowError:
        raise ValueError("a time beyond the calendar") from None


class Retention(BaseModel):
    """How long a cassette may be kept, and why it is."""

    model_config = ConfigDict(frozen=True, extra="allow")

    expires: str | None = None
    """RFC 3339 time from which it is refused unless asked for."""
    purpose: str | None = None
    classification: str | None = None

    @field_validator("expires")
    @classmethod
    def _is_a_time(cls, value: str | None) -> str | None:
        if value is not None:
            moment(value)
        return value


class Parent(BaseModel):
    """The sealed cassette that this one is a revision or a fork of."""

    model_config = ConfigDict(frozen=True, extra="allow")

    root: str = Field(pattern=r"^[0-9a-f]{64}$")
    kind: Literal["revision", "fork"]
    reason: str
    run_id: str | None = Field(default=None, pattern=r"^[0-9a-f]{1,64}$")
    edits: list[dict[str, Any]] = []
    """Of a fork: ``seq`` and ``field`` of each value that was set by hand."""


class Header(BaseModel):
    """See ``docs/cassette-format.md`` for every member. Members of later versions are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    format: str = FORMAT
    semantics: dict[str, Any] = SEMANTICS
    run_id: str = Field(pattern=r"^[0-9a-f]{1,64}$")
    revision: int = Field(default=1, ge=1, le=999_999)
    trace_ids: tuple[str, ...] = ()
    source: Any = None
    created: str | None = None
    """RFC 3339; passed in, never read from a clock here."""
    policy: dict[str, Any] | None = None
    """The redaction policy itself, without registered secrets."""
    policy_digest: str | None = None
    detectors: dict[str, Any] = {}
    """Detector pack → version."""
    key_epoch: int | str | None = None
    retention: Retention = Retention()
    placeholders: list[Any] = []
    parent: Parent | None = None
    draft: dict[str, Any] | None = None
    """Of a fork that was not replayed yet: the completeness that its seal will have."""
    continues: str | None = None
    versions: dict[str, Any] = {}
    resources: list[dict[str, Any]] = []
    scopes: list[str] = []

    def expired(self, now: datetime) -> bool:
        """True from the moment that ``retention.expires`` names."""
        return self.retention.expires is not None and now >= moment(self.retention.expires)

    def line(self) -> bytes:
        """The header's line, newline included; members that hold their default are left out."""
        members: dict[str, Any] = {"type": "header"}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if name in _MEMBERS_ALWAYS or value != field.default:
                members[name] = value.model_dump(exclude_defaults=True) if isinstance(value, BaseModel) else value
        for name, value in (self.model_extra or {}).items():
            members.setdefault(name, value)
        members["trace_ids"] = list(self.trace_ids)
        return canonical.dumps(members) + b"\n"


def header_for(recording: Recording, **members: Any) -> Header:
    """A header of revision 1 for a recording; ``members`` are further fields of :class:`Header`."""
    return Header(
        run_id=recording.run_id,
        trace_ids=recording.trace_ids,
        resources=list(recording.resources),
        scopes=list(recording.scopes),
        continues=recording.continues,
        **members,
    )


def parse_header(line: bytes, where: str = "line 1") -> Header:
    """The header that a first line holds; raises CassetteFormatError."""
    try:
        members = canonical.loads(line)
    except (ValueError, CassetteFormatError):
        members = None
    if not isinstance(members, dict) or members.pop("type", None) != "header":
        raise CassetteFormatError(
            "this is not a cassette: its first line is not a header",
            code="cassette.not_a_cassette", where=where, next_step="give a *.cassette.jsonl file made by otelreplay",
        )  # fmt: skip
    _check_format(members.get("format"), where)
    try:
        return Header.model_validate(members)
    except ValidationError as error:
        names = ", ".join(sorted({_safe(str(e["loc"][0])) for e in error.errors() if e["loc"]}))
        raise CassetteFormatError(
            f"the header has members of the wrong form: {names}", code="cassette.header", where=where
        ) from None


def _safe(name: str) -> str:
    return name if name in Header.model_fields else "a further member"


def _check_format(found: Any, where: str) -> None:
    if found == FORMAT:
        return
    shown = found if isinstance(found, str) and _FORMAT.fullmatch(found) else None
    step = "update otelreplay to a version that reads it" if shown else ""
    if shown == f"{FORMAT}-draft":
        step = "make it again from its trace: a draft of a format is not kept"
    raise CassetteFormatError(
        f"format {shown} is not the one this version reads ({FORMAT})" if shown else "the header names no format",
        code="cassette.newer_format" if shown else "cassette.header",
        where=where,
        next_step=step,
    )


def check_run_id(run_id: str) -> str:
    """The id itself, if it can be part of a file name: lower-case hex only."""
    if not _RUN_ID.fullmatch(run_id):
        raise UsageError("a run id is 1 to 64 lower-case hex digits", code="cassette.run_id")
    return run_id


def cassette_name(run_id: str, revision: int = 1) -> str:
    """``<run-id>.cassette.jsonl``; from revision 2 on ``<run-id>.rN.cassette.jsonl``."""
    return f"{check_run_id(run_id)}{f'.r{revision}' if revision > 1 else ''}.cassette.jsonl"


def next_revision(parent: Header, *, root: str, reason: str, created: str | None) -> Header:
    """Header of the complete new revision that replaces ``parent``, whose seal has ``root``."""
    link = Parent(root=root, kind="revision", reason=reason)
    return parent.model_copy(update={"revision": parent.revision + 1, "parent": link, "created": created})


def fork_of(parent: Header, *, root: str, run_id: str, reason: str, created: str | None) -> Header:
    """Header of an edited child with an id of its own."""
    if check_run_id(run_id) == parent.run_id:
        raise UsageError("a fork needs a run id of its own", code="cassette.fork_run_id")
    link = Parent(root=root, kind="fork", reason=reason, run_id=parent.run_id)
    return parent.model_copy(update={"run_id": run_id, "revision": 1, "parent": link, "created": created})


def check_lineage(child: Header, parent: Header, *, root: str) -> None:
    """Raise IntegrityError unless ``child`` says truly that it comes from ``parent``, whose seal has ``root``."""
    link = child.parent
    if link is None or link.root != root:
        fault = "it does not name the root of the one before"
    elif link.kind == "revision" and (child.run_id, child.revision) != (parent.run_id, parent.revision + 1):
        fault = "a revision keeps the run id and counts up by one"
    elif link.kind == "fork" and (child.run_id == parent.run_id or child.revision != 1 or link.run_id != parent.run_id):
        fault = "a fork has a run id of its own, starts at revision 1 and names its parent's run"
    else:
        return
    raise IntegrityError(fault, code="cassette.lineage", where=cassette_name(child.run_id, child.revision))
