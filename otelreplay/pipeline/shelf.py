"""Recordings into a store of sealed cassettes: a first one, an equal one left alone, or the next revision.

A store makes each cassette durable before it answers, which is mostly waiting for the disk. So a few are put at once: the
waits overlap, and the disk flushes several in one go. Their lines are made one run after the other by the thread that asks:
that is work of the processor, of which threads would only get in each other's way.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from msgspec.structs import asdict

from otelreplay.cassette import Header, Parent, Signer, header_for, write_cassette
from otelreplay.cassette.store import Arrival, CassetteStore, Entry, arrival, same_content
from otelreplay.events import Completeness, Recording, assess
from otelreplay.pipeline.result import ConvertedRun, Outcome
from otelreplay.redaction import Placeholder

AT_ONCE = 4
"""Cassettes that are on their way to the disk at one time."""
RECORDS_AT_ONCE = 2000
"""Spans and log records that these runs may have together; a larger run goes alone, so that memory does not multiply."""

REASON = "converted again, from other input or under another policy"


class Shelf:
    """Seals recordings and puts them into a store.

    ``created`` gives the time as RFC 3339. ``facts`` are members of every header: policy, retention, source, versions, ...
    ``reason`` is why a revision of a run is made.
    """

    def __init__(
        self,
        store: CassetteStore,
        *,
        signer: Signer,
        created: Callable[[], str],
        facts: Mapping[str, Any],
        reason: str = REASON,
    ) -> None:
        self.store, self.signer, self.created, self.facts, self.reason = store, signer, created, facts, reason
        self._newest = {entry.run_id: entry for entry in store.list(superseded=True)}

    def put_all(self, recordings: Iterable[tuple[Recording, Sequence[Placeholder]]]) -> list[ConvertedRun]:
        """Store runs as they come, each with its placeholders; the results are in their order."""
        done: list[ConvertedRun] = []
        waiting: deque[tuple[int, Future[ConvertedRun]]] = deque()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for recording, placeholders in recordings:
                size = recording.span_count + recording.log_count
                while waiting and (len(waiting) == AT_ONCE or sum(held for held, _ in waiting) + size > RECORDS_AT_ONCE):
                    done.append(waiting.popleft()[1].result())
                put = self._ready(recording, placeholders, whole=size <= RECORDS_AT_ONCE)
                waiting.append((size, pool.submit(put)))
                del recording, put
            done += [future.result() for _, future in waiting]
        return done

    def put(self, recording: Recording, *, placeholders: Sequence[Placeholder] = ()) -> ConvertedRun:
        """Store one run. ``placeholders``: those that its events hold."""
        return self._ready(recording, placeholders, whole=False)()

    def aside(self, run_id: str) -> None:
        """The run's cassette was set aside: if it is put again, that makes a new revision, also of equal content."""
        if run_id in self._newest:
            self._newest[run_id] = replace(self._newest[run_id], superseded=True)

    def _ready(self, recording: Recording, placeholders: Sequence[Placeholder], *, whole: bool) -> Callable[[], ConvertedRun]:
        """What is left to do to store one run; ``whole``: with all its lines made, so that it is little but waiting."""
        found = assess(recording.events, recording.missing)
        header = header_for(recording, **self.facts, placeholders=list(map(asdict, placeholders)), created=self.created())
        held = self._held(recording.run_id)
        outcome: Outcome = "written"
        if held is not None:
            if self._equal(recording, header, found, held):
                unchanged = _run(recording, found, held[0], "unchanged", superseded=None)
                return lambda: unchanged
            header, outcome = _revision(header, held[1], self.reason), "revised"
        lines = write_cassette(recording, header=header, signer=self.signer, summary=summary(found))
        lines = lines.made() if whole else lines

        def put() -> ConvertedRun:
            entry = self.store.put(lines)
            self._newest[entry.run_id] = entry
            return _run(recording, found, entry, outcome, superseded=held[0].name if held else None)

        return put

    def _held(self, run_id: str) -> tuple[Entry, Arrival] | None:
        entry = self._newest.get(run_id)
        if entry is None:
            return None
        with self.store.open(entry.name) as stream:
            return entry, arrival(stream)

    def _equal(self, recording: Recording, header: Header, found: Completeness, held: tuple[Entry, Arrival]) -> bool:
        """Would this be the very cassette that is there, but for when and from what it was made?"""
        entry, old = held
        if entry.superseded:  # set aside: it is there, but not current
            return False
        same = header.model_copy(update={"revision": old.header.revision, "parent": old.header.parent})
        made = b"".join(write_cassette(recording, header=same, signer=self.signer, summary=summary(found)))
        with self.store.open(entry.name) as stream:
            return same_content(io.BytesIO(made), stream)


def summary(found: Completeness) -> dict[str, Any]:
    """What the seal keeps of a completeness report."""
    fields = {"recorded": found.recorded, "inferred": found.inferred, "absent": found.absent}
    return {"verdict": found.verdict, "fields": fields, "gaps": len(found.gaps) + len(found.missing)}


def _revision(header: Header, old: Arrival, reason: str) -> Header:
    link = Parent(root=old.seal.root, kind="revision", reason=reason)
    return header.model_copy(update={"revision": old.header.revision + 1, "parent": link})


def _run(recording: Recording, found: Completeness, entry: Entry, outcome: Outcome, *, superseded: str | None) -> ConvertedRun:
    return ConvertedRun(
        run_id=entry.run_id,
        revision=entry.revision,
        cassette=entry.name,
        outcome=outcome,
        superseded=superseded,
        verdict=found.verdict,
        events=found.events,
        missing=len(found.gaps) + len(found.missing),
        spans=recording.span_count,
        logs=recording.log_count,
    )
