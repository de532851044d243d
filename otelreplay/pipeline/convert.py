"""Trace in, cassettes out, in one screen.

Theory of operation. A batch is redacted before anything of it is kept, so that no byte the policy removes reaches the spool, a
cassette or a report. The spool holds redacted spans by trace; one group of traces that belong together is taken out at a time,
rebuilt, redacted once more as events (rules by event path; text that only reconstruction puts together), given its matching
keys and written. Memory is bounded by the largest groups, not by the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from otelreplay.events import Recording
from otelreplay.pipeline.intake import Intake
from otelreplay.pipeline.result import ConvertResult
from otelreplay.pipeline.runs import Census, groups
from otelreplay.pipeline.shelf import Shelf
from otelreplay.pipeline.spool import Spool
from otelreplay.pipeline.stamp import with_keys
from otelreplay.reconstruct import reconstruct
from otelreplay.redaction import Placeholder, Redactor
from otelreplay.spans import Batch, lifted, mark_twins, placed_in_session, with_lengths

OnRun = Callable[[int, int], None]
"""Told of how many of how many runs have been rebuilt, before the first of them and after each."""


def untold(done: int, total: int) -> None:
    """For those who need not know how many of how many runs are done."""


def convert(
    batches: Iterable[Batch],
    *,
    redactor: Redactor,
    spool: Spool,
    shelf: Shelf,
    tenant: str = "",
    one_run: bool = False,
    on_run: OnRun = untold,
) -> ConvertResult:
    """Put every run of ``batches`` on the shelf. ``one_run``: all traces are one run.

    Raises InputError when there is neither a span nor a log record of a trace in the input.
    """
    intake = Intake()
    runs = _rebuilt(batches, intake, redactor=redactor, spool=spool, tenant=tenant, one_run=one_run, on_run=on_run)
    return intake.result(shelf.put_all((with_keys(recording), placeholders) for recording, placeholders in runs))


def recordings(
    batches: Iterable[Batch], *, redactor: Redactor, spool: Spool, intake: Intake, on_run: OnRun = untold
) -> Iterator[Recording]:
    """Every run of ``batches``, redacted, for who only looks at them; ``intake`` counts what came in.

    Raises InputError as :func:`convert` does.
    """
    runs = _rebuilt(batches, intake, redactor=redactor, spool=spool, tenant="", one_run=False, on_run=on_run)
    yield from (recording for recording, _ in runs)


def _rebuilt(
    batches: Iterable[Batch], intake: Intake, *, redactor: Redactor, spool: Spool, tenant: str, one_run: bool, on_run: OnRun
) -> Iterator[tuple[Recording, tuple[Placeholder, ...]]]:
    census = Census()
    for batch in batches:
        census.count(batch.spans)
        logs = list(mark_twins([placed_in_session(redactor.log(log)) for log in batch.logs]))
        intake.count(batch, placed=sum(bool(log.trace_id) for log in logs))
        spool.add([with_lengths(redactor.span(span), span) for span in map(lifted, batch.spans)], logs)
    intake.require_something()
    intake.place_doubts({info.trace_id for info in spool.traces()})
    found = groups(spool, census, one_run=one_run)
    for done, group in enumerate(found):
        on_run(done, len(found))
        spans, logs = spool.take(group)
        intake.repeats(spans)
        rebuilt_run = intake.doubted(reconstruct(spans, logs, tenant=tenant))
        yield redactor.recording_with_placeholders(rebuilt_run)
    on_run(len(found), len(found))
