"""A recorded response as the codec of one API writes it, whoever recorded it.

Conventions say some things in words of their own: why a model stopped, how many tokens of which kind, and what only one
provider says in attributes of their own. Here they become what the API has a place for; what it has none for is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from otelreplay.events import Event
from otelreplay.providers import anthropic_messages, gemini, openai_chat, openai_responses
from otelreplay.providers.fields import as_dict, as_list

Value = dict[str, Any]

_MODULES: Final = (openai_chat, openai_responses, anthropic_messages, gemini)
FINISH: Final[Mapping[str, Mapping[str, str]]] = {module.API: module.FINISH for module in _MODULES}
_USAGE: Final = {module.API: frozenset(name for _, name in module.USAGE) for module in _MODULES}

MEANT: Final[Mapping[str, str]] = {
    **{word.lower(): ours for table in FINISH.values() for word, ours in table.items()},
    "tool_call": "tool_call", "function_calls": "tool_call", "error": "error", "eos": "stop", "end": "stop",
    "completed": "stop", "complete": "stop", "finish_reason_stop": "stop", "finish_reason_max_tokens": "length",
    "content_filtered": "content_filter", "guardrail_intervened": "content_filter",
}  # fmt: skip
"""What a word means, in lower case and with ``_`` for ``-``: the words of all APIs, and those of frameworks."""

_BESIDE: Final = {
    "system_fingerprint": (
        "openai.response.system_fingerprint", "gen_ai.openai.response.system_fingerprint", "gen_ai.openai.system_fingerprint",
    ),
    "service_tier": ("openai.response.service_tier", "gen_ai.openai.response.service_tier"),
}  # fmt: skip
"""Fields of chat completions that instrumentations keep in attributes of their own."""


def fitted(response: Value, api: str, event: Event) -> tuple[Value, tuple[str, ...]]:
    """(the response for the codec of that name, what in it was translated)."""
    out = {**response, "extra": as_dict(as_dict(response.get("extra")).get(api))}
    if api == openai_chat.API:
        out["extra"] = dict(_beside(event)) | out["extra"]
    for name in (gemini.SDK_FIELDS | {"object"}) & out["extra"].keys():
        del out["extra"][name]
    if isinstance(response.get("messages"), list):
        out["messages"] = [_message(message, api) for message in response["messages"]]
    if isinstance(response.get("usage"), dict):
        out["usage"] = {name: value for name, value in response["usage"].items() if name in _USAGE[api]}
        if not out["usage"]:
            del out["usage"]
    translated = []
    words = list(as_list(response.get("finish_reasons")))
    for n, word in enumerate(words):
        said = _translated(word, api, calls=_calls(response, n))
        if said != word:
            words[n] = said
            translated.append(f"finish_reasons[{n}]: another word of the API for {_quoted(word)}")
    if words:
        out["finish_reasons"] = words
    return out, tuple(translated)


def _message(message: Any, api: str) -> Any:
    """A message without what SDKs and frameworks put on their own objects of it."""
    if not isinstance(message, dict) or not isinstance(message.get("parts"), list):
        return message
    out = {**message, "parts": [_part(part, api) if isinstance(part, dict) else part for part in message["parts"]]}
    if isinstance(message.get("extra"), dict) and message["extra"].get("parsed", 0) is None:
        out["extra"] = {key: value for key, value in message["extra"].items() if key != "parsed"}
    return out


def _part(part: Value, api: str) -> Value:
    kind = part.get("type")
    if kind == "tool_call" and api == openai_chat.API and (type(part.get("index")) is int or "function" in part):
        return {k: v for k, v in part.items() if k != "index" and not (k == "function" and v == {"parsed_arguments": None})}
    if kind == "text" and api == openai_responses.API and isinstance(part.get("id"), str) and "item" not in part:
        return {**{k: v for k, v in part.items() if k != "id"}, "item": {"id": part["id"]}}
    return part


def _calls(response: Value, n: int) -> bool:
    """Whether the message of that number calls a tool: Gemini's word for that is the one for any end."""
    message = as_dict(next(iter(as_list(response.get("messages"))[n : n + 1]), None))
    return any(as_dict(part).get("type") == "tool_call" for part in as_list(message.get("parts")))


def _translated(word: Any, api: str, *, calls: bool) -> Any:
    """A word in the API's vocabulary; one that is nobody's stays as it is."""
    if not isinstance(word, str) or word in FINISH[api] or (api == openai_responses.API and word in openai_responses.STATUSES):
        return word
    ours = MEANT.get(word[:100].lower().replace("-", "_"))
    ours = "tool_call" if ours == "stop" and calls else ours
    ours = "stop" if ours == "tool_call" and api == openai_responses.API else ours
    return next((theirs for theirs, meant in FINISH[api].items() if meant == ours), word)


def _quoted(word: str) -> str:
    return repr(word[:40])


def _beside(event: Event) -> Iterator[tuple[str, Any]]:
    also = event.attributes.get("otelreplay.also")
    held = [event.attributes, *(inner for inner in as_dict(also).values() if isinstance(inner, dict))]
    for name, attributes in _BESIDE.items():
        found = next((h[a] for h in held for a in attributes if isinstance(h.get(a), str)), None)
        if found is not None:
            yield name, found
