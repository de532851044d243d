"""Which traces are one run.

A trace is a run. Pieces without an agent of their own are traces of their own, and are joined to where they belong:

1. A lone model call goes on from another when the history that it sends begins with the other's request and reply, call ids
   included, or with its request and a turn that only the answers behind it tell of. A history with tool calls says so for
   certain and may go on in several ways; one of plain text may be somebody else's equal greeting, so there each call is
   continued once, by the nearest.
2. A lone model call that answers calls which it does not quote, or names the response that it goes on from, belongs to the
   trace whose reply asked for them: the server keeps the history.
3. A lone model call whose response id another trace holds that ran around it is the same call, told by another package.
4. A lone model call belongs to the agent that ran around it without any model call, and ran the tools that its reply asked for.
5. A trace of nothing but tools (a thread without its context) belongs to the trace whose reply asked for the call: by call
   id, else by name and arguments, if just one trace asked before the tool started. Where two did, it is left alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from otelreplay.reconstruct.draft import names_alike
from otelreplay.reconstruct.fragments import SMALL_TRACE, Asked, Fragment, Histories, fragment_of
from otelreplay.spans import LogRecord, Span

Load = Callable[[str], tuple[Sequence[Span], Sequence[LogRecord]]]
"""The spans and log records of a trace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceExtent:
    """What is known of a trace without reading it. Times in ns."""

    trace_id: str
    start: int
    end: int
    spans: int


def join_traces(
    traces: Iterable[TraceExtent], load: Load, *, known: MutableMapping[str, Fragment] | None = None
) -> list[tuple[str, ...]]:
    """The trace ids of each run, in order of start.

    ``load`` is called for traces of a few spans, and for those that ran while a trace of nothing but tools did. ``known``: what
    such a small trace was found to be before; what is found now is put there too.
    """
    ordered = sorted(traces, key=lambda t: (t.start, t.trace_id))
    known = {} if known is None else known
    small: dict[str, Fragment] = {}
    histories = Histories()
    for trace in ordered if len(ordered) > 1 else ():
        if trace.spans <= SMALL_TRACE:
            small[trace.trace_id] = known.get(trace.trace_id) or fragment_of(*load(trace.trace_id), histories)
    known.update(small)
    groups = _Groups()
    fragments = [small[t.trace_id] for t in ordered if t.trace_id in small]
    _continue([f for f in fragments if f.lone], groups)
    _server_side(fragments, groups)
    around = _Around(ordered, small, load)
    _told_again(fragments, around, groups)
    _hollow(fragments, around, groups)
    _loose([f for f in fragments if f.loose], ordered, small, around, groups)
    return groups.of(t.trace_id for t in ordered)


class _Groups:
    """Sets of traces that grow together."""

    def __init__(self) -> None:
        self._leader: dict[str, str] = {}

    def leader(self, trace: str) -> str:
        while trace in self._leader:
            trace = self._leader[trace]
        return trace

    def join(self, first: str, second: str) -> None:
        a, b = self.leader(first), self.leader(second)
        if a != b:
            self._leader[b] = a

    def of(self, traces: Iterable[str]) -> list[tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for trace in traces:
            found.setdefault(self.leader(trace), []).append(trace)
        return [tuple(members) for members in found.values()]


def _continue(lone: Sequence[Fragment], groups: _Groups) -> None:
    leaving: dict[bytes, list[Fragment]] = {}
    asking: dict[bytes, Fragment] = {}
    for piece in lone:
        for before in [asking[digest] for digest in piece.blanks if digest in asking]:
            groups.join(before.trace_id, piece.trace_id)
        if piece.asks:
            asking[piece.asked] = piece
        found = [earlier for digest in piece.sends for earlier in leaving.get(digest, ())]
        if found:
            earlier = max(found, key=lambda e: (e.start, e.trace_id))
            groups.join(earlier.trace_id, piece.trace_id)
            if not earlier.certain:
                leaving[earlier.leaves].remove(earlier)
        if piece.leaves:
            leaving.setdefault(piece.leaves, []).append(piece)


def _server_side(fragments: Sequence[Fragment], groups: _Groups) -> None:
    asked: dict[str, Fragment] = {}
    said: dict[str, Fragment] = {}
    for piece in fragments:
        earlier = [asked[key] for key in piece.told if key in asked]
        earlier += [said[piece.follows]] if piece.follows in said else []
        if piece.lone and earlier:
            groups.join(max(earlier, key=lambda e: (e.start, e.trace_id)).trace_id, piece.trace_id)
        asked.update((a.call_id, piece) for a in piece.asks if a.call_id)
        if piece.response:
            said[piece.response] = piece


class _Around:
    """The traces of many spans, each read at most once, when a small one is found to have run meanwhile."""

    def __init__(self, ordered: Sequence[TraceExtent], small: Mapping[str, Fragment], load: Load) -> None:
        self._extents = {t.trace_id: t for t in ordered}
        self._large = [t for t in ordered if t.trace_id not in small]
        self._starts = [t.start for t in self._large]
        self._ends = list(accumulate((t.end for t in self._large), max))
        """The latest end of each and all before it."""
        self._load = load
        self._read: dict[str, Fragment] = {}

    def fragment(self, trace: TraceExtent) -> Fragment:
        """What there is of a trace."""
        known = self._read.get(trace.trace_id)
        if known is None:
            known = self._read[trace.trace_id] = fragment_of(*self._load(trace.trace_id))
        return known

    def of(self, piece: Fragment) -> list[TraceExtent]:
        """Those of many spans that had begun before a piece did, and ended after it ended."""
        end, found = self.extent(piece).end, []
        for n in range(bisect_right(self._starts, piece.start) - 1, -1, -1):
            if self._ends[n] < end:
                break
            if end <= self._large[n].end:
                found.append(self._large[n])
        return found

    def extent(self, piece: Fragment) -> TraceExtent:
        """When the trace of a piece ran."""
        return self._extents[piece.trace_id]


def _told_again(small: Sequence[Fragment], around: _Around, groups: _Groups) -> None:
    """Join each lone model call to the one trace around it that tells the same response."""
    telling: dict[str, list[TraceExtent]] = {}
    for other in small:
        for response in other.responses:
            telling.setdefault(response, []).append(around.extent(other))
    for piece in small:
        if not piece.told_again:
            continue
        (response,) = piece.responses
        end = around.extent(piece).end
        hosts = [t for t in telling[response] if t.trace_id != piece.trace_id and t.start <= piece.start and end <= t.end]
        hosts += [t for t in around.of(piece) if response in around.fragment(t).responses]
        if len(hosts) == 1:
            groups.join(hosts[0].trace_id, piece.trace_id)


def _hollow(small: Sequence[Fragment], around: _Around, groups: _Groups) -> None:
    """Join each lone model call to the one agent that has none, ran around it, and ran the tools that its reply asked for."""
    agents = [f for f in small if f.hollow]
    for piece in small:
        if not piece.told_again or not piece.asks:
            continue
        end = around.extent(piece).end
        hosts = [a for a in agents if a.start <= piece.start and end <= around.extent(a).end]
        hosts += [f for f in map(around.fragment, around.of(piece)) if f.hollow]
        ran = [h for h in hosts if any(_same_id(t, c) or _same_content(t, c) for t in h.ran for c in piece.asks)]
        if len(ran) == 1:
            groups.join(ran[0].trace_id, piece.trace_id)


def _loose(
    loose: Sequence[Fragment], ordered: Sequence[TraceExtent], small: dict[str, Fragment], around: _Around, groups: _Groups
) -> None:
    asks, large = _Asks(groups), []
    for trace in ordered if loose else ():
        if trace.trace_id in small:
            asks.add(trace, small[trace.trace_id])
        else:
            large.append(trace)
    for piece in loose:
        for trace in [t for t in large if t.start <= piece.start <= t.end]:
            asks.add(trace, around.fragment(trace), until=trace.end)
            large.remove(trace)
        found = asks.hosts(piece, by_id=True) or asks.hosts(piece, by_id=False)
        if len(found) == 1:
            groups.join(found.pop(), piece.trace_id)


class _Asks:
    """All calls that replies asked for, by what a tool may know of them: id, arguments, name."""

    def __init__(self, groups: _Groups) -> None:
        self._groups = groups
        self._by: dict[tuple[str, str], list[tuple[TraceExtent, int | None, Asked]]] = {}
        self._names: set[str] = set()

    def add(self, trace: TraceExtent, fragment: Fragment, *, until: int | None = None) -> None:
        """``until``: no tool that starts later can be this trace's."""
        for call in fragment.asks:
            self._names.add(call.name)
            for key in (("id", call.call_id), ("arguments", call.arguments), ("name", call.name)):
                self._by.setdefault(key, []).append((trace, until, call))

    def hosts(self, piece: Fragment, *, by_id: bool) -> set[str]:
        """The runs that asked for any of its tools; two are as good as all, since then nobody can tell."""
        match = _same_id if by_id else _same_content
        found: set[str] = set()
        for tool in piece.ran:
            for key in self._keys(tool, by_id=by_id):
                for trace, until, call in self._by.get(key, ()):
                    if trace.start <= piece.start and (until is None or piece.start <= until) and match(tool, call):
                        found.add(self._groups.leader(trace.trace_id))
                        if len(found) > 1:
                            return found
        return found

    def _keys(self, tool: Asked, *, by_id: bool) -> list[tuple[str, str]]:
        if by_id:
            return [("id", tool.call_id)] if tool.call_id else []
        return [("arguments", tool.arguments)] if tool.arguments else [("name", name) for name in self._names]


def _same_id(tool: Asked, call: Asked) -> bool:
    return bool(tool.call_id) and tool.call_id == call.call_id and names_alike(tool.name, call.name)


def _same_content(tool: Asked, call: Asked) -> bool:
    same = not tool.arguments or tool.arguments == call.arguments
    return call.start <= tool.start and names_alike(tool.name, call.name) and same
