"""What stands in for a tool behaves like it: kind, signature, arguments, results, errors."""

import inspect
import json
import subprocess
import sys

import pytest

from tests.run.far import TOOL, Far, Place, recorded

HEAD = "from truth import live\n"
ANSWER = {"state": "late"}


@pytest.fixture
def place(tmp_path):
    """A folder with what originals do when they run."""
    return Place(tmp_path).write(truth=TOOL)


def answered(place, *calls, tools="tools:lookup", outcome="as_recorded", python=sys.executable):
    """What ``agent.py`` prints in a replay in which no original runs, and the session's result."""
    with Far(recorded(*calls)) as far:
        said = place.run("python", "agent.py", environ=far.environ(*tools.split()), python=python)
    assert not place.went_live()
    result = far.session.result(child_exit=place.code)
    assert result.outcome == outcome, (said, place.stderr, result.first_divergence)
    return said, result


KINDS = {
    "async": ("async def lookup(order):\n    live('x')\n", "import asyncio\nprint(asyncio.run(lookup('A-1')))"),
    "a method": (
        "class Desk:\n    def lookup(self, order):\n        live('x')\n    async def later(self, order):\n        live('x')\n",
        "print(tools.Desk().lookup('A-1'))",
    ),
    "a bound method": (
        "class Desk:\n    def lookup(self, order):\n        live('x')\nbound = Desk().lookup", "print(tools.bound('A-1'))",
    ),
    "a class method": (
        "class Desk:\n    @classmethod\n    def lookup(cls, order):\n        live('x')\n", "print(tools.Desk.lookup('A-1'))",
    ),
    "a static method": (
        "class Desk:\n    @staticmethod\n    def lookup(order):\n        live('x')\n", "print(tools.Desk.lookup('A-1'))",
    ),
    "an inherited method": (
        "class Base:\n    def lookup(self, order):\n        live('x')\nclass Desk(Base):\n    pass\n",
        "print(tools.Desk().lookup('A-1'))",
    ),
    "one that uses super": (
        "class Base:\n    def lookup(self, order):\n        live('y')\n"
        "class Desk(Base):\n    def lookup(self, order):\n        live('x')\n        return super().lookup(order)\n",
        "print(tools.Desk().lookup('A-1'))",
    ),
    "a lambda": ("lookup = lambda order: live('x')", "print(lookup('A-1'))"),
    "made by a function": (
        "def make(secret):\n    def inner(order):\n        live(secret)\n    return inner\nlookup = make('x')",
        "print(lookup('A-1'))",
    ),
    "a wrapper": (
        "import functools\n"
        "def retry(tool):\n    @functools.wraps(tool)\n    def call(*args, **kwargs):\n"
        "        live('x')\n        return tool(*args, **kwargs)\n"
        "    return call\n@retry\ndef lookup(order):\n    live('x')\n",
        "print(lookup('A-1'))\n",
    ),
    "what a decorator had registered": (
        "FOUND = {}\ndef register(tool):\n    FOUND[tool.__name__] = tool\n    return None\n"
        "def keep(tool):\n    return tool\n@keep\ndef lookup(order):\n    live('x')\nregister(lookup)",
        "print(tools.FOUND['lookup']('A-1'))",
    ),
    "an object made of it": (
        "class Tool:\n    def __init__(self, func):\n        self.func = func\n"
        "    def __call__(self, order):\n        return self.func(order)\n"
        "@Tool\ndef lookup(order):\n    live('x')\n",
        "print(lookup('A-1'))",
    ),
    "a frozen object around it": (
        "class Tool:\n    __slots__ = ('run',)\n    def __init__(self, run):\n        self.run = run\n"
        "@Tool\ndef lookup(order):\n    live('x')\n",
        "print(lookup.run('A-1'))",
    ),
    "a partial": (
        "import functools\ndef call(kind, order):\n    live('x')\nlookup = functools.partial(call, 'order')\nALL = [lookup]",
        "print(tools.ALL[0]('A-1'))",
    ),
    "an object that can be called": (
        "class Lookup:\n    def __call__(self, order):\n        live('x')\nlookup = Lookup()\nALL = {'lookup': lookup}",
        "print(tools.ALL['lookup']('A-1'))",
    ),
    "from elsewhere": ("from inner import lookup", "import inner\nprint(inner.lookup('A-1'))"),
    "both branches": (
        "import sys\nif len(sys.argv) > 5:\n    def lookup(order):\n        live('y')\n"
        "else:\n    def lookup(order):\n        live('x')\n",
        "print(lookup('A-1'))",
    ),
    "called while its module is imported": ("def lookup(order):\n    live('x')\nFOUND = lookup('A-1')", "print(tools.FOUND)"),
}  # fmt: skip


@pytest.mark.parametrize(("tools", "agent"), KINDS.values(), ids=KINDS)
def test_every_kind_of_function_is_replaced(place, tools, agent):
    """Functions, methods, wrappers and objects: the recorded result comes, and nothing of the original runs."""
    place.write(tools=HEAD + tools, inner=HEAD + "def lookup(order):\n    live('x')\n")
    names = "lookup" if "lookup" in agent.replace("tools.", "") and "Desk" not in tools else ""
    name = "bound" if "tools.bound" in agent else "lookup"
    place.write(agent=f"import tools\n{f'from tools import {names}' if names and '.lookup(' not in agent else ''}\n{agent}")
    place.run("python", "agent.py")
    assert place.went_live(), place.stderr
    target = "lookup=tools:bound" if name == "bound" else f"tools:{'Desk.' if 'class Desk' in tools else ''}lookup"
    assert answered(place, ("lookup", {"order": "A-1"}, ANSWER), tools=target)[0] == str(ANSWER)


def test_a_generator_gives_chunks_that_join_to_the_result(place):
    """A tool that yields text is read like one, also an asynchronous one."""
    place.write(
        tools=HEAD + "def lookup(order):\n    live('x')\n    yield 'a'\nasync def later(order):\n    live('x')\n    yield 'a'\n"
    )
    place.write(
        agent="""
        import asyncio, tools
        async def main():
            return [each async for each in tools.later('B')]
        print("".join(tools.lookup("A")), "|", "".join(asyncio.run(main())))
        """
    )
    calls = ("lookup", {"order": "A"}, "one two three"), ("later", {"order": "B"}, "four five")
    assert answered(place, *calls, tools="tools:lookup tools:later")[0] == "one two three | four five"


def test_a_tool_looks_as_it_did(place):
    """Frameworks make schemas from signature, name, documentation and annotations."""
    place.write(
        tools=HEAD
        + '''
def lookup(order: str, /, limit: int = 5, *more: str, fast: bool = True, **rest: object) -> dict:
    """Look an order up."""
    live("x")
'''
    )
    named = ", ".join(f"t.__{name}__" for name in ("name", "qualname", "doc", "module", "annotations", "defaults"))
    show = f"inspect.signature(t), {named}, inspect.getfullargspec(t)"
    place.write(
        agent=f"import inspect\nfrom tools import lookup as t\nprint({show}, inspect.getsource(t))\nt('A')\nprint({show})"
    )
    bare = place.run("python", "agent.py")
    assert place.went_live()
    assert answered(place, ("lookup", {"order": "A"}, ANSWER))[0] == bare
    assert "(order: str, /, limit: int = 5, *more: str, fast: bool = True, **rest: object) -> dict" in bare


@pytest.mark.parametrize(
    ("error", "caught"),
    [
        (LookupError("no order"), "LookupError('no order')"),
        (KeyError("x"), "KeyError"),
        (TimeoutError("s"), "TimeoutError('s')"),
    ],
)
def test_a_recorded_error_is_raised_again(place, error, caught):
    """By its class, where that is a built-in or loaded."""
    place.write(tools=HEAD + "def lookup(order):\n    live('x')\n")
    place.write(agent="import tools\ntry:\n    tools.lookup('A')\nexcept Exception as error:\n    print(repr(error))")
    assert answered(place, ("lookup", {"order": "A"}, error))[0].startswith(caught)


RESULTS = {
    "text of JSON": ("-> str", ANSWER, '\'{"state": "late"}\'', True),
    "an object": ("-> dict", ANSWER, "{'state': 'late'}", False),
    "a list": ("-> list[str]", ["late"], "['late']", False),
    "text": ("-> str", "late", "'late'", False),
    "a dataclass": ("-> State", ANSWER, "State(state='late')", True),
    "a dataclass, by name": ("-> 'State'", ANSWER, "State(state='late')", True),
    "nothing said": ("", ANSWER, "{'state': 'late'}", False),
    "a wrong word": ("-> 'Nowhere'", ANSWER, "{'state': 'late'}", False),
    "a class that does not fit": ("-> State", {"other": 1}, "{'other': 1}", False),
    "none": ("-> None", None, "None", False),
}


@pytest.mark.parametrize(("declared", "gave", "shown", "made"), RESULTS.values(), ids=RESULTS)
def test_a_result_has_the_form_that_the_function_declares(place, declared, gave, shown, made):
    """Telemetry holds JSON; what was an instance or a text before is said by the function alone."""
    place.write(tools=f"{HEAD}from dataclasses import dataclass\n@dataclass\nclass State:\n    state: str\n"
                      f"def lookup(order) {declared}:\n    live('x')\n")  # fmt: skip
    place.write(agent="import tools\nprint(repr(tools.lookup('A')))")
    said, result = answered(place, ("lookup", {"order": "A"}, gave))
    assert said == shown
    rules = [entry for entry in result.assumed if entry.get("field") == "response.result"]
    assert made == bool(rules)


ARGUMENTS = {
    "by place": ("lookup('A', 7)", {"order": "A", "limit": 7}),
    "by name": ("lookup(limit=7, order='A')", {"order": "A", "limit": 7}),
    "a default that was recorded": ("lookup('A')", {"order": "A", "limit": 5}),
    "a default that was not": ("lookup('A')", {"order": "A"}),
    "a default that is given": ("lookup('A', limit=5)", {"order": "A"}),
    "a context that nobody recorded": ("lookup('A', context=object())", {"order": "A"}),
    "a model": ("lookup(Order('A'))", {"order": {"id": "A"}}),
    "a date": ("lookup(datetime.date(2026, 1, 2))", {"order": "2026-01-02"}),
}
LOOKUP = (
    HEAD
    + """
import datetime
from dataclasses import dataclass
@dataclass
class Order:
    id: str
def lookup(order, limit=5, context=None):
    live("x")
"""
)


@pytest.mark.parametrize(("call", "had"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_are_compared_as_others_recorded_them(place, call, had):
    """Other instrumentation recorded what the model asked for, not what Python filled in."""
    place.write(tools=LOOKUP, agent=f"from tools import *\nprint({call})")
    said, _ = answered(place, ("lookup", had, ANSWER))
    assert said == str(ANSWER), place.stderr


CHANGES = {
    "another value": ("lookup('B')", "request.arguments.order"),
    "one more": ("lookup('A', colour='red')", "request.arguments.colour"),
    "one more by place": ("lookup('A', 5, None, 'red')", "request.arguments.args"),
    "one twice": ("lookup('A', order='B')", "request.arguments"),
    "data that was not recorded": ("lookup('A', limit=6)", "request.arguments.limit"),
    "none": ("lookup()", "request.arguments"),
}


@pytest.mark.parametrize(("call", "path"), CHANGES.values(), ids=CHANGES)
def test_other_arguments_are_a_change(place, call, path):
    """Also those that the original would not have taken: they are compared as they were given."""
    place.write(
        tools=LOOKUP, agent=f"from tools import *\ntry:\n    print({call})\nexcept Exception as error:\n    print(error)"
    )
    said, result = answered(place, ("lookup", {"order": "A"}, ANSWER), outcome="diverged")
    assert said == ""
    assert result.first_divergence.kind == "request_changed"
    assert result.first_divergence.path.startswith(path)
    assert "ReplayStopped" in place.stderr


def test_a_decorated_tool_crosses_its_boundary_once(place):
    """Named by ``--tool`` as well, it is asked for one time; under another name, ``--tool`` decides."""
    place.write(tools=HEAD + "import otelreplay\n@otelreplay.tool\ndef lookup(order):\n    live('x')\n")
    place.write(agent="import tools\nprint(tools.lookup('A'))")
    assert answered(place, ("lookup", {"order": "A"}, ANSWER))[0] == str(ANSWER)
    assert answered(place, ("find", {"order": "A"}, ANSWER), tools="find=tools:lookup")[0] == str(ANSWER)


def test_decorated_functions_of_children_are_answered(place):
    """No ``--tool``, another process: the boundary asks the host. Agents stand around what they call."""
    place.write(
        child="""
        import otelreplay
        from truth import live
        @otelreplay.tool
        def lookup(order):
            live("x")
        @otelreplay.agent
        def desk(question):
            return lookup("A")
        print(desk("?"))
        """
    )
    place.write(agent="import subprocess, sys\nprint(subprocess.check_output([sys.executable, 'child.py'], text=True).strip())")
    assert place.run("python", "agent.py") == "None"
    assert place.went_live()
    assert answered(place, ("lookup", {"order": "A"}, ANSWER), tools="")[0] == str(ANSWER)


REFUSED = {
    "no such function": ("x = 1", "lookup", "has no lookup"),
    "a class": ("class lookup:\n    pass", "lookup", "this is a class"),
    "a number": ("lookup = 3", "lookup", "cannot be called"),
}


@pytest.mark.parametrize(("tools", "name", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_replaced_ends_the_program(place, tools, name, words):
    """With the reason, before anything of it runs."""
    place.write(tools=tools, agent="import tools\nprint('went on')")
    with Far(recorded(("lookup", {}, 1))) as far:
        assert place.run("python", "agent.py", environ=far.environ(f"tools:{name}")) == ""
    assert words in place.stderr


def test_an_unknown_tool_is_an_unexpected_call(place):
    """Naming a tool that the cassette does not hold is fine; calling it is not."""
    place.write(tools=LOOKUP, agent="import tools\nprint(tools.lookup('A'))")
    _, result = answered(place, ("other", {}, 1), outcome="diverged")
    assert result.first_divergence.kind in ("unexpected_call", "request_changed", "missing_call")


def test_nothing_but_the_standard_library_is_needed(place, tmp_path):
    """A Python that has none of our packages, and not us, is answered."""
    place.write(tools=LOOKUP, agent="import sys\nfrom tools import lookup\nprint(lookup('A'), 'msgspec' in sys.modules)")
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], capture_output=True, check=False
    )
    assert made.returncode == 0, made.stderr
    bare = str(tmp_path / "bare" / "bin" / "python")
    assert "No module" in subprocess.run([bare, "-c", "import msgspec"], capture_output=True, text=True, check=False).stderr
    assert answered(place, ("lookup", {"order": "A"}, ANSWER), python=bare)[0] == f"{ANSWER} False"


def test_pickled_functions_are_stubs_where_they_arrive(place):
    """Also those that are sent by value, code and all."""
    place.write(
        tools=LOOKUP,
        agent="""
        import marshal, pickle, tools
        print(pickle.loads(pickle.dumps(tools.lookup))("A"))
        print(pickle.loads(pickle.dumps(tools.lookup.__code__.co_consts)) is not None)
        """,
    )
    assert answered(place, ("lookup", {"order": "A"}, ANSWER))[0] == f"{ANSWER}\nTrue"


def test_the_tests_see_a_signature():
    """A control: inspect is the reader that frameworks use."""
    assert json.dumps(list(inspect.signature(lambda order: order).parameters)) == '["order"]'
