"""Any trace file → batches, streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from otelreplay.errors import TraceFormatError
from otelreplay.inputs.forms import FORMS, Form, Head, Reading
from otelreplay.inputs.forms.base import HEAD_BYTES, MAX_RECORD
from otelreplay.inputs.forms.foreign import ACCEPTED
from otelreplay.inputs.source import Source
from otelreplay.inputs.tally import Tally
from otelreplay.spans.model import Batch, Rejected

_BLANK = b" \t\r\n\0"
_ZEROS = 1 << 30
"""So many zero bytes in front, and the file is given up."""
_PATIENCE = 200
"""So many refusals before the first thing that is OTLP, and the file is given up as something else."""


def read_batches(
    source: BinaryIO,
    *,
    name: str,
    on_bytes: Callable[[int], None] | None = None,
    tally: Tally | None = None,
    max_record: int = MAX_RECORD,
) -> Iterator[Batch]:
    """Spans and log records of a trace file, as they are read; memory is bounded by one record (or about 32 MiB).

    ``source`` is a file opened for bytes, or standard input; it need not be seekable, and stays open. ``name`` says where it
    comes from in refusals and errors; it does not decide the form. ``on_bytes(n)`` is called for every ``n`` bytes consumed
    (compressed ones, so that they add up to the file's size). ``tally`` is given what was skipped or leniently read.

    A record that cannot be taken in becomes a ``Rejected`` of its batch, and so does a damaged or missing piece of the file;
    everything else is loaded. Raises TraceFormatError (exit 6) when the file is empty or nothing in it can be read:
    ``input.empty``, ``input.unrecognised``, ``input.form_not_read``, ``input.no_ids``, ``input.is_cassette``; LimitError
    (``input.limit``) for a zstd window above 128 MiB and for records that stand, by hundreds of MiB, before their resource.
    """
    tally = tally if tally is not None else Tally()
    opened = Source(source, name=name, on_bytes=on_bytes)
    tally.compression = opened.compression
    zeros = _pass_over_zeros(opened)
    data = opened.peek(HEAD_BYTES)
    head = Head(data, name, complete=len(data) < HEAD_BYTES)
    if not data.strip(_BLANK):
        raise _nothing(opened, len(data) + zeros)
    reading = Reading(name, tally, max_record)
    form = next((form for form in FORMS if form.sniff(head)), None)
    if form is None:
        raise TraceFormatError(
            f"this is no trace: its content looks like {_look(data)}", code="input.unrecognised", where=name, next_step=ACCEPTED
        )
    tally.form = form.label
    if zeros:
        if data.lstrip(b"\0")[:1] in (b"{", b"["):
            opened.advance(len(data) - len(data.lstrip(b"\0")))
        passed = "it starts with zero bytes, as a crash leaves them; they were passed over"
        yield Batch(rejected=(Rejected(f"{name}: byte 0", passed),))
    yield from _recognised(form.read(opened, reading), reading, form)
    if opened.damage:
        yield Batch(rejected=(Rejected(name, opened.damage),))


def _pass_over_zeros(source: Source) -> bool:
    """Move on to where something begins, behind a head that is zero bytes and blanks only; were there zero bytes?

    A few zero bytes may stay, which every form has to bear: an empty message behind its length is four of them.
    """
    zeros = False
    while len(data := source.peek(HEAD_BYTES)) == HEAD_BYTES and not data.strip(_BLANK) and source.offset < _ZEROS:
        zeros = zeros or b"\0" in data
        source.advance(HEAD_BYTES)
    if source.offset:
        count = len(data) - len(data.lstrip(b"\0"))
        source.advance(count - count % 4)
        zeros = zeros or count > 0
    return zeros


def _recognised(batches: Iterator[Batch], reading: Reading, form: Form) -> Iterator[Batch]:
    """Hold back refusals until it is certain that the file is what it looked like; an error if it never is."""
    held: list[Batch] = []
    refusals = 0
    for batch in batches:
        held.append(batch)
        refusals += batch.refused
        if reading.recognised:
            yield from held
            held.clear()
        elif refusals >= _PATIENCE:
            break
    if not reading.recognised:
        raise TraceFormatError(
            f"this is {_no(form)}: {held[0].rejected[0].reason}" if held and held[0].rejected else f"this is {_no(form)}",
            code="input.unrecognised",
            where=reading.name,
            next_step=ACCEPTED,
        )
    yield from held


def _no(form: Form) -> str:
    return "no OTLP" if form.label.startswith("OTLP") else f"not what it looks like ({form.label})"


def _nothing(source: Source, zeros: int) -> TraceFormatError:
    what = source.damage or ("it holds nothing but blanks and zero bytes" if zeros else "it is empty")
    return TraceFormatError(
        what,
        code="input.empty",
        where=source.name,
        next_step="check that the exporter has flushed, and that this is the right file",
    )


def _look(data: bytes) -> str:
    """What the start of an unknown file looks like, without quoting it."""
    start = data[:4096]
    try:
        text = start.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(start) - 4:
            return "binary data"
        text = start[: error.start].decode("utf-8")
    if any(char < " " and char not in "\t\r\n\f" for char in text):
        return "binary data"
    return "HTML or XML" if text.lstrip().startswith("<") else "plain text"
