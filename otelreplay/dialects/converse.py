"""Span events whose content is in the blocks of Amazon Bedrock's Converse API: what Strands Agents writes.

    gen_ai.{system,user,assistant,tool}.message   content: [{"text"} | {"toolUse": {…}} | {"toolResult": {…}}]
    gen_ai.choice                                 message: the same, finish_reason
    on a tool's span: gen_ai.tool.message (content: the arguments), gen_ai.choice (message: the result's blocks)

The blocks tell it: objects without a ``type``; of a text that was cut, its beginning does. Spans of an agent and of its cycles
repeat the events of the model calls inside them, so only spans whose operation is a model's or a tool's are read. Source: the
Converse API's reference, and what Strands 1 writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.values import is_broken, is_cut, lift_system
from otelreplay.dialects.wire import json_of
from otelreplay.providers.converse_blocks import are_blocks, begin_blocks, parts_of, result_of_blocks

_ROLES: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE: Final = "gen_ai.choice"
_HOLDERS: Final = {**dict.fromkeys(_ROLES, "content"), _CHOICE: "message"}
_REMEDY: Final = "record the span events gen_ai.*.message and gen_ai.choice: no limit or processor may remove them"


class Converse:
    """The singleton of this module is :data:`DIALECT`."""

    name = "bedrock-converse-events"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        operation = view.span.attributes.get(sc.OPERATION)
        kind = sc.KIND_OF_OPERATION.get(operation) if isinstance(operation, str) else None
        if kind not in ("model", "tool") or not view.span.events:
            return None
        held = [(e.name, e.attributes.get(_HOLDERS[e.name]), e.attributes) for e in view.span.events if e.name in _HOLDERS]
        if not any(are_blocks(json_of(value)) or begin_blocks(value) for _, value, _ in held):
            return None
        reader = _Reader(view, kind, intern, remedy=_REMEDY)
        if kind == "model":
            reader.model(held)
        else:
            reader.tool(held)
        name = reader.attributes.get(sc.REQUEST_MODEL if kind == "model" else sc.TOOL_NAME)
        got = reader.reading(self.name, str(name or view.span.name or kind))
        return Reading(
            dialect=got.dialect, kind=got.kind, name=got.name, fields=got.fields, gaps=got.gaps, texts=got.texts,
            not_sent=frozenset({"request.system"}) if "request.messages" in got.fields and "request.system" not in got.fields
            and not reader.broken else frozenset(),
            took_events=got.took_events | {name for name, _, _ in held},
        )  # fmt: skip


DIALECT = Converse()


class _Reader(SpanReader):
    """Collects the fields of one span's events."""

    def event_value(self, name: str, value: Any, field: str) -> Any:
        """The value behind an event's text; None, and a gap, where it was cut."""
        if isinstance(value, str) and (is_cut(value, self.view.limit) or is_broken(value)):
            self.cut(name, field, len(value))
            return None
        return json_of(value)

    def model(self, held: Sequence[tuple[str, Any, Mapping[str, Any]]]) -> None:
        asked, said, reasons = [], [], []
        for name, value, attributes in held:
            side = "response.messages" if name == _CHOICE else "request.messages"
            blocks = self.event_value(name, value, side)
            if blocks is None:
                continue
            if name != _CHOICE:
                asked.append(self.intern.message({"role": _ROLES[name], "parts": parts_of(blocks)}))
                continue
            reason = attributes.get("finish_reason")
            reasons += [reason] if reason else []
            said.append(self.intern.message({"role": "assistant", "parts": parts_of(blocks)}))
        if asked and "request.messages" not in self.broken:
            parts, self.fields["request.messages"] = lift_system(asked)
            if parts:
                self.fields["request.system"] = parts
        if said and "response.messages" not in self.broken:
            self.fields["response.messages"] = said
        if reasons:
            self.fields["response.finish_reasons"] = reasons

    def tool(self, held: Sequence[tuple[str, Any, Mapping[str, Any]]]) -> None:
        for name, value, attributes in held:
            if attributes.get("id"):
                self.fields.setdefault("request.call_id", attributes["id"])
            if name == _CHOICE and not self.failed:
                self.fields["response.result"] = result_of_blocks(self.event_value(name, value, "response.result"))
            elif name != _CHOICE:
                given = self.event_value(name, value, "request.arguments")
                if given is not None:
                    self.fields["request.arguments"] = given
        if self.fields.get("response.result", 0) is None:
            del self.fields["response.result"]
