"""Puts stubs in place of the functions that ``--tool`` names, in every Python process of a run, before anything can hold them.

Theory of operation. When a module that holds such a function is loaded, its code is changed before it runs
(:mod:`otelreplay.run.codes`): by its loader where it is imported or run by ``-m``, at the audit event ``exec`` where Python,
runpy or the program itself runs a file. There is no moment at which the original exists as a function. When the module has
run, the name is looked up in it:

    a function of that module       has its stub; it is opened, so that it takes any arguments
    one from elsewhere, a lambda    gets its stub now, in place; so does whatever it wraps (``__wrapped__``)
    a wrapper around the stub       is replaced too: what it adds (a client, a retry) is no part of the recording
    a function of otelreplay's      stays, if it has the same name: its boundary answers by itself
    an object around the stub       stays: a framework's tool
    an object around another        its function is replaced: ``func``, ``coroutine``, ``fn``, ...
    a partial, a C function, an object that can be called    every reference to it is replaced
    a class                         is refused: its method can be named

Loaded in processes that may have nothing but the standard library, and imports little: each of them pays for it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from otelreplay.run import codes, memory
from otelreplay.run.named import Known, Tool
from otelreplay.run.named import tool as named

TOOLS: Final = "OTELREPLAY_RUN_TOOLS"
"""The variable that holds the tools: a JSON list of objects with ``name`` and ``target`` (``module:path``)."""
_WITHIN: Final = ("func", "coroutine", "fn", "async_fn", "_fn", "_async_fn", "function", "_function", "__wrapped__")
"""Where objects of frameworks keep the function they were made of."""
_MAIN: Final = "__main__"
_WRAPPERS: Final = f"otelreplay{os.sep}instrument{os.sep}wrappers.py"


class Stub(Known):
    """What the code of a stub calls."""

    __slots__ = ("code",)

    is_stub_of_otelreplay = True

    def __init__(self, of: Tool, code: CodeType) -> None:
        super().__init__(of, code.co_flags & codes.KINDS, code.co_qualname)
        of.stubs.append(self)
        self.code = code if of.live else None

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call of the function gives."""
        if self.bind is None:
            caller = sys._getframe(1).f_code
            for function in holders(caller):
                open_up(function, self)
        from otelreplay.run import standing

        return standing.dispatch(self, args, kwargs)

    def __reduce__(self) -> Any:
        """Pickled by name: a function that is sent by value is a stub where it arrives."""
        return _again, (self.tool.name, self.tool.target, self.qualname)


def _again(name: str, target: str, qualname: str) -> Stub:
    """A stub that was pickled with its function: the same one, or a new one in a process that never loaded the module."""
    for tool in TOOLS_HERE.tools:
        if (tool.name, tool.target) == (name, target):
            return next((s for s in tool.stubs if s.qualname == qualname), tool.stubs[0] if tool.stubs else _orphan(tool))
    return _orphan(named(name, target))


def _orphan(tool: Tool) -> Stub:
    return Stub(tool, _again.__code__)


@dataclass(eq=False, slots=True)
class _Here:
    tools: list[Tool] = field(default_factory=list)
    after: dict[str, list[Callable[[ModuleType], None]]] = field(default_factory=dict)
    """What to do when a module of that name has been imported."""
    busy: bool = False

    def of(self, module: str) -> list[Tool]:
        """The tools of a module."""
        return [tool for tool in self.tools if tool.module == module]


TOOLS_HERE: Final = _Here()


def install(said: str) -> None:
    """Replace the tools of ``OTELREPLAY_RUN_TOOLS`` from now on."""
    TOOLS_HERE.tools += [named(each["name"], each["target"], live=bool(each.get("live"))) for each in json.loads(said or "[]")]
    if TOOLS_HERE.tools:
        sys.addaudithook(_on_exec)
    for tool in TOOLS_HERE.tools:
        module = sys.modules.get(tool.module)
        if module is not None and tool.module != _MAIN:
            settle(module, tool)


def when_imported(name: str, do: Callable[[ModuleType], None]) -> None:
    """Call ``do`` with the module of that name when it has been imported, or now."""
    module = sys.modules.get(name)
    if module is None:
        TOOLS_HERE.after.setdefault(name, []).append(do)
    else:
        do(module)


# ---- when a module is loaded ---------------------------------------------------------------------------------------------


class Finder:
    """Stands first in ``sys.meta_path``: lets the others find, and looks over the shoulder of the loader they give."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        """See :class:`importlib.abc.MetaPathFinder`."""
        if fullname not in TOOLS_HERE.after and not TOOLS_HERE.of(fullname):
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec = find(fullname, path, target)
            if spec is not None:
                _watch(spec.loader, fullname)
                return spec
        return None


def _watch(loader: Any, module: str) -> None:
    """Have a loader give changed code, and tell when the module has run. It stays the loader that it is."""
    if loader is None or isinstance(loader, type) or hasattr(loader, "_otelreplay"):
        return
    get_code, exec_module = getattr(loader, "get_code", None), getattr(loader, "exec_module", None)

    def changed(fullname: str = module) -> Any:
        code = get_code(fullname)  # type: ignore[misc]
        return (
            planted(code, [tool for tool in TOOLS_HERE.of(fullname) if not tool.live]) if isinstance(code, CodeType) else code
        )

    def run(loaded: ModuleType) -> None:
        exec_module(loaded)  # type: ignore[misc]
        for tool in TOOLS_HERE.of(loaded.__name__):
            settle(loaded, tool)
        for do in TOOLS_HERE.after.get(loaded.__name__, ()):
            do(loaded)

    try:
        loader._otelreplay = True
        if get_code is not None:
            loader.get_code = changed
        if exec_module is not None:
            loader.exec_module = run
    except AttributeError:  # a loader that takes no attributes: the audit event sees its module
        return


def planted(code: CodeType, tools: Sequence[Tool]) -> CodeType:
    """The code of a module with stubs in it."""
    for tool in tools:
        code = codes.exchanged(code, tool.path, lambda own, tool=tool: _born(own, tool)) or code  # type: ignore[misc]
    return code


def _born(code: CodeType, tool: Tool) -> CodeType:
    if codes.dispatch_of(code) is not None:
        return code
    return codes.born(code, Stub(tool, code))


def _on_exec(event: str, arguments: tuple[Any, ...]) -> None:
    """Code is about to be run that no loader of ours has changed: the file that Python was started with, or a program's own."""
    if event != "exec" or TOOLS_HERE.busy:
        return
    code = arguments[0]
    if type(code) is not CodeType or code.co_name != "<module>":
        return
    tools = [tool for tool in TOOLS_HERE.tools if _may_be(tool.module, code.co_filename)]
    if not tools or _imported(sys._getframe(1) if sys._getframe(0).f_back else None):
        return
    TOOLS_HERE.busy = True
    try:
        new = planted(code, tools)
        if new is not code:
            memory.overwrite(code.co_consts, new.co_consts)
            for tool in tools:
                replaced(tool)
    finally:
        TOOLS_HERE.busy = False


def _may_be(module: str, file: str) -> bool:
    """Is a file the module of that name, run as a program?"""
    name = file.replace("\\", "/").rpartition("/")[2]
    return module == _MAIN or name.removesuffix(".py") == module.rpartition(".")[2]


def _imported(frame: Any) -> bool:
    """Is it the import system that runs the code? Then the loader has changed it."""
    return frame is not None and frame.f_code.co_filename.startswith("<frozen importlib")


# ---- when it has run -----------------------------------------------------------------------------------------------------


def settle(module: ModuleType, tool: Tool) -> None:
    """Look the name up in a module that has run, and see to it that nothing behind it is the original."""
    held: Any = module
    for part in tool.path:
        above, held = held, _static(held, part)
        if held is None:
            refused(tool, f"the module {tool.module} has no {'.'.join(tool.path)}", "name a function of that module")
    if isinstance(held, staticmethod | classmethod):
        held = held.__func__
    if isinstance(held, MethodType):
        held = held.__func__
    if isinstance(held, FunctionType):
        take(held, tool)
    elif isinstance(held, type):
        refused(tool, "this is a class", f"name the method that is the tool: {tool.target}.METHOD")
    elif inner := list(_functions_in(held)):
        for function in inner:
            take(function, tool)
    elif tool.stubs:
        pass  # a framework's object, made of a function that was a stub already
    elif callable(held):
        _exchange_references(held, above, tool)
    else:
        refused(tool, "this cannot be called", "name a function of that module")
    for stub in tool.stubs:
        for function in _made_of(stub):
            open_up(function, stub)
    replaced(tool)


def replaced(tool: Tool) -> None:
    """Say that a tool is in place."""
    _tell({"type": "replaced", "name": tool.name, "target": tool.target})


def _static(held: Any, part: str) -> Any:
    """An attribute as it is stored: a method of a class is not bound, and no property runs."""
    if isinstance(held, type):
        return next((vars(base)[part] for base in held.__mro__ if part in vars(base)), None)
    return getattr(held, part, None)


def take(function: FunctionType, tool: Tool) -> None:
    """Put a stub into a function that exists, and into those that it wraps."""
    seen: list[Any] = []
    while isinstance(function, FunctionType) and function not in seen:
        seen.append(function)
        if not seen[1:] and _own_name(function) == tool.name:
            return  # decorated under this name: its boundary asks, and nothing behind it runs
        stub = codes.dispatch_of(function.__code__)
        open_up(function, stub if isinstance(stub, Stub) else Stub(tool, function.__code__))
        if tool.live:
            return  # what it wraps is a part of it
        function = getattr(function, "__wrapped__", None)  # type: ignore[assignment]


def _own_name(function: FunctionType) -> str | None:
    """The name of the boundary of a function that otelreplay's decorators made; None for any other."""
    if not function.__code__.co_filename.endswith(_WRAPPERS):
        return None
    for cell in function.__closure__ or ():
        name = getattr(cell.cell_contents, "name", None)
        if isinstance(name, str) and hasattr(cell.cell_contents, "kind"):
            return name
    return None


def open_up(function: FunctionType, stub: Stub) -> None:
    """Let a function with a stub take any arguments, while it shows the signature that it had."""
    import inspect

    from otelreplay.instrument.spec import binder

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        signature = None
    if stub.code is not None and stub.original is None:
        stub.original = FunctionType(
            stub.code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        stub.original.__kwdefaults__ = function.__kwdefaults__
    if stub.bind is None:
        stub.bind, stub.method = binder(function, stub.qualname)
        if signature is not None:
            given = list(signature.parameters.values())
            stub.defaults = {p.name: p.default for p in given if p.default is not p.empty}
            stub.places = tuple(p.name for p in given if p.kind < p.VAR_POSITIONAL)[stub.method :]
        stub.returns, stub.function = getattr(function, "__annotations__", {}).get("return"), function
    if signature is not None and "__signature__" not in vars(function):
        function.__signature__ = signature  # type: ignore[attr-defined]
    function.__code__ = codes.opened(function.__code__, stub)


def holders(code: CodeType) -> list[FunctionType]:
    """The functions that have this code."""
    import gc

    return [held for held in gc.get_referrers(code) if isinstance(held, FunctionType) and held.__code__ is code]


def _made_of(stub: Stub) -> list[FunctionType]:
    """The functions with a born stub: all that were made of it, whoever holds them."""
    import gc

    found = []
    for constants in gc.get_referrers(stub):
        for code in gc.get_referrers(constants) if isinstance(constants, tuple) else ():
            if isinstance(code, CodeType):
                found += holders(code)
    return [f for f in found if not f.__code__.co_flags & codes.VARARGS or f.__code__.co_argcount]


def _functions_in(held: Any) -> Iterator[FunctionType]:
    """The functions that a framework's object was made of; the function of a partial may have other uses."""
    if type(held).__module__ == "functools":
        return
    for name in _WITHIN:
        inner = getattr(held, "__dict__", {}).get(name) or (getattr(held, name, None) if name != "__wrapped__" else None)
        inner = inner.__func__ if isinstance(inner, MethodType) else inner
        if isinstance(inner, FunctionType) and "site-packages" not in inner.__code__.co_filename:
            yield inner


def _exchange_references(held: Any, above: Any, tool: Tool) -> None:
    """Put a function of ours wherever the program holds an object that has no code to replace."""
    import contextlib
    import gc
    import inspect
    from types import CellType

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError  # its code is replaced below

    stand_in.__name__ = stand_in.__qualname__ = tool.path[-1]
    stand_in.__annotations__.clear()
    stand_in.__module__, stand_in.__doc__ = tool.module, getattr(held, "__doc__", None)
    with contextlib.suppress(TypeError, ValueError):
        stand_in.__signature__ = inspect.signature(held)  # type: ignore[attr-defined]
    stub = Stub(tool, stand_in.__code__)
    stub.qualname = tool.path[-1]
    open_up(stand_in, stub)  # type: ignore[arg-type]
    stub.original = held if tool.live else None
    setattr(above, tool.path[-1], stand_in)
    for place in gc.get_referrers(held):
        if isinstance(place, dict):
            for key in [k for k, value in place.items() if value is held]:
                place[key] = stand_in
        elif isinstance(place, list):
            place[:] = [stand_in if value is held else value for value in place]
        elif isinstance(place, CellType):
            place.cell_contents = stand_in
        elif isinstance(place, tuple | set | frozenset):
            refused(tool, f"a {type(place).__name__} holds it, and cannot be changed", "name the function behind it")


def refused(tool: Tool, what: str, advice: str) -> None:
    """Say that a tool cannot be replaced, and end: what goes on with the original would be live."""
    from otelreplay.boundary import ReplayStopped

    failed = {"type": "failed", "kind": "UsageError", "code": "run.tool", "where": f"--tool {tool.name}={tool.target}"}
    _tell({**failed, "what": what, "next_step": advice})
    raise ReplayStopped(f"otelreplay: --tool {tool.name}={tool.target}: {what}; {advice}")


def _tell(message: dict[str, Any]) -> None:
    guard = sys.modules.get("otelreplay.run.guard")
    if guard is not None:
        guard.say(message)
