"""With an interceptor in place nothing is called but agents, and what it answers is what the program gets."""

import asyncio
import inspect
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import otelreplay
from otelreplay import boundary
from otelreplay.boundary import Raised, ReplayStopped, Returned, Streamed


class Script:
    """An interceptor that gives the answers it was made with, and remembers what it was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.calls = []
        self.log = []

    def call(self, call, /):
        self.calls.append(call)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def enter(self, call, /):
        self.calls.append(call)
        self.log.append(("enter", call.name))
        return f"token of {call.name}"

    def leave(self, token, /, *, value=None, error=None):
        self.log.append(("leave", token, value, error))


@pytest.fixture
def play():
    def install(*answers):
        script = Script(*answers)
        boundary.install(script)
        return script

    yield install
    boundary.install(None)


def never(*_, **__):
    raise AssertionError("a function was called in a replay")


@otelreplay.tool(effect="write")
def send(to, text="hi"):
    """Sends."""
    never()


@otelreplay.tool
async def send_later(to):
    never()


@otelreplay.model
def words(prompt):
    yield never()


@otelreplay.model
async def words_later(prompt):
    yield never()


def test_a_function_is_answered_and_not_called(play):
    value = object()
    script = play(Returned(value), Returned(value))
    assert value is send("a")
    assert value is asyncio.run(send_later("b"))
    assert ["send", "send_later"] == [call.name for call in script.calls]


def test_the_replay_is_asked_with_what_a_span_would_say(play, recorded):
    boundary.install(None)
    otelreplay.tool(effect="write")(lambda to, text="hi": 1)("a")
    script = play(Returned(1))
    otelreplay.tool(effect="write")(lambda to, text="hi": 1)("a")
    (call,) = script.calls
    after = {"gen_ai.tool.call.result"}
    assert dict(call.attributes) == {k: v for k, v in recorded.one().attributes.items() if k not in after}
    assert ("tool", False, f"{__name__}:test_the_replay_is_asked_with_what_a_span_would_say.<locals>.<lambda>") == (
        call.kind, call.stream, call.function,
    )  # fmt: skip
    assert 1 == len(recorded.all())


def test_a_recorded_error_is_raised(play):
    error = LookupError("gone")
    play(Raised(error), Raised(error), Raised(error), Raised(error))

    async def read():
        return [word async for word in words_later("x")]

    for call in (
        lambda: send("a"),
        lambda: asyncio.run(send_later("a")),
        lambda: list(words("x")),
        lambda: asyncio.run(read()),
    ):
        with pytest.raises(LookupError) as raised:
            call()
        assert raised.value is error


def test_a_stream_is_given_chunk_by_chunk_with_its_return_value(play):
    play(Streamed(chunks=["a", "b"], value="end"))
    made = words("x")
    assert inspect.isgenerator(made)
    assert ["a", "b"] == [next(made), next(made)]
    with pytest.raises(StopIteration) as stopped:
        next(made)
    assert "end" == stopped.value.value


def test_an_asynchronous_stream_is_given_chunk_by_chunk(play):
    play(Streamed(chunks=["a", "b"], value=None))
    made = words_later("x")
    assert inspect.isasyncgen(made)

    async def read():
        return [word async for word in made]

    assert ["a", "b"] == asyncio.run(read())


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("end", ["raised", "stopped"])
def test_a_stream_ends_as_it_ended(play, end, asynchronous):
    """A consumer that asks for more than was recorded is told so: it is not the end."""
    error = ConnectionError("lost") if end == "raised" else ReplayStopped("more")
    play(Streamed(chunks=["a"], end=end, error=error if end == "raised" else None, asked_for_more=lambda: error))
    got = []

    async def read():
        async for word in words_later("x"):
            got.append(word)

    def read_plain():
        for word in words("x"):
            got.append(word)

    with pytest.raises(type(error)) as raised:
        asyncio.run(read()) if asynchronous else read_plain()
    assert (raised.value is error, ["a"]) == (True, got)


def test_a_consumer_that_stops_where_the_recorded_one_did_asks_for_nothing(play):
    asked = []
    play(Streamed(chunks=["a"], end="stopped", asked_for_more=lambda: asked.append(1) or ReplayStopped()))
    for _ in words("x"):
        break
    assert [] == asked


def test_what_is_sent_into_a_replayed_stream_is_told(play):
    sent = []
    play(Streamed(chunks=["a", "b", "c"], on_sent=lambda n, value: sent.append((n, value))))
    made = words("x")
    next(made), made.send("one"), next(made)
    assert [(0, "one")] == sent


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_was_sent_when_it_was_recorded_and_is_not_now_is_told_too(play, asynchronous):
    sent = []
    told = {"sent": ((1, "x"),), "on_sent": lambda n, value: sent.append((n, value))}
    play(Streamed(chunks=["a", "b", "c"], **told))

    async def read():
        return [chunk async for chunk in words_later("x")]

    assert ["a", "b", "c"] == (asyncio.run(read()) if asynchronous else list(words("x")))
    assert [(1, None)] == sent


@pytest.mark.parametrize("thrown", [False, True])
def test_where_a_consumer_stops_reading_is_told(play, thrown):
    left = []
    play(Streamed(chunks=["a", "b", "c"], on_left=lambda *said: left.append(said)))
    made = words("x")
    next(made), next(made)
    if thrown:
        with pytest.raises(KeyError):
            made.throw(KeyError("x"))
    made.close()
    assert [(2, thrown)] == left


def test_an_agents_code_runs_and_its_calls_have_its_token(play):
    script = play(Returned(1), Returned(2), Returned(3))

    @otelreplay.agent
    def outer():
        return send("a"), inner(), send("c")

    @otelreplay.agent
    def inner():
        return send("b")

    assert (1, 2, 3) == outer()
    parents = {call.attributes["gen_ai.tool.call.arguments"]: call.parent for call in script.calls if call.kind == "tool"}
    assert ["token of outer", "token of inner", "token of outer"] == list(parents.values())
    assert [("enter", "outer"), ("enter", "inner"), ("leave", "token of inner", 2, None)] == script.log[:3]
    assert boundary.parent() is None


@pytest.mark.parametrize("kind", ["plain", "coroutine", "generator", "async generator"])
@pytest.mark.parametrize("fails", [False, True])
def test_an_agent_of_every_kind_enters_and_leaves_once(play, kind, fails):
    script = play(Returned(1))
    error = ValueError("x")

    def body():
        send("a")
        if fails:
            raise error
        return "out"

    @otelreplay.agent
    def plain():
        return body()

    @otelreplay.agent
    async def coroutine():
        return body()

    @otelreplay.agent
    def generator():
        yield "chunk"
        return body()

    @otelreplay.agent
    async def async_generator():
        yield "chunk"
        body()

    async def read():
        return [chunk async for chunk in async_generator()]

    run = {
        "plain": plain, "coroutine": lambda: asyncio.run(coroutine()), "generator": lambda: list(generator()),
        "async generator": lambda: asyncio.run(read()),
    }[kind]  # fmt: skip
    if fails:
        with pytest.raises(ValueError, match="x"):
            run()
    else:
        run()
    value = None if fails or kind == "async generator" else "out"
    name = kind.replace(" ", "_")
    assert [("enter", name), ("leave", f"token of {name}", value, error if fails else None)] == script.log
    assert f"token of {name}" == script.calls[-1].parent


def test_calls_in_threads_have_the_token_of_their_agent(play):
    script = play(Returned(1), Returned(2), Returned(3))

    @otelreplay.agent
    def step():
        with ThreadPoolExecutor(1) as pool:
            pool.submit(send, "a").result()
        thread = threading.Thread(target=send, args=("b",))
        thread.start()
        thread.join()

    step()
    assert ["token of step"] * 2 == [call.parent for call in script.calls if call.kind == "tool"]
    thread = threading.Thread(target=send, args=("c",))
    thread.start()
    thread.join()
    assert script.calls[-1].parent is None


def test_a_replay_that_cannot_go_on_stops_the_program(play):
    play(ReplayStopped("changed"), ReplayStopped("changed"))
    with pytest.raises(ReplayStopped):
        send("a")
    with pytest.raises(ReplayStopped):
        next(words("a"))


def test_a_call_says_where_in_the_program_it_was_made(play):
    script = play(Returned(1), Returned(1), Streamed(chunks=[1]))
    line = inspect.currentframe().f_lineno
    send("a")

    async def main():
        await asyncio.gather(send_later("b"))

    asyncio.run(main())
    list(words("c"))
    assert [f"test_replaying.py:{line + n}" for n in (1, 4, 7)] == [call.where.rpartition("/")[2] for call in script.calls]


def test_moments_are_those_of_the_recording(play):
    play(Returned(1.5), Returned(0.25), Returned("id-1"))
    assert (1.5, 0.25, "id-1") == (otelreplay.clock(), otelreplay.random(), otelreplay.new_id())


def test_a_stream_that_a_plain_function_returned_is_read_either_way(play):
    play(*(Streamed(chunks=[1, 2]) for _ in range(4)))
    assert [1, 2] == list(send("a"))

    async def read():
        return [chunk async for chunk in await send_later("b")]

    assert [1, 2] == asyncio.run(read())
    with send("a") as stream:
        assert (1, [2]) == (next(stream), list(stream))
    stream = send("a")
    stream.close()
    assert [] == list(stream)


def test_a_call_whose_arguments_do_not_fit_is_answered_as_recorded(play):
    script = play(Raised(TypeError("recorded")))
    with pytest.raises(TypeError, match="recorded"):
        send_later()  # type: ignore[call-arg, unused-coroutine]
    assert "{}" == script.calls[0].attributes["gen_ai.tool.call.arguments"]


_TWICE = """
import sys
import otelreplay
from otelreplay import boundary
class Script:
    def call(self, call, /):
        return boundary.Returned(7)
boundary.install(Script())
first = otelreplay
for name in [name for name in sys.modules if name.split(".")[0] == "otelreplay"]:
    del sys.modules[name]
import otelreplay
assert otelreplay is not first
print(otelreplay.tool(lambda: "ran")())
"""


def test_a_second_copy_of_the_library_meets_the_same_replay():
    """A program that reloads its modules gets one; the calls that go through it are calls all the same."""
    done = subprocess.run([sys.executable, "-c", _TWICE], capture_output=True, text=True, check=True, timeout=60)
    assert "7\n" == done.stdout
