"""A static checker sees of a decorated function what it saw before."""

import textwrap

from mypy import api

SAMPLE = """
from collections.abc import AsyncIterator, Generator
from concurrent.futures import Executor, ThreadPoolExecutor
import otelreplay

@otelreplay.tool
def bare(a: int, /, b: str = "", *, c: bool) -> float: return 1.0

@otelreplay.tool(name="n", effect="write", idempotency_key="a", version="1")
async def later(a: int) -> str: return ""

@otelreplay.model(provider="openai", request=lambda a: {"model": a["m"]}, response=lambda r: {"messages": [r]})
def stream(prompt: str) -> Generator[str, int, bool]:
    yield ""
    return True

@otelreplay.agent
async def stream_later(prompt: str) -> AsyncIterator[str]:
    yield ""

class Shop:
    @otelreplay.retrieval(name="docs")
    def own(self, query: str) -> list[str]: return []
    @otelreplay.state
    @classmethod
    def of_class(cls, key: int) -> int: return key
    @staticmethod
    @otelreplay.tool
    def static(key: int) -> int: return key

reveal_type(bare)
reveal_type(later)
reveal_type(stream)
reveal_type(stream_later)
reveal_type(Shop().own)
reveal_type(Shop.of_class)
reveal_type(Shop.static)
reveal_type(otelreplay.copy_context(bare))
reveal_type(otelreplay.copy_context(ThreadPoolExecutor()))
reveal_type((otelreplay.clock(), otelreplay.random(), otelreplay.new_id()))
"""

EXPECTED = """
def (int, b: str =, *, c: bool) -> float
def (a: int) -> Coroutine[Any, Any, str]
def (prompt: str) -> Generator[str, int, bool]
def (prompt: str) -> AsyncIterator[str]
def (query: str) -> list[str]
def (key: int) -> int
def (key: int) -> int
def (int, b: str =, *, c: bool) -> float
Executor
tuple[float, float, str]
"""

WRONG = """
otelreplay.tool(effect="delete")(bare)
otelreplay.tool("name")(bare)
bare("x", c=True)
"""


def test_types_are_kept_and_wrong_options_are_noticed(tmp_path):
    (tmp_path / "sample.py").write_text(textwrap.dedent(SAMPLE + WRONG))
    out, errors, _ = api.run(["--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}", str(tmp_path / "sample.py")])
    assert "" == errors
    lines = out.replace("builtins.", "").replace("typing.", "").replace("collections.abc.", "").splitlines()
    revealed = [line.split('Revealed type is "')[1].rstrip('"') for line in lines if "Revealed type" in line]
    plain = [text.replace("concurrent.futures._base.", "") for text in revealed]
    assert EXPECTED.strip().splitlines() == plain
    assert 3 == sum(": error:" in line for line in lines), out
