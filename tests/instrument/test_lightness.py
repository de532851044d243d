"""What being decorated costs a program that records nothing, and one that only imports."""

import subprocess
import sys

import pytest

HEAVY = ("pydantic", "opentelemetry", "grpc", "msgspec", "asyncio", "inspect", "sqlite3")


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def loaded(code):
    """Top-level packages that are there after the code, beyond those of a bare interpreter."""
    after = "\nimport sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    return set(run(code + after).split()) - set(run("pass" + after).split())


def test_importing_the_package_brings_in_nothing_heavy():
    assert not loaded("import otelreplay") & set(HEAVY)


def test_decorating_brings_in_nothing_of_opentelemetry():
    found = loaded("import otelreplay\n@otelreplay.tool\ndef f(): pass\nf(); otelreplay.clock()")
    assert not found & {"pydantic", "opentelemetry", "grpc", "msgspec", "sqlite3"}


def test_recording_with_a_provider_of_somebody_elses_brings_in_no_pydantic():
    code = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
trace.set_tracer_provider(TracerProvider())
import otelreplay
@otelreplay.model
def f(messages): return "x"
f([{"role": "user", "content": "hi"}])
"""
    assert not loaded(code) & {"pydantic", "grpc", "sqlite3"}


@pytest.mark.parametrize(("code", "limit"), [("import otelreplay", 0.04), ("import otelreplay; otelreplay.tool", 0.1)])
def test_importing_takes_milliseconds(code, limit):
    timed = f"import time; a = time.process_time(); exec({code!r}); print(time.process_time() - a)"
    assert min(float(run(timed)) for _ in range(3)) < limit


def test_a_decorated_call_takes_less_than_ten_microseconds_where_nothing_is_configured():
    code = """
import time, otelreplay
@otelreplay.tool
def f(order, limit=3): return order
best = 1
for _ in range(20):
    a = time.process_time()
    for _ in range(2000): f("o", limit=3)
    best = min(best, (time.process_time() - a) / 2000)
print(best)
"""
    assert float(run(code)) < 10e-6


def test_a_provider_that_is_set_up_later_is_used(recorded, monkeypatch):
    import otelreplay
    from tests.instrument.recorded import Recorded, use

    made = otelreplay.tool(lambda a: a)
    made(1)
    other = use(monkeypatch, Recorded())
    made(2)
    assert ['{"a":1}', '{"a":2}'] == [each.one().attributes["gen_ai.tool.call.arguments"] for each in (recorded, other)]


def test_every_public_name_is_there_and_nothing_else_is_made_up():
    import otelreplay

    offered = {name for names in otelreplay._HOMES.values() for name in names}
    assert sorted(otelreplay.__all__) == otelreplay.__all__ == sorted({"__version__", *offered})
    assert set(otelreplay.__all__) <= set(dir(otelreplay))
    assert [] == [name for name in otelreplay.__all__ if getattr(otelreplay, name) is None]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = otelreplay.nothing
