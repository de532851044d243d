"""What crosses a boundary is kept whole: odd values as themselves, a loss as a loss of one leaf (bug reports B1-B11)."""

import dataclasses
import enum
import json
import math
from datetime import UTC, datetime

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import SpanLimits

import otelreplay
from otelreplay.canonical import loads
from tests.canonical.payloads import same, values
from tests.instrument.recorded import Recorded, use

ARGUMENTS, RESULT = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"


@otelreplay.tool
def echo(value=None):
    return value


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Order:
    number: int
    note: object = None


class Item(pydantic.BaseModel):
    name: str
    tags: list[str] = []


class Basket(pydantic.BaseModel):
    items: list[Item]


def test_a_method_keeps_its_other_arguments_and_self_as_the_name_of_its_class(recorded):
    """B1."""

    class Search:
        lock = object()

        @otelreplay.tool
        def find(self, q, n=3, *, order=None):
            return q

    Search().find("x", order=Order(1, object()))
    arguments = recorded.payload(ARGUMENTS)
    assert ("x", 3) == (arguments["q"], arguments["n"])
    assert (f"{__name__}:Order", 1) == (arguments["order"].members["class"], arguments["order"].members["fields"]["number"])
    assert recorded.one().attributes["otelreplay.self"].endswith("Search")
    assert [("arguments.order.note", "unencodable")] == recorded.losses()


def test_a_pydantic_result_is_structure_with_its_type(recorded):
    """B2."""
    basket = Basket(items=[Item(name="a", tags=["x"]), Item(name="b")])
    assert echo(basket) is basket
    found = loads(recorded.one().attributes[RESULT], types=[Basket, Item])
    assert (basket, {"name"}) == (found, found.items[1].model_fields_set)


def test_bytes_take_nothing_else_with_them(recorded):
    """B3."""
    echo({"q": "x", "img": b"\x89PNG\xff"})
    assert {"value": {"q": "x", "img": b"\x89PNG\xff"}} == recorded.payload(ARGUMENTS)
    assert [] == recorded.losses()


def test_keys_that_are_no_text_are_kept(recorded):
    """B4."""
    echo({(1, 2): "v", 3: "n"})
    assert {(1, 2): "v", 3: "n"} == recorded.payload(RESULT)
    recorded.exporter.clear()
    echo({Colour.RED: 1})
    assert {Colour.RED: 1} == loads(recorded.one().attributes[RESULT], types=[Colour])


def test_numbers_that_json_cannot_say_are_valid_json_and_come_back(recorded):
    """B5."""
    echo({"score": math.nan, "hi": math.inf, "big": 2**70})
    json.loads(recorded.one().attributes[RESULT], parse_constant=lambda _: pytest.fail("not JSON"))
    found = recorded.payload(RESULT)
    assert (True, math.inf, 2**70) == (math.isnan(found["score"]), found["hi"], found["big"])


def test_a_long_history_is_one_attribute_and_whole(recorded):
    """B6: the default limit of 128 attributes cuts late turns elsewhere."""
    history = [{"role": "user", "content": f"turn {n}"} for n in range(300)]
    otelreplay.model(lambda messages: "ok")(history)
    assert [f"turn {n}" for n in range(300)] == [m["parts"][0]["content"] for m in recorded.payload("gen_ai.input.messages")]
    assert 0 == recorded.one().dropped_attributes


def test_a_provider_that_cuts_texts_gets_none_that_it_would_cut(monkeypatch):
    """B7: never half a JSON text; the original size is said."""
    recorded = use(monkeypatch, Recorded(span_limits=SpanLimits(max_span_attribute_length=1000)))
    assert "x" * 2000 == echo("x" * 2000)
    span = recorded.one()
    assert (False, False) == (ARGUMENTS in span.attributes, RESULT in span.attributes)
    lost = json.loads(span.attributes["otelreplay.losses"])
    assert [(ARGUMENTS, 2012, 1000), (RESULT, 2002, 1000)] == [(each["path"], each["size"], each["limit"]) for each in lost]


@pytest.mark.parametrize("arguments", [{"a": 1}, '{"a":1}'], ids=["dict", "text"])
def test_arguments_are_encoded_once(recorded, arguments):
    """B8: one parse gives what was given; a text stays the text it was."""
    echo(arguments)
    assert {"value": arguments} == json.loads(recorded.one().attributes[ARGUMENTS])


@pytest.mark.parametrize("raw", ["SELECT 1", '{"a":'])
def test_broken_arguments_of_a_model_are_kept_to_the_letter(recorded, raw):
    """B9."""
    call = {"id": "c", "type": "function", "function": {"name": "sql", "arguments": raw}}
    otelreplay.model(lambda prompt: {"role": "assistant", "content": None, "tool_calls": [call]})("x")
    (message,) = recorded.payload("gen_ai.output.messages")
    assert raw == message["parts"][0]["arguments"]
    assert call == recorded.payload("otelreplay.result")["tool_calls"][0]


def test_reasoning_and_opaque_blocks_are_kept_to_the_byte_and_in_order(recorded):
    """B10."""
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "c2lnbmF0dXJl=="},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "text", "text": "hi"},
        {"type": "tool_use", "id": "t", "name": "find", "input": {"q": 1}},
    ]
    otelreplay.model(lambda prompt: {"type": "message", "role": "assistant", "content": blocks, "stop_reason": "tool_use"})("x")
    (message,) = recorded.payload("gen_ai.output.messages")
    assert ["reasoning", "redacted_thinking", "text", "tool_call"] == [part["type"] for part in message["parts"]]
    assert ("c2lnbmF0dXJl==", "b3BhcXVl") == (message["parts"][0]["signature"], message["parts"][1]["data"])
    assert blocks == recorded.payload("otelreplay.result")["content"]


def test_an_image_of_three_megabytes_is_kept_as_bytes(recorded):
    """B11."""
    image = b"\x89PNG" + bytes(range(256)) * 12_000
    assert echo(image) is image
    assert image == recorded.payload(RESULT)
    assert [] == recorded.losses()


@given(values)
def test_every_value_comes_back_as_it_was(value):
    with pytest.MonkeyPatch.context() as patch:
        recorded = use(patch, Recorded())
        echo(value)
        assert same(value, recorded.payload(RESULT))
        assert same({"value": value}, recorded.payload(ARGUMENTS))


leaves = st.builds(object)
mixed = st.recursive(
    st.integers(0, 9) | leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=9,
)


def count(value):
    """Number of leaves that cannot be said."""
    if isinstance(value, dict):
        return sum(count(item) for item in value.values())
    return sum(map(count, value)) if isinstance(value, list) else int(type(value) is object)


@given(mixed)
def test_each_loss_is_one_leaf(value):
    with pytest.MonkeyPatch.context() as patch:
        recorded = use(patch, Recorded())
        echo(value)
        lost = recorded.losses()
        assert (2 * count(value), {"unencodable"} if lost else set()) == (len(lost), {reason for _, reason in lost})
        assert all(path.startswith(("arguments.value", "result")) for path, _ in lost)


class OddError(ValueError):
    def __init__(self, code, when):
        super().__init__(code, when)
        self.status, self.response, self.note = 429, object(), ("a", b"b")


def test_an_error_is_kept_well_enough_to_be_raised_again(recorded):
    when = datetime(2026, 1, 1, tzinfo=UTC)

    @otelreplay.tool
    def fail():
        raise OddError("E1", when)

    with pytest.raises(OddError):
        fail()
    expected = {"class": f"{__name__}:OddError", "args": ["E1", when], "fields": {"status": 429, "note": ("a", b"b")}}
    assert expected == recorded.payload("otelreplay.error")
    event = recorded.one().events[0].attributes
    assert (f"{__name__}.OddError", True) == (event["exception.type"], "raise OddError" in event["exception.stacktrace"])


def test_text_that_otlp_cannot_carry_never_reaches_an_attribute_raw(recorded):
    """One lone surrogate in an attribute makes an exporter lose the whole batch."""

    @otelreplay.tool(name="n\ud800", version="\udfff", idempotency_key="q")
    def odd(q, tool_call_id="\ud83d"):
        """Doc \ud800."""
        raise ValueError("\ud800")

    with pytest.raises(ValueError, match="\ud800"):
        odd("a\ud800")
    otelreplay.model(lambda model, prompt: "\ud800")("m\ud800", "\ud800")
    otelreplay.retrieval(lambda query: [{"t": "\ud800"}])("\ud800")
    for span in recorded.all():
        texts = [span.name, span.status.description or "", *map(str, span.attributes.values())]
        texts += [str(value) for event in span.events for value in event.attributes.values()]
        assert "".join(texts).encode()
    assert "a\ud800" == loads(recorded.all()[0].attributes[ARGUMENTS])["q"]


def test_arguments_are_kept_as_they_were_before_the_call(recorded):
    @otelreplay.tool
    def change(order):
        order["n"] = 2
        return order

    change({"n": 1})
    assert ({"order": {"n": 1}}, {"n": 2}) == (recorded.payload(ARGUMENTS), recorded.payload(RESULT))


SIGNATURES = [
    (lambda a, b=2: 0, (1,), {}, {"a": 1, "b": 2}),
    (lambda *args: 0, (1, 2), {}, {"args": [1, 2]}),
    (lambda a, *args, k=1, **kw: 0, (1, 2), {"z": 3}, {"a": 1, "args": [2], "k": 1, "kw": {"z": 3}}),
    (lambda a, **kw: 0, (1,), {"z": 3}, {"a": 1, "z": 3}),
    (lambda a, /, **kw: 0, (1,), {"a": 3}, {"a": 1, "kw": {"a": 3}}),
    (lambda a, /, b, *, c: 0, (1,), {"b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3}),
    (lambda __defaults, list=3: 0, (1,), {}, {"__defaults": 1, "list": 3}),
    (lambda: 0, (), {}, {}),
]


@pytest.mark.parametrize(("fn", "args", "kwargs", "expected"), SIGNATURES)
def test_arguments_have_their_names_however_they_are_given(recorded, fn, args, kwargs, expected):
    otelreplay.tool(fn)(*args, **kwargs)
    assert expected == recorded.payload(ARGUMENTS)


def test_the_idempotency_key_is_the_argument_or_what_a_function_makes_of_them(recorded):
    otelreplay.tool(effect="write", idempotency_key="order")(lambda order: 0)("o-1")
    otelreplay.tool(idempotency_key=lambda arguments: {"o": arguments["order"]})(lambda order: 0)(7)
    otelreplay.tool(idempotency_key="order")(lambda order=None: 0)()
    attributes = [span.attributes for span in recorded.all()]
    assert ["o-1", '{"o":7}', None] == [each.get("otelreplay.idempotency_key") for each in attributes]
    assert ["write", None, None] == [each.get("otelreplay.effect") for each in attributes]


def test_each_kind_says_what_it_is_in_current_conventions(recorded):
    otelreplay.tool(version="2")(lambda tool_call_id: 1)("call_1")
    otelreplay.agent(name="desk")(lambda question: "answer")("hello")
    otelreplay.retrieval(name="docs")(lambda query, k: [{"id": "1", "score": 0.5, "text": "t"}])("where", 3)
    otelreplay.state(name="row")(lambda key: {"v": 1})("k")
    otelreplay.clock(), otelreplay.random(), otelreplay.new_id()
    spans = recorded.all()
    assert ["execute_tool <lambda>", "invoke_agent desk", "retrieval docs", "state row", "clock", "random", "id"] == [
        span.name for span in spans
    ]
    assert ["tool", "agent", "retrieval", "state", "clock", "random", "id"] == [s.attributes["otelreplay.kind"] for s in spans]
    tool, agent, retrieval, state, clock = (dict(span.attributes) for span in spans[:5])
    assert ("execute_tool", "call_1", "2") == (
        tool["gen_ai.operation.name"], tool["gen_ai.tool.call.id"], tool["otelreplay.version"],
    )  # fmt: skip
    assert ('{"question":"hello"}', '"answer"') == (agent["otelreplay.input"], agent["otelreplay.output"])
    assert '[{"role":"user","parts":[{"type":"text","content":"hello"}]}]' == agent["gen_ai.input.messages"]
    assert ("where", '{"k":3}') == (retrieval["gen_ai.retrieval.query.text"], retrieval["otelreplay.arguments"])
    assert retrieval["otelreplay.result"] == retrieval["gen_ai.retrieval.documents"]
    assert ('{"key":"k"}', '{"v":1}') == (state["otelreplay.arguments"], state["otelreplay.result"])
    assert isinstance(json.loads(clock["otelreplay.result"]), float)
    assert {"otelreplay"} == {span.instrumentation_scope.name for span in spans}
    assert {"INTERNAL", "CLIENT"} == {span.kind.name for span in spans}
