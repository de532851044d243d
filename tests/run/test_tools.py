"""Tools that nobody decorated are answered from the recording, whoever holds them; their originals cannot be reached."""

import pytest

from tests.run.far import TOOL, Far, Place, recorded

USE = "from tools import lookup\nprint(lookup('A-1'))"
DEFINED = '''
from truth import live
def lookup(order, limit=5):
    """Look an order up."""
    live("lookup")
    return {"live": order}
'''
RECORDED = ("lookup", {"order": "A-1"}, {"state": "late"})


@pytest.fixture
def place(tmp_path):
    """A folder with a program that has one tool, which leaves a trace when it really runs."""
    return Place(tmp_path).write(truth=TOOL, tools=DEFINED)


HOLDERS = {
    "by its module": "import tools\nfound = tools.lookup('A-1')",
    "by a name": "from tools import lookup\nfound = lookup('A-1')",
    "a registry": "from tools import lookup\nREGISTRY = {'x': [lookup]}\nfound = REGISTRY['x'][0](order='A-1')",
    "a default argument": "from tools import lookup\ndef call(tool=lookup):\n    return tool('A-1')\nfound = call()",
    "a closure": "from tools import lookup\ndef made(tool):\n    return lambda: tool('A-1')\nfound = made(lookup)()",
    "a partial": "import functools\nfrom tools import lookup\nfound = functools.partial(lookup, 'A-1')()",
    "a wrapper": """
import functools
from tools import lookup
def noisy(tool):
    @functools.wraps(tool)
    def call(*args):
        return tool(*args)
    return call
found = noisy(lookup)('A-1')
""",
    "what a wrapper wraps": """
import functools
from tools import lookup
found = functools.wraps(lookup)(lambda: 0).__wrapped__('A-1')
""",
    "a bound method of a class that took it": """
from tools import lookup
class Box:
    tool = staticmethod(lookup)
found = Box().tool('A-1')
""",
    "a thread": """
from concurrent.futures import ThreadPoolExecutor
from tools import lookup
with ThreadPoolExecutor() as pool:
    found = pool.submit(lookup, 'A-1').result()
""",
    "a reloaded module": "import importlib, tools\ntools = importlib.reload(tools)\nfound = tools.lookup('A-1')",
    "a copy of the function": """
import types
from tools import lookup
copy = types.FunctionType(lookup.__code__, lookup.__globals__, 'copy', lookup.__defaults__)
found = copy('A-1')
""",
}


@pytest.mark.parametrize("program", HOLDERS.values(), ids=HOLDERS)
def test_a_tool_is_answered_whoever_holds_it(place, program):
    """The recorded result comes, and the original does not run."""
    place.write(agent=program + "\nprint(found)")
    assert place.run("python", "agent.py") == "{'live': 'A-1'}"
    assert place.went_live()
    with Far(recorded(RECORDED)) as far:
        assert place.run("python", "agent.py", environ=far.environ("tools:lookup")) == "{'state': 'late'}", place.stderr
    assert not place.went_live()
    assert far.session.result(child_exit=0).outcome == "as_recorded"


STARTS = {
    "python file": (["python", "agent.py"], "agent:lookup", {"agent": DEFINED + "print(lookup('A-1'))"}),
    "python file, as __main__": (["python", "agent.py"], "__main__:lookup", {"agent": DEFINED + "print(lookup('A-1'))"}),
    "python -c": (["python", "-c", DEFINED + "print(lookup('A-1'))"], "__main__:lookup", {}),
    "python -m module": (["python", "-m", "agent"], "agent:lookup", {"agent": DEFINED + "print(lookup('A-1'))"}),
    "python -m package": (
        ["python", "-m", "desk"],
        "desk.tools:lookup",
        {"desk/tools": DEFINED, "desk/__main__": USE.replace("tools", "desk.tools")},
    ),
    "a folder": (["python", "desk"], "tools:lookup", {"desk/__main__": "import sys\nsys.path.append('.')\n" + USE}),
    "a shell": (["sh", "-c", "exec python3 agent.py"], "tools:lookup", {"agent": USE}),
    "a subprocess": (
        ["python", "agent.py"],
        "tools:lookup",
        {
            "agent": "import subprocess, sys\nprint(subprocess.check_output([sys.executable, 'child.py'], text=True).strip())",
            "child": USE,
        },
    ),
    "a fork": (
        ["python", "agent.py"],
        "tools:lookup",
        {"agent": """
import os
from tools import lookup
if not os.fork():
    print(lookup('A-1'), flush=True)
    os._exit(0)
os.wait()
"""},
    ),
    **{
        f"multiprocessing, {method}": (
            ["python", "agent.py"],
            "agent:lookup",
            {
                "agent": DEFINED
                + "import multiprocessing\n"
                + "if __name__ == '__main__':\n"
                + f"    with multiprocessing.get_context('{method}').Pool(1) as pool:\n"
                + "        print(pool.apply(lookup, ('A-1',)))"
            },
        )
        for method in ("fork", "spawn", "forkserver")
    },
}  # fmt: skip


@pytest.mark.parametrize(("command", "target", "files"), STARTS.values(), ids=STARTS)
def test_a_tool_is_answered_however_python_is_started(place, command, target, files):
    """Scripts, modules, packages, text on the command line, children of all kinds."""
    place.write(**files)
    assert place.run(*command) == "{'live': 'A-1'}", place.stderr
    assert place.went_live()
    with Far(recorded(RECORDED)) as far:
        assert place.run(*command, environ=far.environ(target)) == "{'state': 'late'}", place.stderr
    assert not place.went_live()
