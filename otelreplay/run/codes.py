"""Code in place of a function's own. What stands here changes code objects; nothing is looked up, nothing is called.

Theory of operation. A function is replaced by replacing its *code*: whoever holds the function (a registry, a closure, a
default argument, a bound method, a framework's object) holds the same function as before, and none of them can reach the old
code. It is done before the function exists: the code of a module holds the code of its functions as constants, and those of the
named functions are exchanged before the module runs. So a decorator sees the stub already.

There are two stubs. The *born* one has the parameters of the original, so that whatever looks at a signature (frameworks make
schemas from it) sees the same. The *open* one takes any arguments: a call that the original would not have taken is compared as
it was given. A function gets it later, with its signature written beside (:mod:`otelreplay.run.replacing`).

Loaded in processes that may have nothing but the standard library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, Final

Dispatch = Callable[[tuple[Any, ...], dict[str, Any]], Any]
OPTIMIZED, VARARGS, VARKEYWORDS, HAS_DOCSTRING = 0x1, 0x4, 0x8, 0x4000000
GENERATOR, COROUTINE, ITERABLE_COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x100, 0x200
"""As in :mod:`inspect`, which takes long to import. HAS_DOCSTRING: since Python 3.14."""
KINDS: Final = GENERATOR | COROUTINE | ITERABLE_COROUTINE | ASYNC_GENERATOR
"""Flags by which Python tells generators and coroutine functions; they are kept, and the stub returns such an object itself."""
_HELD: Final = "otelreplay: what a stub calls"
STUB: Final = "is_stub_of_otelreplay"
"""Name of an attribute that is true for the class of what a stub calls."""


def exchanged(code: CodeType, path: tuple[str, ...], new: Callable[[CodeType], CodeType]) -> CodeType | None:
    """``code`` of a module or class with the functions of that path in it exchanged; None if it holds none.

    A name that is defined several times (in both branches of an ``if``, or again) is exchanged everywhere.
    """
    constants, found = list(code.co_consts), False
    for n, constant in enumerate(constants):
        if not isinstance(constant, CodeType):
            continue
        if constant.co_name.startswith("<generic parameters of "):
            made = exchanged(constant, path, new)
        elif constant.co_name != path[0]:
            continue
        elif len(path) > 1:
            made = exchanged(constant, path[1:], new)
        else:
            made = new(constant) if constant.co_flags & OPTIMIZED else None  # else it is the body of a class
        if made is not None:
            constants[n], found = made, True
    return code.replace(co_consts=tuple(constants)) if found else None


def born(code: CodeType, dispatch: Dispatch) -> CodeType:
    """A stub with the parameters of ``code``."""
    names = list(code.co_varnames)
    positional, only = code.co_argcount, code.co_kwonlyargcount
    before, between = names[: code.co_posonlyargcount], names[code.co_posonlyargcount : positional]
    named, rest = names[positional : positional + only], names[positional + only :]
    many = rest.pop(0) if code.co_flags & VARARGS else ""
    others = rest.pop(0) if code.co_flags & VARKEYWORDS else ""
    everything = [*names[:positional], *named, many or "x", others or "x"]
    if not all(name.isidentifier() for name in everything):
        return opened(code, dispatch)
    star = [f"*{many}"] if many else ["*"] if named else []
    parameters = [*before, *(["/"] if before else []), *between, *star, *named, *([f"**{others}"] if others else [])]
    given = "".join(f"{name}, " for name in [*before, *between, *([f"*{many}"] if many else [])])
    keywords = [f"{name!r}: {name}" for name in named] + ([f"**{others}"] if others else [])
    return _like(code, ", ".join(parameters), f"({given}), {{{', '.join(keywords)}}}", dispatch)


def opened(code: CodeType, dispatch: Dispatch) -> CodeType:
    """A stub in place of ``code`` that takes any arguments."""
    return _like(code, "*args, **kwargs", "args, kwargs", dispatch)


def _like(code: CodeType, parameters: str, given: str, dispatch: Dispatch) -> CodeType:
    """A stub that looks like ``code`` from outside: name, place, kind, documentation, free variables.

    The free variables have to be the same, because the closure of a function is made for them; they are never read.
    """
    doc = documentation(code)
    lines = [
        f"def around({', '.join(code.co_freevars)}):",
        f" def stub({parameters}):",
        *([f"  {doc!r}"] if doc is not None else []),
        f"  __otelreplay = {_HELD!r}",
        f"  return __otelreplay({given})",
        *(f"  {name}" for name in code.co_freevars),
        " return stub",
    ]
    module = compile("\n".join(lines), code.co_filename, "exec", dont_inherit=True)
    around = next(c for c in module.co_consts if isinstance(c, CodeType))
    stub = next(c for c in around.co_consts if isinstance(c, CodeType))
    return stub.replace(
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
        co_flags=stub.co_flags | (code.co_flags & KINDS),
        co_consts=tuple(dispatch if constant == _HELD else constant for constant in stub.co_consts),
    )


def documentation(code: CodeType) -> str | None:
    """The documentation string of a function, as its code holds it."""
    if sys.version_info >= (3, 14) and not code.co_flags & HAS_DOCSTRING:
        return None
    first = code.co_consts[0] if code.co_consts else None
    return first if isinstance(first, str) else None


def dispatch_of(code: CodeType) -> Any:
    """What a stub calls; None for other code."""
    return next((c for c in code.co_consts if getattr(type(c), STUB, False)), None)
