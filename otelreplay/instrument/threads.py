"""Calls made in other threads belong to the call that started them.

``asyncio`` hands its context to tasks; threads begin with an empty one. From the first call that is recorded or replayed,
``threading.Thread.start`` and ``ThreadPoolExecutor.submit`` (so also ``map`` and ``run_in_executor``) carry two things along:
OpenTelemetry's current context and the agent of a replay. The program's own context variables stay as they are, and where
neither is set nothing is changed. A worker of a pool carries nothing of its own: only what is submitted to it does.
"""

from __future__ import annotations

import contextvars
import functools
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar, overload

from otelreplay.boundary import parent, within
from otelreplay.instrument import tracing

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_lock: Final = threading.Lock()
_originals: dict[str, Any] = {}


def install() -> None:
    """Let threads and thread pools carry the context. Once is enough; safe to call again."""
    with _lock:
        if not _originals:
            _originals.update(start=threading.Thread.start, submit=ThreadPoolExecutor.submit)
            setattr(threading.Thread, "start", _starting(threading.Thread.start))  # noqa: B010
            setattr(ThreadPoolExecutor, "submit", _submitting(ThreadPoolExecutor.submit))  # noqa: B010


def uninstall() -> None:
    """Undo :func:`install`, unless somebody else has wrapped the same methods since."""
    with _lock:
        for kind, name in ((threading.Thread, "start"), (ThreadPoolExecutor, "submit")):
            if getattr(getattr(kind, name), "__wrapped__", None) is _originals.get(name, kind):
                setattr(kind, name, _originals[name])
        _originals.clear()


def _starting(start: Any) -> Any:
    @functools.wraps(start)
    def carrying(self: threading.Thread) -> None:
        if self.ident is None and not _is_worker(self):
            own = vars(self).get("run")
            run = carried(self.run)
            if run != self.run:

                def once() -> None:
                    if own is None:
                        vars(self).pop("run", None)
                    else:
                        vars(self)["run"] = own
                    run()

                vars(self)["run"] = once
        start(self)

    return carrying


def _is_worker(thread: threading.Thread) -> bool:
    pool: Any = sys.modules["concurrent.futures.thread"]
    return getattr(thread, "_target", None) is getattr(pool, "_worker", thread)


def _submitting(submit: Any) -> Any:
    @functools.wraps(submit)
    def carrying(self: ThreadPoolExecutor, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return submit(self, carried(fn), *args, **kwargs)

    return carrying


def carried(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function, to run inside the call that is under way here; the function itself where there is none."""
    context, token = tracing.current(), parent()
    if not context and token is None:
        return fn

    @functools.wraps(fn)
    def inside(*args: Any, **kwargs: Any) -> Any:
        attached = tracing.attach(context) if context else None
        back = within(token)
        try:
            return fn(*args, **kwargs)
        finally:
            back()
            if attached is not None:
                tracing.detach(attached)

    return inside


class _Carrying(Executor):
    """An executor that runs each function in a copy of the context it was submitted from."""

    def __init__(self, inner: Executor) -> None:
        self._inner = inner

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """As the executor around which this one stands."""
        return self._inner.submit(copy_context(fn), *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """As the executor around which this one stands."""
        self._inner.shutdown(wait, cancel_futures=cancel_futures)


@overload
def copy_context(target: Executor, /) -> Executor: ...
@overload
def copy_context(target: F, /) -> F: ...
def copy_context(target: Any, /) -> Any:
    """A function that runs in a copy of the context it was taken in, wherever it is called; or such an executor.

    For threads that are started in ways of their own (a C library, an actor framework). All context variables are carried.
    """
    if isinstance(target, Executor):
        return _Carrying(target)
    context = contextvars.copy_context()

    @functools.wraps(target)
    def inside(*args: Any, **kwargs: Any) -> Any:
        return context.copy().run(target, *args, **kwargs)

    return inside
