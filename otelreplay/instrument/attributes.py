"""What a span says about a call: before it (also what a replay compares), and after it. One function makes both uses.

All payload is JSON text in the typed encoding of :mod:`otelreplay.canonical`; names, models and the like are plain attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from otelreplay import semconv as sc
from otelreplay.canonical import class_name
from otelreplay.instrument import shapes
from otelreplay.instrument.crossing import Invocation
from otelreplay.instrument.spec import Bound, Spec, clean, unnamed
from otelreplay.instrument.trouble import failed
from otelreplay.instrument.values import Losses, put_losses, text

Attributes = dict[str, Any]

ARGUMENTS = "otelreplay.arguments"
RESULT = "otelreplay.result"
INPUT = "otelreplay.input"
OUTPUT = "otelreplay.output"
SELF = "otelreplay.self"
CHUNKS = "otelreplay.chunks"
IDEMPOTENCY_KEY = "otelreplay.idempotency_key"

QUERY_NAMES = ("query", "q", "question", "text", "search")


def before(call: Invocation) -> tuple[str, Attributes, Losses]:
    """(name of the span, its attributes from the start, what they lost)."""
    losses: Losses = []
    spec, args, kwargs, bound = call.spec, call.args, call.kwargs, call.bound
    attributes = spec.static.copy()
    if bound is None:
        try:
            bound = spec.bind(*args, **kwargs)
        except TypeError:  # the call itself will fail with the better words; that, too, is a result
            bound = unnamed(*args, **kwargs)
    if spec.method and args:
        owner = args[0] if isinstance(args[0], type) else type(args[0])
        attributes[SELF] = clean(class_name(owner))
    title = _BEFORE[spec.kind](spec, bound, attributes, losses)
    if spec.idempotency_key is not None:
        _put_key(spec, bound, attributes)
    put_losses(attributes, losses)
    return title, attributes, losses


def after(spec: Spec, value: Any, attributes: Attributes, losses: Losses) -> None:
    """Put what a call returned, or a generator in the end, into ``attributes``."""
    _AFTER[spec.kind](spec, value, attributes, losses)


def whole_stream(spec: Spec, chunks: list[Any], attributes: Attributes, losses: Losses) -> None:
    """Put what the chunks of a stream amount to into ``attributes``."""
    if spec.kind == "model":
        try:
            shapes.put_chunks(spec, chunks, attributes, losses)
        except Exception as error:
            failed("recognise the answer", spec.function, error)


def _put_key(spec: Spec, bound: Bound, attributes: Attributes) -> None:
    wanted = spec.idempotency_key
    try:
        value = bound.get(wanted) if isinstance(wanted, str) else wanted(bound) if wanted else None
    except Exception as error:  # the user's function
        failed("take the idempotency key", spec.function, error)
        return
    if value is not None:
        attributes[IDEMPOTENCY_KEY] = clean(value) if isinstance(value, str) else text(value, "idempotency_key", [])


# ---- before ------------------------------------------------------------------------------------------------------------


def _tool(spec: Spec, bound: Bound, attributes: Attributes, losses: Losses) -> str:
    attributes[sc.TOOL_ARGUMENTS] = text(bound, "arguments", losses)
    call_id = bound.get("tool_call_id")
    if type(call_id) is str:
        attributes[sc.TOOL_CALL_ID] = clean(call_id)
    return f"execute_tool {spec.name}"


def _agent(spec: Spec, bound: Bound, attributes: Attributes, losses: Losses) -> str:
    attributes[INPUT] = text(bound, "input", losses)
    texts = [value for value in bound.values() if isinstance(value, str)]
    if len(texts) == 1:
        attributes[sc.INPUT_MESSAGES] = text(shapes.said("user", texts[0]), "input", [])
    return f"invoke_agent {spec.name}"


def _retrieval(spec: Spec, bound: Bound, attributes: Attributes, losses: Losses) -> str:
    named = [name for name in QUERY_NAMES if type(bound.get(name)) is str]
    query = next(iter(named or [name for name, value in bound.items() if type(value) is str]), None)
    if query is not None and clean(bound[query]) == bound[query]:
        attributes[sc.RETRIEVAL_QUERY] = bound.pop(query)
    if bound:
        attributes[ARGUMENTS] = text(bound, "arguments", losses)
    return f"retrieval {spec.name}"


def _state(spec: Spec, bound: Bound, attributes: Attributes, losses: Losses) -> str:
    attributes[ARGUMENTS] = text(bound, "arguments", losses)
    return f"state {spec.name}"


def _model(spec: Spec, bound: Bound, attributes: Attributes, losses: Losses) -> str:
    if spec.stream:
        attributes["gen_ai.request.stream"] = True
    if spec.provider:
        attributes[sc.PROVIDER] = spec.provider
    try:
        rest = shapes.put_request(spec, bound, attributes, losses)
    except Exception as error:  # a class of the program's that does not like to be looked at
        failed("recognise the request", spec.function, error)
        rest = bound
    if rest:
        attributes[ARGUMENTS] = text(rest, "arguments", losses)
    return f"chat {attributes.get(sc.REQUEST_MODEL, spec.name)}"


def _nothing(spec: Spec, _: Bound, __: Attributes, ___: Losses) -> str:
    return spec.name


_BEFORE: Mapping[str, Callable[[Spec, Bound, Attributes, Losses], str]] = {
    "tool": _tool, "agent": _agent, "retrieval": _retrieval, "state": _state, "model": _model,
    "clock": _nothing, "random": _nothing, "id": _nothing,
}  # fmt: skip

# ---- after -------------------------------------------------------------------------------------------------------------


def _tool_result(_: Spec, value: Any, attributes: Attributes, losses: Losses) -> None:
    attributes[sc.TOOL_RESULT] = text(value, "result", losses)


def _agent_result(_: Spec, value: Any, attributes: Attributes, losses: Losses) -> None:
    attributes[OUTPUT] = text(value, "output", losses)
    if isinstance(value, str):
        attributes[sc.OUTPUT_MESSAGES] = text(shapes.said("assistant", value), "output", [])


def _retrieval_result(_: Spec, value: Any, attributes: Attributes, losses: Losses) -> None:
    attributes[RESULT] = text(value, "result", losses)
    if type(value) is list and value and all(type(each) is dict for each in value):
        attributes[sc.RETRIEVAL_DOCUMENTS] = attributes[RESULT]


def _plain_result(_: Spec, value: Any, attributes: Attributes, losses: Losses) -> None:
    attributes[RESULT] = text(value, "result", losses)


def _model_result(spec: Spec, value: Any, attributes: Attributes, losses: Losses) -> None:
    if CHUNKS in attributes:
        attributes[RESULT] = text(value, "result", losses)
    else:
        said = None
        try:
            said = shapes.put_response(spec, value, attributes, losses)
        except Exception as error:
            failed("recognise the answer", spec.function, error)
        if said is None or type(value) is not str or said != value:
            attributes[RESULT] = text(value, "result", losses)


_AFTER: Mapping[str, Callable[[Spec, Any, Attributes, Losses], None]] = {
    "tool": _tool_result,
    "agent": _agent_result,
    "retrieval": _retrieval_result,
    "state": _plain_result,
    "clock": _plain_result,
    "random": _plain_result,
    "id": _plain_result,
    "model": _model_result,
}
