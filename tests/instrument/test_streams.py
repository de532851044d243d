"""Generators stay what they were, and their call ends once, whoever stops reading them (bug reports A1-A3, A8, A9)."""

import asyncio
import gc
import inspect
import itertools
import logging

import pytest
from opentelemetry import trace

import otelreplay
from tests.instrument.recorded import current, parents


@otelreplay.tool
def numbers(n):
    yield from range(n)
    return "done"


@otelreplay.tool
async def later(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


class RateLimitError(Exception):
    """Too many."""


def _break():
    for i in numbers(5):
        if i == 1:
            break


def _close():
    made = numbers(5)
    next(made), next(made)
    made.close()


def _drop():
    made = numbers(5)
    next(made), next(made)
    made = [made]
    made.append(made)  # a cycle: only the collector ends it


def _throw_exit():
    made = numbers(5)
    next(made), next(made)
    with pytest.raises(GeneratorExit):
        made.throw(GeneratorExit)


STOPS = {
    "break": _break,
    "islice": lambda: list(itertools.islice(numbers(5), 2)),
    "close": _close,
    "drop": _drop,
    "throw": _throw_exit,
}


@pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS)
def test_a_generator_stopped_early_ends_its_span_once_with_what_was_delivered(recorded, stop):
    stop()
    gc.collect()
    span = recorded.one()
    assert ("[0,1]", "stopped") == (span.attributes["otelreplay.chunks"], span.attributes["otelreplay.stream.end"])
    assert span.status.is_ok or span.status.is_unset
    assert "gen_ai.tool.call.result" not in span.attributes
    assert not trace.get_current_span().get_span_context().is_valid


async def _async_break():
    async for i in later(5):
        if i == 1:
            break
    gc.collect()
    await asyncio.sleep(0.01)


async def _async_close():
    made = later(5)
    await anext(made)
    await anext(made)
    await made.aclose()


async def _returned_from_another_task():
    async def reader():
        async for i in later(5):
            if i == 1:
                return

    await asyncio.create_task(reader())
    gc.collect()
    await asyncio.sleep(0.01)


async def _closed_by_another_task():
    made = later(5)
    await asyncio.create_task(_take(made, 2))
    await asyncio.create_task(made.aclose())


async def _take(made, n):
    for _ in range(n):
        await anext(made)


ASYNC_STOPS = [_async_break, _async_close, _returned_from_another_task, _closed_by_another_task]


@pytest.mark.parametrize("stop", ASYNC_STOPS, ids=lambda stop: stop.__name__.strip("_"))
def test_an_async_generator_closed_anywhere_ends_once_and_nothing_is_logged(recorded, caplog, stop):
    """Bug report A2: "failed to detach context"."""

    @otelreplay.agent
    async def step():
        await stop()
        next_one()

    @otelreplay.tool
    def next_one():
        return 1

    with caplog.at_level(logging.DEBUG):
        asyncio.run(step())
    span = recorded.one("execute_tool later")
    assert ("[0,1]", "stopped") == (span.attributes["otelreplay.chunks"], span.attributes["otelreplay.stream.end"])
    assert [r for r in caplog.records if r.levelno >= logging.WARNING] == []
    tree = parents(recorded.all())
    assert ("invoke_agent step", "invoke_agent step") == (tree["execute_tool next_one"], tree["execute_tool later"])


def test_a_generator_that_nobody_reads_makes_no_call(recorded):
    numbers(3)
    assert recorded.all() == []


def test_a_stream_read_after_its_handler_returned_is_one_trace(recorded):
    """Bug report A3: children land as siblings or in traces of their own."""

    @otelreplay.model
    async def words(text):
        for word in text.split():
            yield word

    @otelreplay.agent
    async def answer():
        async for word in words("a b"):
            yield word
        async for word in words("c"):
            yield word

    @otelreplay.agent
    async def handler():
        return answer()

    async def serve():
        body = await handler()
        return [chunk async for chunk in body]

    assert ["a", "b", "c"] == asyncio.run(serve())
    spans = {span.name: span for span in recorded.all()}
    tree = parents(recorded.all())
    assert ("invoke_agent answer", "invoke_agent handler") == (tree["chat words"], tree["invoke_agent answer"])
    assert 1 == len({span.context.trace_id for span in recorded.all()})
    last = max(span.end_time for span in recorded.all() if span.name == "chat words")
    assert spans["invoke_agent answer"].end_time >= last


def test_what_a_generator_makes_current_is_current_again_when_it_goes_on(recorded):
    tracer = trace.get_tracer("theirs")

    @otelreplay.tool
    def work():
        with tracer.start_as_current_span("inner"):
            yield 1
            leaf()
            yield 2

    @otelreplay.tool
    def leaf():
        return None

    with tracer.start_as_current_span("caller"):
        made = work()
        next(made)
        assert "caller" == current()
        next(made)
        made.close()
    tree = parents(recorded.all())
    assert {"execute_tool leaf": "inner", "inner": "execute_tool work", "execute_tool work": "caller", "caller": None} == tree


def test_the_return_value_of_a_generator_reaches_the_program_and_the_record(recorded):
    """Bug report A8."""

    def outer():
        return (yield from numbers(3))

    made = outer()
    assert [0, 1, 2] == [next(made) for _ in range(3)]
    with pytest.raises(StopIteration) as stopped:
        next(made)
    assert "done" == stopped.value.value
    assert ("done", "returned") == (
        recorded.payload("gen_ai.tool.call.result"), recorded.one().attributes["otelreplay.stream.end"],
    )  # fmt: skip


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_stream_that_fails_keeps_its_chunks_and_the_error(recorded, asynchronous):
    """Bug report A9."""

    @otelreplay.model
    def failing(prompt):
        yield "a"
        yield "b"
        raise RateLimitError("slow down", 429)

    @otelreplay.model
    async def failing_later(prompt):
        yield "a"
        yield "b"
        raise RateLimitError("slow down", 429)

    async def read():
        return [chunk async for chunk in failing_later("x")]

    with pytest.raises(RateLimitError) as raised:
        asyncio.run(read()) if asynchronous else list(failing("x"))
    assert raised.value.__context__ is None
    span = recorded.one()
    assert ('["a","b"]', "raised") == (span.attributes["otelreplay.chunks"], span.attributes["otelreplay.stream.end"])
    assert f"{__name__}.RateLimitError" == span.attributes["error.type"]
    error = recorded.payload("otelreplay.error")
    assert (f"{__name__}:RateLimitError", ["slow down", 429]) == (error["class"], error["args"])
    assert "ERROR" == span.status.status_code.name
    assert ["exception"] == [event.name for event in span.events]
    said = recorded.payload("gen_ai.output.messages")
    assert [{"role": "assistant", "parts": [{"type": "text", "content": "ab"}]}] == said


def test_values_sent_and_errors_thrown_reach_the_generator(recorded):
    @otelreplay.tool
    def echo():
        got = yield "first"
        try:
            while True:
                got = yield got
        except KeyError:
            yield "caught"
        return "end"

    made = echo()
    assert ["first", 7, None] == [next(made), made.send(7), next(made)]
    assert "caught" == made.throw(KeyError("x"))
    with pytest.raises(StopIteration) as stopped:
        next(made)
    assert "end" == stopped.value.value
    assert [[0, 7]] == recorded.payload("otelreplay.sent")


def test_an_error_thrown_in_is_the_very_error_that_comes_out(recorded):
    made, error = numbers(3), ValueError("mine")
    next(made)
    with pytest.raises(ValueError, match="mine") as raised:
        made.throw(error)
    assert raised.value is error
    assert "ValueError" == recorded.one().attributes["error.type"]


def test_a_generator_that_will_not_close_fails_as_before(recorded):
    @otelreplay.tool
    def stubborn():
        while True:
            try:
                yield 1
            except GeneratorExit:
                yield 2

    made = stubborn()
    next(made)
    with pytest.raises(RuntimeError, match="ignored GeneratorExit"):
        made.close()
    assert "RuntimeError" == recorded.one().attributes["error.type"]


def test_cleaning_up_runs_at_the_close_and_inside_the_call(recorded):
    cleaned = []

    @otelreplay.tool
    def tidy():
        try:
            yield 1
        finally:
            cleaned.append(current())

    made = tidy()
    next(made)
    made.close()
    assert ["execute_tool tidy"] == cleaned


def test_generators_are_real_ones(recorded):
    made = numbers(1)
    assert inspect.isgenerator(made)
    assert ("numbers", inspect.GEN_CREATED) == (made.__name__, inspect.getgeneratorstate(made))
    assert inspect.isasyncgen(later(1))
    assert inspect.isgeneratorfunction(numbers)
    assert inspect.isasyncgenfunction(later)


def test_arguments_that_do_not_fit_fail_at_the_call(recorded):
    with pytest.raises(TypeError, match=r"numbers\(\) missing 1 required positional argument: 'n'"):
        numbers()  # type: ignore[call-arg]
    assert "TypeError" == recorded.one().attributes["error.type"]


@pytest.mark.parametrize("read", [0, 1, 3])
def test_a_generator_that_a_plain_function_returns_is_followed_to_its_end(recorded, read):
    @otelreplay.tool
    def found(n):
        return (i for i in range(n))

    made = found(2)
    assert inspect.isgenerator(made)
    got = list(itertools.islice(made, read))
    del made
    assert (list(range(min(read, 2))), "returned" if read > 2 else "stopped") == (
        got, recorded.one().attributes["otelreplay.stream.end"],
    )  # fmt: skip


def test_chunks_are_kept_as_they_were_when_they_were_given(recorded):
    @otelreplay.tool
    def rows():
        yield {"n": 1}
        yield {"n": 2}

    for row in rows():
        row["n"] = "changed"
    assert [{"n": 1}, {"n": 2}] == recorded.payload("otelreplay.chunks")


def test_an_async_generator_cleans_up_before_its_close_returns(recorded):
    cleaned = []

    @otelreplay.tool
    async def tidy():
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            cleaned.append(current())

    async def main():
        made = tidy()
        await anext(made)
        await made.aclose()
        return list(cleaned)

    assert ["execute_tool tidy"] == asyncio.run(main())


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_generator_belongs_to_the_call_that_made_it_wherever_it_is_read(recorded, asynchronous):
    """As in a response that a web server reads when its handler is long over."""

    @otelreplay.agent
    def handler():
        return {"body": later(1) if asynchronous else numbers(1)}

    async def read(made):
        return [chunk async for chunk in made]

    body = handler()["body"]
    assert [0] == (asyncio.run(read(body)) if asynchronous else list(body))
    name = f"execute_tool {'later' if asynchronous else 'numbers'}"
    assert {name: "invoke_agent handler", "invoke_agent handler": None} == parents(recorded.all())


def test_a_call_that_has_ended_is_not_ended_again(recorded, caplog):
    """A stream that was read to its end, or failed, also goes away."""

    @otelreplay.tool
    def found(fails):
        return (1 // (0 if fails else 1) for _ in range(1))

    with caplog.at_level(logging.WARNING):
        assert [1] == list(found(False))
        with pytest.raises(ZeroDivisionError):
            list(found(True))
        gc.collect()
    assert [] == caplog.records
    assert ["returned", "raised"] == [span.attributes["otelreplay.stream.end"] for span in recorded.all()]
