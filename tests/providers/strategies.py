"""Generated GenAI requests and responses, and provider bodies, in the form in which the codecs write them."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from otelreplay.providers import read_arguments

words = st.text(max_size=12)
names = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
ids = st.from_regex(r"[a-z]{2,5}_[0-9]{1,4}", fullmatch=True)
numbers = st.one_of(st.integers(-(2**60), 2**60), st.floats(allow_nan=False, allow_infinity=False))
counts = st.integers(0, 10**6)
scalars = st.one_of(st.none(), st.booleans(), numbers, words)
json_values = st.recursive(
    scalars, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)), max_leaves=8
)
objects = st.dictionaries(names, json_values, max_size=3)
schemas = st.fixed_dictionaries({"type": st.just("object"), "properties": objects})

KEYS = (
    "role", "content", "type", "text", "parts", "messages", "tool_calls", "function", "name", "arguments", "id",
    "input", "output", "choices", "message", "candidates", "contents", "functionCall", "function_call",
    "functionResponse", "usage", "usageMetadata", "summary", "source", "image_url", "file", "tools", "extra",
    "system_messages", "finish_reasons", "finish_reason", "value", "form", "item", "params", "system",
    "system_instruction", "config", "generationConfig", "instructions", "status", "incomplete_details",
    "reasoning_content", "refusal", "functionDeclarations", "parameters", "custom", "inlineData", "data", "url",
    "tool_call_id", "call_id", "joined", "file_data", "file_id", "inputSchema",
)  # fmt: skip
VALUES = (
    "assistant", "tool", "function", "user", "system", "model", "text", "message", "function_call", "reasoning",
    "tool_use", "tool_result", "custom", "generic", "image", "image_url", "file", "input_audio", "incomplete",
    "tool_call", "tool_call_response", "blob", "uri", "refusal", "input_image", "input_file", "thinking",
    "function_call_output", "custom_tool_call", "base64", "data:image/png;base64,AA==", "stop", "content",
    "tool_calls", "block", "item_reference", "unknown", "summary_text", "reasoning_text",
)  # fmt: skip

hostile = st.recursive(
    st.one_of(scalars, st.text(st.characters(codec=None), max_size=4), st.floats(), st.binary(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(words, st.sampled_from(KEYS)), st.one_of(inner, st.sampled_from(VALUES)), max_size=6),
    ),
    max_leaves=25,
)
"""JSON and worse, in which the words that the codecs look for are frequent."""


def maybe(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Any subset of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


def both(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """The dicts as one."""
    return st.tuples(*parts).map(lambda found: {k: v for part in found for k, v in part.items()})


def part(kind: str, /, **fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    """A part of that type: strategies as given, other values as they are."""
    whole = {k: v if isinstance(v, st.SearchStrategy) else st.just(v) for k, v in fields.items()}
    return st.fixed_dictionaries({"type": st.just(kind), **whole})


raw_arguments = st.one_of(st.sampled_from(["SELECT 1", '"SELECT 1"', '{"a":', "", "[1,"]), words).filter(
    lambda text: read_arguments(text) == text
)
arguments = st.one_of(objects, raw_arguments, st.lists(json_values, max_size=2), numbers, st.none(), st.booleans())

text = part("text", content=words)
blob = part("blob", modality="image", mime_type="image/png", content="aGVsbG8=")
unknown = part("hologram", depth=json_values)
opaque = part("redacted_thinking", data=words)


@dataclass(frozen=True)
class Api:
    """What one API can express."""

    text: Any
    """Parts of a user's message."""
    made: Any
    """Parts that the model made, beside its calls, in an order that the API keeps."""
    call: Any
    result: Any
    params: Any
    reason: Any
    """(the provider's word, the schema's)."""
    usage: Any
    extra: Any
    tool: Any
    choices: int = 1
    named: bool = False
    results: int = 1
    """Results of tools in one message."""


functions = both(part("function", name=names), maybe(description=words, parameters=schemas, strict=st.booleans()))
sampling = {"temperature": numbers, "top_p": numbers}

CHAT = Api(
    text=st.one_of(
        text,
        blob,
        part("uri", modality="image", uri="https://example.com/a.png"),
        part("blob", modality="audio", mime_type="audio/wav", content="AAAA"),
        part("file", modality="document", file_id=ids, filename=words),
        part("blob", modality="document", mime_type="application/pdf", content="AAAA"),
        unknown,
    ),
    made=st.tuples(
        st.lists(part("reasoning", content=words), max_size=1),
        st.lists(text, max_size=1),
        st.lists(part("text", content=words, form="refusal"), max_size=1),
    ).map(lambda groups: [p for group in groups for p in group]),
    call=st.one_of(
        part("tool_call", id=ids, name=names, arguments=arguments),
        part("tool_call", id=ids, name=names, arguments=words, form="custom"),
    ),
    result=part("tool_call_response", id=ids, response=st.one_of(words, st.just([{"type": "text", "text": "a"}]))),
    params=maybe(
        **sampling,
        max_tokens=counts,
        stop_sequences=st.lists(words, min_size=1, max_size=2),
        seed=counts,
        frequency_penalty=numbers,
        presence_penalty=numbers,
        stream=st.booleans(),
        **{"choice.count": counts, "reasoning.level": words},
    ),
    reason=st.sampled_from([("stop", "stop"), ("length", "length"), ("tool_calls", "tool_call"), ("odd", "odd")]),
    usage=both(
        st.fixed_dictionaries({"input_tokens": counts, "output_tokens": counts}),
        maybe(**{"cache_read.input_tokens": counts, "reasoning.output_tokens": counts}),
    ),
    extra=maybe(created=counts, system_fingerprint=words, service_tier=st.just("default")),
    tool=functions,
    choices=3,
    named=True,
)

RESPONSES = Api(
    text=st.one_of(
        text,
        blob,
        part("uri", modality="document", uri="https://example.com/a.pdf"),
        part("file", modality="image", file_id=ids, detail="low"),
        unknown,
    ),
    made=st.tuples(
        st.lists(
            st.one_of(
                both(part("reasoning"), maybe(content=words, encrypted_content=words), part("reasoning", item_id=ids)),
                part("reasoning", content="a\n\nb", summary=["a", "b"], item_id=ids),
                part("reasoning", content="full", form="reasoning_text", item_id=ids),
            ),
            max_size=2,
        ),
        st.lists(
            part("text", content=words, item=st.fixed_dictionaries({"id": ids, "status": st.just("completed")})), max_size=2
        ),
        st.lists(part("web_search_call", id=ids, action=objects), max_size=1),
    ).map(lambda groups: [p for group in groups for p in group]),
    call=st.one_of(
        part("tool_call", id=ids, name=names, arguments=arguments, item_id=ids, status="completed"),
        part("tool_call", id=ids, name=names, arguments=words, form="custom"),
    ),
    result=st.one_of(
        part("tool_call_response", id=ids, response=st.one_of(words, st.just([{"type": "input_text", "text": "a"}]))),
        part("tool_call_response", id=ids, response=words, form="custom"),
    ),
    params=maybe(
        **sampling,
        max_tokens=counts,
        stream=st.booleans(),
        **{"reasoning.level": words, "previous_response.id": ids},
    ),
    reason=st.sampled_from([("completed", "stop"), ("max_output_tokens", "length"), ("failed", "error")]),
    usage=both(
        st.fixed_dictionaries(
            {
                "input_tokens": counts,
                "output_tokens": counts,
                "cache_read.input_tokens": counts,
                "reasoning.output_tokens": counts,
            }
        ),
    ),
    extra=maybe(created_at=counts, service_tier=st.just("default"), store=st.booleans()),
    tool=st.one_of(functions, part("web_search", search_context_size=words), part("namespace", name=names, tools=[])),
)

ANTHROPIC = Api(
    text=st.one_of(
        text,
        blob,
        part("blob", modality="document", mime_type="application/pdf", content="AAAA", title=words),
        part("uri", modality="image", uri="https://example.com/a.png"),
        part("file", modality="document", file_id=ids),
        unknown,
        part("text", content=words, cache_control=st.just({"type": "ephemeral"})),
    ),
    made=st.lists(st.one_of(text, part("reasoning", content=words, signature=words), opaque), max_size=3),
    call=part("tool_call", id=ids, name=names, arguments=objects),
    result=both(part("tool_call_response", id=ids, response=words), maybe(is_error=st.booleans())),
    params=maybe(
        **sampling,
        top_k=counts,
        max_tokens=counts,
        stop_sequences=st.lists(words, max_size=2),
        stream=st.booleans(),
        **{"reasoning.level": words},
    ),
    reason=st.sampled_from(
        [("end_turn", "stop"), ("stop_sequence", "stop"), ("tool_use", "tool_call"), ("pause_turn", "pause_turn")]
    ),
    usage=both(
        st.fixed_dictionaries({"input_tokens": counts, "output_tokens": counts}),
        maybe(**{"cache_read.input_tokens": counts, "cache_write.input_tokens": counts}),
    ),
    extra=maybe(stop_sequence=words, container=objects),
    tool=st.one_of(functions, part("web_search_20250305", name="web_search", max_uses=counts)),
    results=2,
)

GEMINI = Api(
    text=st.one_of(
        text,
        blob,
        part("uri", modality="video", mime_type="video/mp4", uri="gs://bucket/a.mp4"),
        part("executableCode", executableCode=objects.map(lambda o: {"code": "1", **o})),
    ),
    made=st.lists(
        st.one_of(
            text, part("reasoning", content=words, thoughtSignature=words), part("text", content=words, thoughtSignature=words)
        ),
        max_size=3,
    ),
    call=both(part("tool_call", name=names, arguments=objects), maybe(id=ids, thoughtSignature=words)),
    result=both(part("tool_call_response", name=names, response=objects), maybe(id=ids)),
    params=maybe(
        **sampling,
        top_k=counts,
        max_tokens=counts,
        stop_sequences=st.lists(words, max_size=2),
        seed=counts,
        **{"choice.count": counts, "reasoning.level": words},
    ),
    reason=st.sampled_from([("STOP", "stop"), ("MAX_TOKENS", "length"), ("SAFETY", "content_filter"), ("OTHER", "OTHER")]),
    usage=both(
        st.fixed_dictionaries({"input_tokens": counts, "output_tokens": counts}),
        maybe(**{"cache_read.input_tokens": counts, "reasoning.output_tokens": counts}),
    ),
    extra=maybe(createTime=words, promptFeedback=objects),
    tool=both(part("function", name=names), maybe(description=words, parameters=schemas)),
    choices=2,
    results=2,
)

APIS = {
    "openai.chat_completions": CHAT,
    "openai.responses": RESPONSES,
    "anthropic.messages": ANTHROPIC,
    "gemini.generate_content": GEMINI,
}


def message(role: str, parts: list[Any], **more: Any) -> dict[str, Any]:
    return {"role": role, "parts": parts, **more}


@st.composite
def requests(draw: Any, api: Api) -> dict[str, Any]:
    """A GenAI request that the API can express: turns of user, model and tools."""
    request = draw(both(st.fixed_dictionaries({"params": api.params}), maybe(model=names)))
    if draw(st.booleans()):
        request["system"] = draw(st.lists(text, min_size=1, max_size=2))
    messages = []
    for _ in range(draw(st.integers(0, 3))):
        name = draw(maybe(name=names)) if api.named else {}
        messages.append(message("user", draw(st.lists(api.text, min_size=1, max_size=3)), **name))
        calls = draw(st.lists(api.call, max_size=2))
        made = [*draw(api.made), *calls]
        if made:
            messages.append(message("assistant", made))
        if calls:
            messages.append(message("tool", draw(st.lists(api.result, min_size=1, max_size=api.results))))
    if "system" in request or draw(st.booleans()):
        request["messages"] = messages
    if draw(st.booleans()):
        request["tools"] = draw(st.lists(api.tool, min_size=1, max_size=3))
    more: dict[str, Any] = draw(maybe(extra=objects.filter(bool).map(lambda o: {f"x_{k}": v for k, v in o.items()})))
    return {**request, **more}


@st.composite
def responses(draw: Any, api: Api) -> dict[str, Any]:
    """A GenAI response that the API can express and that holds all that the API needs."""
    messages, reasons = [], []
    for _ in range(draw(st.integers(1, api.choices))):
        calls = draw(st.lists(api.call, max_size=2))
        word, ours = draw(api.reason)
        if api is RESPONSES and word == "completed" and calls:
            ours = "tool_call"
        messages.append(message("assistant", [*draw(api.made), *calls], finish_reason=ours))
        reasons.append(word)
    base = {"id": ids, "model": names, "usage": api.usage}
    found = draw(st.fixed_dictionaries({**base, "extra": api.extra}))
    if not found["extra"]:
        del found["extra"]
    return {**found, "messages": messages, "finish_reasons": reasons}
