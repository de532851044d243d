"""A function that ``--tool`` names, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False, slots=True)
class Tool:
    """A function to replace."""

    name: str
    """As the recording calls it."""
    module: str
    path: tuple[str, ...]
    """``("Class", "method")``."""
    live: bool = False
    """It really runs, and the host is told what it gave."""
    stubs: list[Any] = field(default_factory=list)

    @property
    def target(self) -> str:
        """``module:path``."""
        return f"{self.module}:{'.'.join(self.path)}"


def tool(name: str, target: str, *, live: bool = False) -> Tool:
    """The tool of ``module:path``."""
    module, _, path = target.partition(":")
    return Tool(name, module, tuple(part for part in path.split(".") if part != "<locals>"), live=live)


class Known:
    """One function in the source, whoever holds what was made of it."""

    __slots__ = ("bind", "defaults", "flags", "function", "method", "original", "places", "qualname", "returns", "tool")

    def __init__(self, of: Tool, flags: int, qualname: str) -> None:
        self.tool, self.flags, self.qualname = of, flags, qualname
        self.bind: Callable[..., dict[str, Any]] | None = None
        """Names the arguments of a call; None until a function with this stub has been looked at."""
        self.places: tuple[str, ...] = ()
        """The names of the arguments that are given by place, without ``self``."""
        self.method = False
        self.defaults: Mapping[str, Any] = {}
        self.returns: Any = None
        """The type that the function says it returns, as it is written there."""
        self.function: Any = None
        self.original: Any = None
        """What really runs, of a live tool; None of any other: nothing leads to it."""

    def named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name. Those that the function would not have taken are as they were given."""
        if self.bind is not None:
            try:
                return self.bind(*args, **kwargs)
            except TypeError:
                args = args[1:] if self.method else args
        found = {name: value for name, value in zip(self.places, args, strict=False) if name not in kwargs}
        more = args[len(found) :]
        return {**found, **({"args": [*more]} if more else {}), **kwargs}
