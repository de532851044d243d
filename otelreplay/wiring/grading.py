"""Grades of files and folders: cassettes as they are, trace files converted in memory under the default policy."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from otelreplay.cassette import read_cassette
from otelreplay.errors import InputError, OtelReplayError
from otelreplay.events import assess
from otelreplay.inputs import read_batches
from otelreplay.pipeline.convert import recordings
from otelreplay.pipeline.intake import Intake
from otelreplay.pipeline.spool import Spool
from otelreplay.report.cleaning import Clean
from otelreplay.report.grading import FileGrade, Grades, grade_run
from otelreplay.wiring.converting import Progress, seldom_collected
from otelreplay.wiring.files import opened, shown
from otelreplay.wiring.reports import curtain, masked_default
from otelreplay.wiring.settings import now


def files_in(name: str) -> list[str]:
    """The file itself, or every file of a folder at any depth; hidden files and folders are left out."""
    folder = Path(name)
    if not folder.is_dir():
        return [name]
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return [str(path) for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]


def grade_files(name: str, files: list[str], *, progress: Progress) -> Grades:
    """The grades of ``files``, which are those of ``name``. What cannot be read of a folder is listed with the reason.

    Nothing is kept: redacted spans of a trace file that do not fit into memory wait in a temporary folder until it is done.
    Raises InputError when one file was asked for and cannot be read.
    """
    folder = Path(name).is_dir()
    if not folder:
        return Grades(files=(_graded(name, shown(name), progress),))
    return Grades(files=tuple(_of_folder(Path(name), files, progress)), folder=True)


def _of_folder(folder: Path, files: list[str], progress: Progress) -> Iterator[FileGrade]:
    for path in files:
        label = str(Path(path).relative_to(folder))
        try:
            yield _graded(path, label, progress)
        except OtelReplayError as error:
            clean = curtain().text
            yield FileGrade(name=clean(label), problem=clean(f"{error.what} [{error.code}]"), exit_code=error.exit_code)


def _graded(path: str, label: str, progress: Progress) -> FileGrade:
    try:
        return _trace(path, label, progress)
    except InputError as error:
        if error.code != "input.is_cassette":
            raise
    return _cassette(path, label)


def _trace(path: str, label: str, progress: Progress) -> FileGrade:
    clean, intake = curtain().text, Intake()
    with (
        seldom_collected(),
        tempfile.TemporaryDirectory(prefix="otelreplay-") as scratch,
        Spool(Path(scratch)) as spool,
        opened(path) as stream,
    ):
        batches = read_batches(stream, name=shown(path), on_bytes=progress)
        found = recordings(batches, redactor=masked_default(), spool=spool, intake=intake)
        runs = tuple(
            grade_run(run.run_id, assess(run.events, run.missing).verdict, run.events, run.missing, clean=clean)
            for run in found
        )
    return FileGrade(name=clean(label), runs=runs, refused=intake.rejected_total)


def _cassette(path: str, label: str) -> FileGrade:
    with opened(path) as stream:
        held = read_cassette(stream, now=now(), allow_expired=True, where=shown(path))
    clean: Clean = curtain(held.header.policy).text
    verdict = assess(held.events, held.missing).verdict
    run = grade_run(held.header.run_id, verdict, held.events, held.missing, clean=clean)
    return FileGrade(name=clean(label), runs=(run,))
