"""A decorated function is, for the program, the function it was: recorded or not, and whatever breaks in the recording."""

import asyncio
import functools
import inspect
import logging
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import SpanProcessor

import otelreplay
from otelreplay.instrument import trouble
from tests.instrument.recorded import Recorded, use

DECORATORS = [otelreplay.agent, otelreplay.model, otelreplay.retrieval, otelreplay.state, otelreplay.tool]


@pytest.fixture(params=["recorded", "nothing configured", "unsampled"])
def anywhere(request, monkeypatch):
    """Every way in which a decorated function may be called."""
    if request.param == "unsampled":
        from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

        use(monkeypatch, Recorded(sampler=ALWAYS_OFF))
    elif request.param == "recorded":
        use(monkeypatch, Recorded())


@pytest.mark.parametrize("decorator", DECORATORS, ids=lambda d: d.__name__)
def test_the_very_object_is_returned(anywhere, decorator):
    given = [object(), {"a": (1, 2)}, iter([1]), lambda: None]
    assert all(decorator(lambda value: value)(value) is value for value in given)


@pytest.mark.parametrize("decorator", DECORATORS, ids=lambda d: d.__name__)
def test_the_very_error_is_raised_through_few_frames(anywhere, decorator):
    error = LookupError("gone")

    @decorator
    def failing(q):
        raise error

    with pytest.raises(LookupError) as raised:
        failing("x")
    assert raised.value is error
    assert (None, None) == (error.__context__, error.__cause__)
    names = [frame.name for frame in raised.traceback]
    assert "failing" == names[-1]
    assert len(names) <= 5


def test_what_inspect_says_is_what_it_said(anywhere):
    def plain(a, /, b: int = 2, *c, d: str, **e) -> bool:
        """Doc."""
        return True

    async def coroutine(a): ...
    def generator(a):
        yield

    async def async_generator(a):
        yield

    questions = [
        inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction, inspect.isfunction,
        inspect.isroutine, asyncio.iscoroutinefunction, inspect.signature, inspect.getdoc, inspect.get_annotations,
        inspect.getsource,
    ]  # fmt: skip
    for fn in (plain, coroutine, generator, async_generator):
        made = otelreplay.tool(fn)
        assert [ask(fn) for ask in questions] == [ask(made) for ask in questions]
        kept = ("__name__", "__qualname__", "__module__", "__doc__")
        assert [getattr(fn, name) for name in kept] == [getattr(made, name) for name in kept]
        assert made.__wrapped__ is fn


def test_methods_of_every_kind_are_called_as_before(recorded):
    class Shop:
        @otelreplay.tool
        def own(self, q, n=3):
            return self, q, n

        @otelreplay.tool
        @classmethod
        def outer_class(cls, q):
            return cls, q

        @classmethod
        @otelreplay.tool
        def inner_class(cls, q):
            return cls, q

        @otelreplay.tool
        @staticmethod
        def outer_static(q):
            return q

        @staticmethod
        @otelreplay.tool
        def inner_static(q):
            return q

        @otelreplay.tool
        async def later(self, q):
            return self, q

        @otelreplay.tool
        def __call__(self, q):
            return q

    shop = Shop()
    assert [(shop, 1, 3), (Shop, 1), (Shop, 1), 1, 1, 1] == [
        shop.own(1), Shop.outer_class(1), shop.inner_class(1), Shop.outer_static(1), shop.inner_static(1), shop(1),
    ]  # fmt: skip
    assert (shop, 1) == asyncio.run(shop.later(1))
    spans = recorded.all()
    assert {'{"q":1,"n":3}', '{"q":1}'} == {span.attributes["gen_ai.tool.call.arguments"] for span in spans}
    owners = {span.name: span.attributes.get("otelreplay.self", "").rpartition(".")[2] for span in spans}
    assert {"Shop"} == {owner for name, owner in owners.items() if "static" not in name}
    assert {""} == {owner for name, owner in owners.items() if "static" in name}
    assert "execute_tool Shop" in owners


def test_objects_that_can_be_called_are_decorated_too(recorded):
    class Adder:
        def __init__(self, n):
            self.n = n

        def __call__(self, a):
            return a + self.n

    @otelreplay.tool
    class Doubler:
        def __call__(self, a):
            return 2 * a

    def add(a, b):
        return a + b

    made = [otelreplay.tool(Adder(1)), Doubler(), otelreplay.tool(functools.partial(add, 10)), otelreplay.tool(name="len")(len)]
    assert [3, 4, 12, 2] == [made[0](2), made[1](2), made[2](2), made[3]([1, 2])]
    assert ["Adder", "Doubler", "add", "len"] == [span.attributes["gen_ai.tool.name"] for span in recorded.all()]


def test_what_cannot_be_called_is_refused_where_it_is_decorated():
    with pytest.raises(TypeError, match="options go by name"):
        otelreplay.tool("name")
    with pytest.raises(TypeError, match="__call__"):
        otelreplay.tool(type("Nothing", (), {}))


def test_random_numbers_are_those_of_the_seed(recorded, monkeypatch):
    def draw():
        random.seed(7)
        return [random.random(), otelreplay.random(), random.random()]

    class Ids:
        """What `configure` installs draws nothing; so does this one."""

        made = 0

        def generate_span_id(self):
            self.made += 1
            return self.made

        generate_trace_id = generate_span_id

        def is_trace_id_random(self):
            return False

    random.seed(7)
    expected = [random.random() for _ in range(3)]
    use(monkeypatch, Recorded(id_generator=Ids()))
    otelreplay.new_id()
    assert expected == otelreplay.agent(draw)()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=20) | st.builds(object),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4) | st.tuples(inner)
    ),
    max_leaves=12,
)


def shape(value):
    """What a value is made of, objects by identity."""
    if isinstance(value, dict):
        return (id(value), [(key, shape(item)) for key, item in value.items()])
    return (id(value), [shape(item) for item in value]) if isinstance(value, list | tuple) else id(value)


@given(values, st.sampled_from(DECORATORS))
def test_no_value_is_changed_or_exchanged_on_its_way(value, decorator):
    with pytest.MonkeyPatch.context() as patch:
        use(patch, Recorded())
        before = shape(value)
        seen = []

        @decorator
        def through(messages, *rest, tools=None):
            seen.append(messages)
            return messages

        assert through(value, tools=value) is value is seen[0]
        assert before == shape(value)


class Hostile:
    """Fails whenever anybody looks at it."""

    __slots__ = ("x",)

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __repr__(self):
        raise RuntimeError

    __eq__ = __hash__ = __bool__ = __str__ = __repr__

    @property
    def __dict__(self):  # type: ignore[override]
        raise RuntimeError

    def model_dump(self, **_):
        raise RuntimeError


class HostileError(Exception):
    """Likewise."""

    def __str__(self):
        raise RuntimeError

    __repr__ = __str__


@pytest.mark.parametrize("decorator", DECORATORS, ids=lambda d: d.__name__)
def test_objects_that_do_not_like_to_be_looked_at_do_no_harm(recorded, decorator):
    hostile, error = Hostile(), HostileError(Hostile())

    @decorator
    def through(messages, fails):
        if fails:
            raise error
        return messages

    assert through([hostile], False)[0] is hostile
    with pytest.raises(HostileError):
        through(hostile, True)
    assert 2 == len(recorded.all())
    assert recorded.all()[0].attributes["otelreplay.losses"]


def test_a_processor_that_fails_is_said_once_and_does_no_harm(monkeypatch, caplog):
    class Broken(SpanProcessor):
        def on_start(self, span, parent_context=None):
            raise OSError("start")

        def on_end(self, span):
            raise OSError("end")

    recorded = use(monkeypatch, Recorded())
    recorded.provider.add_span_processor(Broken())
    trouble.forget()
    made = otelreplay.tool(lambda a: a)
    assert [1, 2, 3] == [made(1), made(2), made(3)]
    assert 1 == len([r for r in caplog.records if r.name == "otelreplay"])


def test_functions_of_the_user_that_fail_do_no_harm(recorded, caplog):
    def fail(_):
        raise ValueError("secret")

    @otelreplay.model(request=fail, response=fail)
    def ask(prompt):
        return "hi"

    @otelreplay.tool(idempotency_key=fail)
    def act(order):
        return order

    trouble.forget()
    assert ("hi", 1) == (ask("x"), act(1))
    assert 2 == len(recorded.all())
    said = [r.getMessage() for r in caplog.records if r.name == "otelreplay"]
    assert 3 == len(said)
    assert "secret" not in "".join(said)


def test_what_interrupts_the_program_interrupts_it(recorded):
    @otelreplay.tool
    def stopping(error):
        raise error

    for error in (KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError()):
        with pytest.raises(type(error)) as raised:
            stopping(error)
        assert raised.value is error
    assert 3 == len(recorded.all())


def test_a_coroutine_cancelled_part_way_ends_its_span(recorded, caplog):
    @otelreplay.tool
    async def slow():
        await asyncio.sleep(10)

    async def main():
        task = asyncio.create_task(slow())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert "asyncio.exceptions.CancelledError" == recorded.one().attributes["error.type"]
    assert caplog.records == []


def test_a_coroutine_dropped_part_way_ends_its_span_and_nothing_is_logged(recorded, caplog):
    class Suspend:
        def __await__(self):
            yield

    @otelreplay.tool
    async def waiting():
        await Suspend()

    import contextvars

    made = waiting()
    contextvars.copy_context().run(made.send, None)
    made.close()
    assert "GeneratorExit" == recorded.one().attributes["error.type"]
    assert caplog.records == []
