"""What is known of a decorated function before it is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from otelreplay.boundary import declare
from otelreplay.modules import module_name

Effect = Literal["read", "draft", "write"]
Bound = dict[str, Any]
"""Arguments by name, defaults filled in, without ``self``. The keywords of ``**kwargs`` stand beside the named ones."""

KIND: Final = "otelreplay.kind"
FUNCTION: Final = "otelreplay.function"


@dataclass(slots=True, eq=False, kw_only=True)
class Spec:
    """One decorated function."""

    kind: str
    name: str
    function: str
    """``module:Qualified.Name``."""
    bind: Callable[..., Bound]
    """Called with the arguments of a call; raises TypeError where they do not fit."""
    method: bool
    """The first argument is ``self`` or ``cls``."""
    stream: bool
    """A generator or an async generator."""
    static: dict[str, Any]
    """Attributes that every span of this function carries."""
    idempotency_key: str | Callable[[Mapping[str, Any]], object] | None = None
    provider: str | None = None
    request: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    response: Callable[[Any], Mapping[str, Any] | str] | None = None


def make(kind: str, fn: Callable[..., Any], name: str | None, options: Mapping[str, Any]) -> Spec:
    """Look at a function once, so that a call has little left to do."""
    qualified, module = _qualified_name(fn), module_name(getattr(fn, "__module__", None) or "?")
    chosen = clean(name or _short_name(qualified))
    declare(kind, chosen)
    static: dict[str, Any] = {KIND: kind, FUNCTION: clean(f"{module}:{qualified}")}
    for option, attribute in (("effect", "otelreplay.effect"), ("version", "otelreplay.version")):
        if options.get(option) is not None:
            static[attribute] = clean(str(options[option]))
    inner = code_of(fn)
    bind, method = binder(fn, qualified)
    return Spec(
        kind=kind,
        name=chosen,
        function=static[FUNCTION],
        bind=bind,
        method=method,
        stream=inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner),
        static=static | _of_kind(kind, chosen, fn),
        **{key: options.get(key) for key in ("idempotency_key", "provider", "request", "response")},
    )


def clean(text: str) -> str:
    """Text that OTLP can carry: a lone surrogate is written as its escape."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def code_of(fn: Any) -> Any:
    """The function whose code says what kind of function this is: that of a callable object is its ``__call__``."""
    while hasattr(fn, "func") and not inspect.isroutine(fn):  # functools.partial
        fn = fn.func
    return fn if inspect.isroutine(fn) else getattr(fn, "__call__", fn)  # noqa: B004


def _qualified_name(fn: Any) -> str:
    own = getattr(fn, "__qualname__", None)
    if isinstance(own, str):
        return own
    return _qualified_name(fn.func) if hasattr(fn, "func") else type(fn).__qualname__


def _short_name(qualified: str) -> str:
    """The last name; for ``__call__`` the name of its class."""
    *above, last = qualified.split(".")
    return above[-1] if last == "__call__" and above else last


def _of_kind(kind: str, name: str, fn: Any) -> dict[str, Any]:
    if kind == "tool":
        doc = (getattr(fn, "__doc__", None) or "").strip().partition("\n")[0].strip()
        described = {"gen_ai.tool.description": clean(doc)} if doc and not isinstance(fn, type) else {}
        own = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.type": "function"}
        return own | described
    if kind == "agent":
        return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    if kind == "retrieval":
        return {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": name}
    return {"gen_ai.operation.name": "chat"} if kind == "model" else {}


# ---- arguments by name -------------------------------------------------------------------------------------------------


def unnamed(*args: Any, **kwargs: Any) -> Bound:
    """Arguments that no signature names."""
    return {**({"args": [*args]} if args else {}), **kwargs}


def binder(fn: Callable[..., Any], qualified: str) -> tuple[Callable[..., Bound], bool]:
    """A function that gives the arguments of a call by name, and whether the first of them is ``self``.

    It is a lambda with the same parameters, written as text: Python itself then binds, faster than any library does.
    """
    try:
        parameters = list(inspect.signature(fn).parameters.values())
        method = _is_method(parameters, qualified)
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        return eval(_lambda(parameters, method), {"__defaults": defaults}), method
    except Exception:  # a signature that cannot be read, or names that no source can hold
        return unnamed, False


def _is_method(parameters: list[inspect.Parameter], qualified: str) -> bool:
    above = qualified.rpartition(".")[0]
    in_class = bool(above) and not above.endswith("<locals>")
    return in_class and bool(parameters) and parameters[0].name in ("self", "cls", "mcs")


def _lambda(parameters: list[inspect.Parameter], method: bool) -> str:
    """Source of the binder. ``*args`` is a list under its name, left out if empty, as ``**kwargs`` is spread out.

    Where a keyword could have the name of another argument, ``**kwargs`` is an object under its own name.
    """
    declared: list[str] = []
    items: list[str] = []
    kinds = [p.kind for p in parameters]
    before: Any = inspect.Parameter.POSITIONAL_ONLY
    hidden = inspect.Parameter.POSITIONAL_ONLY in kinds or inspect.Parameter.VAR_POSITIONAL in kinds
    for n, p in enumerate(parameters):
        if before == p.POSITIONAL_ONLY != p.kind and n:
            declared.append("/")
        if p.kind == p.KEYWORD_ONLY and before not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            declared.append("*")
        before = p.kind
        star = "*" if p.kind == p.VAR_POSITIONAL else "**" if p.kind == p.VAR_KEYWORD else ""
        declared.append(f"{star}{p.name}" + ("" if p.default is p.empty else f"=__defaults[{p.name!r}]"))
        if method and n == 0:
            continue
        if star == "*":
            items.append(f"**({{{p.name!r}: [*{p.name}]}} if {p.name} else {{}})")
        elif star == "**":
            items.append(f"**({{{p.name!r}: {p.name}}} if {p.name} else {{}})" if hidden else f"**{p.name}")
        else:
            items.append(f"{p.name!r}: {p.name}")
    if parameters and before == inspect.Parameter.POSITIONAL_ONLY:
        declared.append("/")
    return f"lambda {', '.join(declared)}: {{{', '.join(items)}}}"
