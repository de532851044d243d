"""Everything that a conversion needs, from names of files and of a policy."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from otelreplay import __version__
from otelreplay.cassette import Retention
from otelreplay.cassette.directory import DirectoryStore
from otelreplay.errors import UsageError
from otelreplay.inputs import Tally, read_batches
from otelreplay.pipeline.convert import OnRun, convert, untold
from otelreplay.pipeline.result import ConvertResult
from otelreplay.pipeline.shelf import Shelf
from otelreplay.pipeline.spool import Spool
from otelreplay.redaction import Policy, Redactor
from otelreplay.spans import Batch
from otelreplay.wiring.files import STDIN, opened, shown
from otelreplay.wiring.policies import policy_named, redactor_of
from otelreplay.wiring.settings import now, open_keyring

Progress = Callable[[int], None]

ABANDONED = 3600.0
"""Seconds after which a half-written hidden file is taken for left behind, where the file system has no locks to tell."""


def convert_files(
    files: Sequence[str],
    *,
    out: Path,
    policy: str,
    one_run: bool,
    retention: Retention,
    progress: Progress,
    on_run: OnRun = untold,
) -> ConvertResult:
    """Convert trace files into cassettes in the folder ``out``.

    ``progress`` is told of every so many bytes that were read, ``on_run`` of every run that was rebuilt from them.
    """
    check_input(files)
    rules, keyring = policy_named(policy), open_keyring()
    redactor, epoch = redactor_of(rules, keyring=keyring)
    check_folder(out)
    store = DirectoryStore(out, flat=True)
    store.recover(older_than=ABANDONED, now=now().timestamp())
    shelf = Shelf(
        store,
        signer=keyring.signer(),
        created=lambda: now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        facts=facts(
            rules,
            epoch=epoch,
            retention=redacted(retention, redactor),
            files=[redactor.text(Path(shown(name)).name) for name in files],
        ),
    )
    tally = Tally()
    with seldom_collected(), Spool(out) as spool:
        result = convert(
            batches(files, progress, tally),
            redactor=redactor,
            spool=spool,
            shelf=shelf,
            tenant=rules.tenant,
            one_run=one_run,
            on_run=on_run,
        )
    return replace(result, input_notes=tuple(sorted(tally.notes.items())))


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Python's collector looks for circles less often, and not among what is there already.

    A conversion holds many values and few circles; at the usual pace the collector takes a third of its time, looking through
    the same values again and again.
    """
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def batches(files: Sequence[str], progress: Progress, tally: Tally) -> Iterator[Batch]:
    """What the files hold, one after the other."""
    for name in files:
        with opened(name) as stream:
            yield from read_batches(stream, name=shown(name), on_bytes=progress, tally=tally)


def facts(policy: Policy, *, epoch: int | None, retention: Retention, files: Sequence[str]) -> dict[str, Any]:
    """What every header of the conversion says."""
    public = policy.public()
    return {
        "source": {"files": list(files)},
        "policy": public,
        "policy_digest": policy.digest(),
        "detectors": {"otelreplay": public["detectors"]},
        "key_epoch": epoch,
        "retention": retention,
        "versions": {"otelreplay": __version__},
    }


def redacted(retention: Retention, redactor: Redactor) -> Retention:
    """What the user wrote about the cassettes passes the policy like everything else in them."""
    texts = {"purpose": retention.purpose, "classification": retention.classification}
    return retention.model_copy(update={name: redactor.text(text) for name, text in texts.items() if text})


def check_input(files: Sequence[str]) -> None:
    """Raise for files that cannot be opened, before anything is written."""
    if files.count(STDIN) > 1:
        raise UsageError("standard input can be read once only", code="input.twice", where="-", next_step="name it once")
    for name in files:
        if name != STDIN and not Path(name).is_fifo():  # what a pipe gives, it gives once
            with opened(name):
                pass


def check_folder(folder: Path) -> None:
    """Raise UsageError if no cassette could be written to ``folder``, before the work rather than after it."""
    above = folder
    while not above.exists() and above != above.parent:
        above = above.parent
    if not above.is_dir():
        raise UsageError(
            "this is a file, not a folder",
            code="output.not_a_folder",
            where=str(above),
            next_step="name another folder with --out",
        )
    if not os.access(above, os.W_OK | os.X_OK):
        raise UsageError(
            "this folder cannot be written to (Permission denied)",
            code="output.unwritable",
            where=str(above),
            next_step="name a folder with --out that you may write to",
        )
