"""OpenTelemetry GenAI conventions up to 1.36: content in log records or span events, one a message.

    gen_ai.system.message  gen_ai.user.message  gen_ai.assistant.message  gen_ai.tool.message   body: one message
    gen_ai.choice                                                              body: {index, finish_reason, message}
    gen_ai.content.prompt / gen_ai.content.completion   (1.26, 1.27)           span events with JSON text in an attribute
    gen_ai.prompt / gen_ai.completion                   (the same, written as span attributes by hand)

The record's name is its ``event_name``, or the attribute ``event.name`` of SDKs before 1.37. Records carry no index: they stand
in the order of their times; among equal times the kinds stand in the order of a request, the choice last.

What bodies really look like in the wild, and is read here: provider messages (OpenAI), whole Gemini ``Content`` objects under
``content``, one choice per *chunk* of a stream (all but the last without a finish reason), ``<elided>`` for content switched
off.

The ugly thing: openai-v2 drops the text of an assistant message that also has tool calls. The choice of the call before still
has
it; ``reconstruct`` puts it back and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from otelreplay import semconv as sc
from otelreplay.dialects import packages as pk
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.spoken import spoken
from otelreplay.dialects.toolio import literal
from otelreplay.dialects.values import ELIDED, decoded, is_broken, is_cut, lift_system, normal_messages, read_messages
from otelreplay.events import Inferred, Mark, Message, Missing
from otelreplay.providers.converse_blocks import result_of_blocks
from otelreplay.providers.fields import as_list

_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.developer.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_EVENT_CONTENT = "gen_ai.event.content"
_CHOICE = "gen_ai.choice"
_RANK = {name: n for n, name in enumerate((*_ROLES, _CHOICE))}
_TEXTS = ("content", "message", "tool_calls", _EVENT_CONTENT)
_WHOLE = ('[{"', '{"')
"""How JSON begins that a package wrote, and nobody said."""
_OLDEST = {sc.LEGACY_PROMPT_EVENT: sc.LEGACY_PROMPT, sc.LEGACY_COMPLETION_EVENT: sc.LEGACY_COMPLETION}


class GenAIEvents:
    """The singleton of this module is :data:`DIALECT`."""

    name = "otel-genai-events"
    attribute_fields: Mapping[str, str] = {sc.LEGACY_PROMPT: "request.messages", sc.LEGACY_COMPLETION: "response.messages"}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        if not (view.logs or view.span.events or view.span.attributes.keys() & self.attribute_fields.keys()):
            return None
        operation = view.span.attributes.get(sc.OPERATION)
        if operation is not None and sc.KIND_OF_OPERATION.get(str(operation)) != "model":
            return None  # an agent's span, or one cycle of it, that repeats the events of the calls inside
        items = _items(view)
        oldest = _oldest(view)
        if not items and (
            not oldest or (oldest.keys() == {sc.LEGACY_COMPLETION} and not view.span.attributes.keys() & _OF_A_CALL)
        ):
            return None  # what a decorated function returned stands under the name of a completion, too (OpenLIT)
        fields: dict[str, Any] = {}
        gaps = list(_read_oldest(oldest, view, intern, fields))
        if items:
            _Records(view, items, intern).read(fields)
            gaps += [
                Missing(field=f, cause="content_not_captured", remedy=_switch(view))
                for f in ("request.messages", "response.messages")
                if f not in fields
            ]
        gaps = [gap for gap in gaps if gap.field not in fields]
        if "request.messages" in fields:
            parts, fields["request.messages"] = lift_system(fields["request.messages"])
            if parts:
                fields["request.system"] = parts
        cut = _cut_events(view)
        fields = {field: value for field, value in fields.items() if field not in cut}
        gaps = [*(gap for gap in gaps if gap.field not in cut), *cut.values()]
        attributes = view.span.attributes
        roles = {_ROLES[name] for name, _ in items if name in _ROLES}
        name = attributes.get(sc.REQUEST_MODEL) or attributes.get(sc.RESPONSE_MODEL) or view.span.name or "model"
        return Reading(
            dialect=self.name,
            kind="model",
            name=str(name),
            fields=fields,
            gaps=tuple(gaps),
            taken=frozenset(k for k in (sc.LEGACY_PROMPT, sc.LEGACY_COMPLETION) if k in attributes and not gaps),
            not_sent=frozenset() if not roles or "system" in roles else frozenset({"request.system"}),
            alternatives=sum(name == _CHOICE for name, _ in items) == len(fields.get("response.messages", ())) > 1,
            took_logs=any(r.name in _RANK for r in view.logs),
            drops_text_beside_calls=bool(items) and pk.package_of(view.span).drops_text_beside_calls,
            took_events=frozenset(e.name for e in view.span.events if e.name in _RANK or e.name in _OLDEST),
        )


DIALECT = GenAIEvents()


def _switch(view: SpanView) -> str:
    """What records content in the package that made a span; in those of OpenTelemetry, where that is not known."""
    package = pk.package_of(view.span)
    return pk.TRUE_AND_LOGS if package is pk.UNKNOWN else package.content


def _items(view: SpanView) -> list[tuple[str, Any]]:
    """(name, body) of every message record and message event, in order."""
    found = [((r.time or r.observed_time, _RANK[r.name]), r.name, r.body) for r in view.logs if r.name in _RANK]
    found += [((e.time, _RANK[e.name]), e.name, _event_body(e.attributes)) for e in view.span.events if e.name in _RANK]
    return [(name, body) for _, name, body in sorted(found, key=lambda i: i[0])]


def _cut_events(view: SpanView) -> dict[str, Missing]:
    """Field → why it cannot be read: an attribute of one of its events was cut. Bodies of log records never are."""
    found: dict[str, Missing] = {}
    for event in (e for e in view.span.events if e.name in _RANK):
        role = _ROLES.get(event.name)
        field = "response.messages" if role is None else "request.system" if role == "system" else "request.messages"
        for attribute, value in event.attributes.items():
            if attribute in _TEXTS and (
                is_cut(value, view.limit) or (isinstance(value, str) and value.startswith(_WHOLE) and is_broken(value))
            ):
                detail = f"{attribute} of {event.name} was cut after {len(value)} characters"
                found[field] = Missing(field=field, cause="truncated", detail=detail, remedy=pk.LENGTH_LIMIT)
    return found


def _event_body(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """A span event's attributes as the body that a log record would have: values that hold JSON text are decoded.

    Azure's SDKs and Semantic Kernel for .NET put the whole body into one attribute, also a list of choices.
    """
    whole = decoded(attributes.get(_EVENT_CONTENT))
    if isinstance(whole, list) and len(whole) == 1:
        whole = whole[0]
    if isinstance(whole, dict):
        return {**whole, "content": _spelled(whole["content"])} if "content" in whole else whole
    return {k: decoded(v) for k, v in attributes.items() if not k.startswith("gen_ai.system")}


def _spelled(content: Any) -> Any:
    """The text of ``{"text": {"value": …}}``, as Azure's agents write it; any other content as it is."""
    inner = content.get("text") if isinstance(content, dict) and content.keys() == {"text"} else None
    return inner["value"] if isinstance(inner, dict) and isinstance(inner.get("value"), str) else content


class _Records:
    """The messages of one span's records.

    Whether content was switched off is a matter of the whole span: where any record holds some, a record without any is an
    empty message; where none does, the records are skeletons that tell roles, call ids and names.
    """

    def __init__(self, view: SpanView, items: Sequence[tuple[str, Any]], intern: Interner) -> None:
        self.items = [(name, decoded(body)) for name, body in items]
        self.intern, self.key, self.switch = intern, view.span.key, _switch(view)
        self.captured = any(_holds_content(body) for _, body in self.items)

    def read(self, fields: dict[str, Any]) -> None:
        messages: list[Message] = []
        choices: list[Mapping[str, Any]] = []
        for name, body in self.items:
            if name == _CHOICE:
                choices.append(body if isinstance(body, dict) else {"message": body})
            else:
                messages += self.marked(_untold(_message(_ROLES[name], body), messages))
        if any(m.get("role") != "system" for m in messages):
            fields["request.messages"] = messages
        elif messages:
            fields["request.system"] = [part for m in messages for part in m["parts"]]
        replies, reasons = self.replies(choices)
        if replies:
            fields["response.messages"] = replies
        if reasons:
            fields["response.finish_reasons"] = reasons

    def marked(self, messages: Iterable[dict[str, Any]]) -> list[Message]:
        """Interned, with a mark on what a record does not hold."""
        return [self.intern.message(self.completed(m), tuple(self.marks(m))) for m in messages]

    def completed(self, message: dict[str, Any]) -> dict[str, Any]:
        """Where content was on, a result without any is an empty one."""
        if not self.captured or message.get("role") != "tool":
            return message
        return {**message, "parts": [p if "response" in p else {**p, "response": ""} for p in message["parts"]]}

    def marks(self, message: dict[str, Any]) -> Iterable[Mark]:
        if not message["parts"]:
            yield self.mark("parts")
        for n, part in enumerate(message["parts"]):
            field = {"tool_call": "arguments", "tool_call_response": "response"}.get(str(part.get("type")))
            if field and field not in part:
                yield self.mark(f"parts[{n}].{field}")

    def mark(self, field: str) -> Mark:
        if self.captured:
            return Inferred(field=field, source=self.key, rule="empty_content_in_record")
        return Missing(field=field, cause="content_not_captured", remedy=self.switch)

    def replies(self, choices: list[Mapping[str, Any]]) -> tuple[list[Message], list[Any]]:
        """Reply messages and finish reasons; the chunks of a stream are joined."""
        reasons = [c.get("finish_reason") for c in choices]
        given = [r for r in reasons if r is not None]
        bodies = [_choice_messages(c) for c in choices]
        if len(choices) > 1 and not any(reasons[:-1]):
            joined = _joined([m for body in bodies for m in body])
            if joined and given:
                joined["finish_reason"] = given[-1]
            return (self.marked([joined]) if joined else []), given
        out: list[Message] = []
        for reason, body in zip(reasons, bodies, strict=True):
            out += self.marked({**m, "finish_reason": reason} if reason is not None else m for m in body)
        return out, given


def _holds_content(body: Any) -> bool:
    """Does a record hold a text, a value, or a call with arguments?"""
    if not isinstance(body, dict):
        return body not in (None, *ELIDED)
    message = body.get("message")
    inner: dict[str, Any] = message if isinstance(message, dict) else {}
    calls = [c.get("function") for held in (body, inner) for c in as_list(held.get("tool_calls")) if isinstance(c, dict)]
    return any(held.get("content") not in (None, *ELIDED) for held in (body, inner)) or any(
        isinstance(f, dict) and f.get("arguments") is not None for f in calls
    )


def _message(role: str, body: Any) -> list[dict[str, Any]]:
    """The messages of one body; what it does not hold is left out of them."""
    if not isinstance(body, dict):
        return normal_messages({"role": role} if body in (None, *ELIDED) else {"role": role, "content": body})
    content = body.get("content")
    if isinstance(content, dict) and isinstance(content.get("parts"), (list, tuple)):
        return [
            m if role != "system" else {**m, "role": "system"}
            for m in normal_messages(_pruned({"role": content.get("role") or role, **content}))
        ]
    whole = {"role": role, **{k: v for k, v in body.items() if k != "id" and not (k == "content" and v in (None, *ELIDED))}}
    if role == "tool":
        return [_result(whole, body)]
    return normal_messages(_pruned(whole))


def _untold(found: list[dict[str, Any]], before: Sequence[Message]) -> list[dict[str, Any]]:
    """Without the answers that the records just before told already: some packages write them as a user's blocks, too."""
    told: set[Any] = set()
    for message in reversed(before):
        if message.get("role") != "tool":
            break
        told |= {p["id"] for p in message["parts"] if p.get("id")}
    if not told or not found or any(p.get("type") != "tool_call_response" for p in found[0]["parts"]):
        return found
    again = bool(found[0]["parts"]) and all(p.get("id") in told for p in found[0]["parts"])
    return found[1:] if again and all("response" in p for p in found[0]["parts"]) else found


def _result(whole: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """A tool's answer; without content it still tells whose answer it is."""
    call = whole.get("tool_call_id", body.get("id"))
    part = {"type": "tool_call_response", **({"id": call} if call is not None else {})}
    return {"role": "tool", "parts": [part | ({"response": result_of_blocks(whole["content"])} if "content" in whole else {})]}


_PAYLOAD = frozenset({"args", "response", "arguments", "input", "parameters"})
"""What a tool was given or gave: a null in it is a value."""


def _pruned(value: Any) -> Any:
    """Without the nulls that whole-object dumps are full of."""
    if isinstance(value, dict):
        return {k: v if k in _PAYLOAD else _pruned(v) for k, v in value.items() if v is not None}
    return [_pruned(v) for v in value] if isinstance(value, (list, tuple)) else value


def _choice_messages(choice: Mapping[str, Any]) -> list[dict[str, Any]]:
    inner = choice.get("message", {"content": choice["content"]} if "content" in choice else {})
    if not isinstance(inner, dict):
        return _message("assistant", inner)
    if "tool_calls" in choice and "tool_calls" not in inner:
        inner = {**inner, "tool_calls": choice["tool_calls"]}  # written beside the message by some packages
    return _message("assistant", inner)


def _joined(messages: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """One message out of the chunks of a stream: neighbouring texts are one text."""
    parts: list[dict[str, Any]] = []
    role = "assistant"
    for m in messages:
        role = m.get("role") or role
        for part in m["parts"]:
            if (
                parts
                and part.get("type") == "text" == parts[-1].get("type")
                and set(part) == set(parts[-1]) == {"type", "content"}
            ):
                parts[-1] = {"type": "text", "content": f"{parts[-1]['content']}{part['content']}"}
            else:
                parts.append(part)
    return {"role": role, "parts": parts} if parts else {}


def _is_stub(m: Any) -> bool:
    """Is it a list that stands for a turn of calls, and tells nothing of them (Langtrace)?"""
    return isinstance(m, list) and bool(m) and all(isinstance(c, dict) and c.keys() == {"id", "type"} for c in m)


_OF_A_CALL = {sc.OPERATION, sc.SYSTEM, sc.PROVIDER, sc.REQUEST_MODEL, sc.RESPONSE_MODEL, sc.FINISH_REASONS}
_CALLS = "gen_ai.response.tool_calls"
"""Where OpenLIT before 1.34 writes the calls of a reply, as Python prints them."""
_ONLY_TEXT = "only the text of messages is recorded, and this turn had none: the tools that it called are not told"


def _oldest(view: SpanView) -> dict[str, Any]:
    """``gen_ai.prompt`` and ``gen_ai.completion`` of span events or of the span itself."""
    found = {a: view.span.attributes[a] for a in (sc.LEGACY_PROMPT, sc.LEGACY_COMPLETION) if a in view.span.attributes}
    for event in view.span.events:
        attribute = _OLDEST.get(event.name)
        if attribute and attribute in event.attributes:
            found[attribute] = event.attributes[attribute]
    return found


def _read_oldest(oldest: dict[str, Any], view: SpanView, intern: Interner, fields: dict[str, Any]) -> Iterable[Missing]:
    for attribute, value in oldest.items():
        side, role = ("request.messages", "user") if attribute == sc.LEGACY_PROMPT else ("response.messages", "assistant")
        if is_cut(value, view.limit) or is_broken(value):
            yield Missing(
                field=side,
                cause="truncated",
                detail=f"{attribute} was cut after {len(value)} characters",
                remedy=pk.LENGTH_LIMIT,
            )
            continue
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        whole = decoded(value)
        if isinstance(whole, (list, tuple)) and whole and all(isinstance(text, str) for text in whole):
            whole = [{"role": role, "content": text} for text in whole]  # without roles: who said it is not told
        if isinstance(whole, (list, tuple)) and attribute == sc.LEGACY_PROMPT:
            whole = [{"role": "assistant"} if _is_stub(m) else m for m in whole]
        got = (
            read_messages(whole if isinstance(whole, (list, tuple)) else [whole], intern)
            if not isinstance(whole, str)
            else None
        )
        if got is None:
            called = literal(view.span.attributes.get(_CALLS)) if whole in ("", "None") and role == "assistant" else None
            if isinstance(called, list) and called and all(isinstance(c, dict) for c in called):
                fields[side] = [intern.message(m) for m in normal_messages({"role": role, "tool_calls": called})]
                continue
            if whole in ("", "None") and role == "assistant" and view.span.attributes.get(sc.FINISH_REASONS) != ["stop"]:
                yield Missing(field=side, cause="not_carried_by_convention", detail=_ONLY_TEXT)
                continue
            lost = Missing(field="parts", cause="not_carried_by_convention", detail=_ONLY_TEXT)
            got = [intern.message(m, () if m["parts"] else (lost,)) for m in spoken(str(whole), role)]
        fields[side] = got
