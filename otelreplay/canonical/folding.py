"""A fold over nested values without recursion: the shared engine of encoding and decoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import is_
from typing import Any


class Frame:
    """One container under way: the children still to do, those done, and how to put them together."""

    __slots__ = ("build", "done", "labels", "pending", "source")

    def __init__(
        self,
        source: Any,
        children: Sequence[Any],
        build: Callable[[list[Any]], Any],
        labels: Sequence[str | int] | None = None,
    ) -> None:
        self.source = source
        self.pending: Iterator[Any] = iter(children)
        self.done: list[Any] = []
        self.build = build
        self.labels = labels
        """Names of the children in paths; None where a level of the encoding has no level in the value."""


def fold(root: Any, enter: Callable[[Any, list[Frame]], Any]) -> Any:
    """Fold from the leaves up.

    ``enter(item, stack)`` gives a :class:`Frame` for an item whose children come first, else the finished result. The depth
    of an item is the length of the stack.
    """
    result = enter(root, [])
    if type(result) is not Frame:
        return result
    stack = [result]
    while stack:
        frame = stack[-1]
        for item in frame.pending:
            result = enter(item, stack)
            if type(result) is Frame:
                stack.append(result)
                break
            frame.done.append(result)
        else:
            result = frame.build(frame.done)
            stack.pop()
            if stack:
                stack[-1].done.append(result)
    return result


def list_frame(source: list[Any], children: list[Any], labels: Sequence[str | int] | None) -> Frame:
    """A frame that gives the list itself back when no child changed."""
    return Frame(source, children, lambda done: source if _same(children, done) else done, labels)


def dict_frame(source: dict[str, Any], pairs: list[tuple[str, Any]]) -> Frame:
    """A frame that gives the dict itself back when no child changed."""
    keys = [key for key, _ in pairs]
    children = [child for _, child in pairs]
    return Frame(source, children, lambda done: source if _same(children, done) else dict(zip(keys, done, strict=True)), keys)


def _same(before: list[Any], after: list[Any]) -> bool:
    return all(map(is_, before, after))
