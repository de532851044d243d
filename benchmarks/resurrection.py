"""Responses rebuilt from spans, against what the provider had sent when the spans were made.

For each model call of a capture (a folder with ``otlp.jsonl`` and, as ``truth.jsonl``, what crossed the wire) the
provider's response is rebuilt from its event, as a stub would serve it, and both are read by the provider's own SDK. Each leaf
of the object falls in one class:

    equal    the same value
    neutral  filled in, and listed as assumed; or an optional field left out: nowhere in the spans of the event
    gap      in a field that the event says is missing
    told     another value stands in the spans, and not the one that was sent
    lost     not rebuilt, though the spans of the event hold the value
    wrong    rebuilt as another value
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.harness import Row, Setting
from otelreplay.errors import InputError
from otelreplay.events import Event
from otelreplay.events.fields import within
from otelreplay.inputs import Tally
from otelreplay.pipeline.convert import recordings
from otelreplay.pipeline.intake import Intake
from otelreplay.pipeline.spool import Spool
from otelreplay.providers import CODECS
from otelreplay.replay.answers import Absent, Served, answer
from otelreplay.stubs.replies import CODEC_OF, reply_for
from otelreplay.wiring.converting import batches
from otelreplay.wiring.policies import policy_named, redactor_of
from otelreplay.wiring.settings import open_keyring

CAPTURES: Final = Path(__file__).parents[2] / "shared" / "corpus" / "captures"
APIS: Final = {"gemini.generate": "gemini.generate_content"}
CLASSES: Final = ("equal", "neutral", "gap", "told", "lost", "wrong")


@dataclass(frozen=True)
class Request:
    """What a program of the capture had asked for."""

    api: str
    model: str
    body: dict[str, Any]
    stream: bool = False


@dataclass
class Score:
    """Leaves by class, and which they were."""

    capture: str
    calls: int = 0
    unanswered: list[str] = field(default_factory=list)
    """Calls of which the recording holds no answer, with why."""
    leaves: Counter[str] = field(default_factory=Counter)
    listed: list[tuple[str, str, Any, Any]] = field(default_factory=list)
    """Class, path, sent and rebuilt value of each leaf that is not equal."""


def captures(pattern: str = "*") -> list[Path]:
    """The folders that hold spans and what was sent."""
    return [path for path in sorted(CAPTURES.glob(pattern)) if (path / "truth.jsonl").exists()]


def events_of(capture: Path, folder: Path) -> list[Event]:
    """The events of a capture; nothing is redacted."""
    redactor, _ = redactor_of(policy_named("off"), keyring=open_keyring())
    source = batches([str(capture / "otlp.jsonl")], lambda _: None, Tally())
    try:
        with Spool(folder) as spool:
            return [e for r in recordings(source, redactor=redactor, spool=spool, intake=Intake()) for e in r.events]
    except InputError:  # log records without a trace
        return []


def score(capture: Path) -> Score:
    """What became of each response of a capture."""
    truths = [json.loads(line) for line in (capture / "truth.jsonl").read_text(encoding="utf-8").splitlines() if line]
    truths = [t for t in truths if t.get("boundary") == "model" and isinstance(t.get("response"), dict)]
    with TemporaryDirectory(prefix="otelreplay-bench-") as folder:
        events = [e for e in events_of(capture, Path(folder)) if e.kind == "model"]
    spans = texts_of(capture)
    found = Score(capture.name)
    for truth, event in paired(truths, events):
        found.calls += 1
        got = None if event is None else answer(event, None, stream=False, wire=True)
        if event is None or not isinstance(got, Served):
            found.unanswered.append(f"{got.mark.field}: {got.mark.cause}" if isinstance(got, Absent) else "no event")
            continue
        of_event = "\n".join(text for span in event.spans for text in spans.get(span, ()))
        _compare(found, truth, got, (of_event, (capture / "otlp.jsonl").read_text(encoding="utf-8")))
    return found


def texts_of(capture: Path) -> dict[str, list[str]]:
    """The JSON of each span and of the log records that belong to it, by ``trace/span``."""
    found: dict[str, list[str]] = {}
    for line in (capture / "otlp.jsonl").read_text(encoding="utf-8").splitlines():
        waiting = [json.loads(line)] if line else []
        while waiting:
            item = waiting.pop()
            if isinstance(item, dict) and isinstance(item.get("spanId"), str) and "traceId" in item:
                text = json.dumps(item, ensure_ascii=False)
                found.setdefault(f"{item['traceId']}/{item['spanId']}".lower(), []).append(text)
            elif isinstance(item, dict):
                waiting += item.values()
            elif isinstance(item, list):
                waiting += item
    return found


def paired(truths: list[dict[str, Any]], events: list[Event]) -> list[tuple[dict[str, Any], Event | None]]:
    """Each response with its event: by its id, else by what it says, else by what was asked."""
    left = list(events)
    out: list[tuple[dict[str, Any], Event | None]] = []
    for truth in truths:
        api = APIS.get(truth["api"], truth["api"])
        codec = CODECS[CODEC_OF.get(api, api)]
        sent = codec.decode_response(truth["response"])
        asked = codec.decode_request(truth.get("request"))
        best = max(left, key=lambda e: _likeness(e, sent, asked), default=None)
        if best is not None and _likeness(best, sent, asked) > (0, 0, 0):
            left.remove(best)
            out.append((truth, best))
        else:
            out.append((truth, None))
    return out


def _likeness(event: Event, sent: dict[str, Any], asked: dict[str, Any]) -> tuple[int, int, int]:
    response = event.response or {}
    same_id = response.get("id") == sent.get("id") is not None
    said = _said(response.get("messages"))
    turns = len(asked.get("messages") or []) == len(event.request.get("messages") or [])
    return int(same_id), int(bool(said) and said == _said(sent.get("messages"))), int(turns)


def _said(messages: Any) -> list[Any]:
    """Texts and calls of the messages, without what only one API has."""
    keys = {"text": ("content",), "tool_call": ("name", "arguments")}
    parts = [p for m in messages or () for p in m.get("parts", ()) if isinstance(p, dict) and p.get("type") in keys]
    return sorted(json.dumps([p["type"], *(p.get(key) for key in keys[p["type"]])], sort_keys=True, default=str) for p in parts)


# ---- one response ------------------------------------------------------------------------------------------------------

ABSENT: Final = "(absent)"


@dataclass(frozen=True)
class Pair:
    """The leaves that were sent and those that were rebuilt, and what is known of those that differ."""

    sent: dict[str, Any]
    made: dict[str, Any]
    assumed: frozenset[str]
    gaps: tuple[str, ...]
    telemetry: str
    """The spans of the event, and the log records that belong to them."""
    everything: str

    def classed(self, path: str) -> str:
        """The class of a leaf."""
        if path in self.sent and path in self.made and same(self.sent[path], self.made[path]):
            return "equal"
        if any(path == a or path.startswith((f"{a}.", f"{a}[")) for a in self.assumed):
            return "neutral"
        if any(path.startswith(_PLACES.get(gap.split("[")[0], ("\0",))) for gap in self.gaps):
            return "gap"
        if path not in self.made:
            return "lost" if self.held(self.sent[path]) else "neutral"
        told = any(text in self.telemetry or text in self.everything for text in _spellings(self.made[path]))
        return "told" if told and (path not in self.sent or not self.held(self.sent[path])) else "wrong"

    def held(self, value: Any) -> bool:
        """Whether the spans hold a value that says by itself what it is."""
        return _telling(value) and _written(value) in self.telemetry


def _compare(found: Score, truth: dict[str, Any], got: Served, telemetry: tuple[str, str]) -> None:
    api = APIS.get(truth["api"], truth["api"])
    reply = reply_for(Request(api, "", truth.get("request") or {}), got)
    pair = Pair(
        sent=dict(leaves(read(api, truth["response"]))),
        made=dict(leaves(read(api, json.loads(reply.body)))),
        assumed=frozenset(path.partition(":")[0] for path in reply.assumed),
        gaps=tuple(m.field for m in got.event.missing if within(m.field, "response") or within("response", m.field)),
        telemetry=telemetry[0],
        everything=telemetry[1],
    )
    for path in sorted({*pair.sent, *pair.made}):
        name = pair.classed(path)
        found.leaves[name] += 1
        if name != "equal":
            found.listed.append((name, path, pair.sent.get(path, ABSENT), pair.made.get(path, ABSENT)))


_PLACES: Final = {
    "response": ("",),
    "response.messages": ("choices", "output", "content", "candidates"),
    "response.finish_reasons": ("choices", "status", "stop_reason", "candidates"),
    "response.usage": ("usage",),
}


_COMMON: Final[tuple[Any, ...]] = (None, True, False, "auto", "default", "completed", "text", "stop", "disabled", [], {})


def _telling(value: Any) -> bool:
    """Whether a value says by itself what it is: ``0`` or ``auto`` may stand anywhere."""
    return len(str(value)) >= 4 and value not in _COMMON


def _spellings(value: Any) -> set[str]:
    """A value as JSON, also as JSON inside of JSON."""
    written = {_written(value), json.dumps(value).strip('"')}
    return written | {json.dumps(text)[1:-1] for text in written}


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1] if isinstance(value, str) else json.dumps(value)


def read(api: str, body: Any) -> Any:
    """The body as the provider's SDK reads it, and writes it again."""
    return _reader(api)(body)


def _reader(api: str) -> Any:
    if api == "gemini.generate_content":
        from google.genai.types import GenerateContentResponse

        written: dict[str, Any] = {"mode": "json", "exclude_none": True, "by_alias": True}
        return lambda body: GenerateContentResponse.model_validate(body).model_dump(**written)
    module = "anthropic" if api.startswith("anthropic.") else "openai"
    home, name = {
        "anthropic.messages": ("anthropic.types", "Message"),
        "openai.responses": ("openai.types.responses", "Response"),
    }.get(api, ("openai.types.chat", "ChatCompletion"))
    kind, construct = getattr(import_module(home), name), import_module(f"{module}._models").construct_type
    return lambda body: construct(type_=kind, value=body).model_dump(mode="json", exclude_none=True, warnings=False)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each value that holds no other, by its path. Null and nothing are the same on the SDK's object."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for n, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{n}]")
    else:
        yield path, value


def same(sent: Any, made: Any) -> bool:
    """Equal; arguments are JSON text whose white space is not kept."""
    if sent == made or not isinstance(sent, str) or not isinstance(made, str):
        return bool(sent == made)
    try:
        return bool(json.loads(sent) == json.loads(made))
    except ValueError:
        return False


def bench(_: Setting) -> Iterator[Row]:
    """Leaves of all responses, by class; none may be lost or wrong."""
    scores = [score(capture) for capture in captures()]
    if not scores:
        yield Row("responses rebuilt from spans", "no captures here")
        return
    total: Counter[str] = Counter()
    for one in scores:
        total += one.leaves
    held = total["equal"] + total["lost"] + total["wrong"]
    calls, lacking = sum(s.calls for s in scores), sum(len(s.unanswered) for s in scores)
    yield Row(
        f"responses rebuilt from spans, {len(scores)} captures",
        f"{calls - lacking} of {calls}",
        f"{lacking} without a recorded answer",
    )
    yield Row(
        "fields of them that the convention carries, equal",
        f"{100 * total['equal'] / held:.2f} %",
        f"{total['equal']} of {held}; neutral {total['neutral']}, told otherwise {total['told']}",
        "100 %",
        total["equal"] == held,
    )
