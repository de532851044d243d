"""Forks from the names that a user gives: a draft beside its parent, sealed by its first replay."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from otelreplay import canonical
from otelreplay.cassette import Cassette, Header, write_cassette
from otelreplay.cassette.fork import Edit, concluded, draft_lines, forked, observed
from otelreplay.cassette.header import cassette_name
from otelreplay.dialects import attribute_fields
from otelreplay.errors import CassetteFormatError, KeyringError, UsageError
from otelreplay.events import Recording, assess
from otelreplay.pipeline.shelf import summary
from otelreplay.redaction import PseudonymKey, Redactor, compile_policy
from otelreplay.run.answering import policy_of
from otelreplay.wiring.files import STDIN
from otelreplay.wiring.settings import now, open_keyring


def edits_of(given: Sequence[str]) -> list[Edit]:
    """What ``--set FIELD=VALUE`` says: a value that is JSON is that, any other is text."""
    found = []
    for word in given:
        field, equals, text = word.partition("=")
        if not equals or not field:
            raise UsageError("this sets nothing", code="fork.set", where=word, next_step="write it as FIELD=VALUE")
        try:
            value = canonical.loads(text)
        except (ValueError, CassetteFormatError):
            value = text
        found.append(Edit(field.strip(), value))
    return found


def fork(cassette: Cassette, name: str, *, seq: int, edits: Sequence[Edit], reason: str, out: Path | None) -> Path:
    """Write the draft; its file."""
    if out is None and name == STDIN:
        raise UsageError("a fork of standard input needs a folder", code="fork.out", next_step="name one with --out")
    folder = out or Path(name).parent
    redactor = _redactor(cassette.header)
    judge = redactor.event_pass()
    header, recording = forked(
        cassette, seq=seq, edits=edits, reason=redactor.text(reason), created=_created(), clean=judge.event
    )
    known = {p.get("text") for p in header.placeholders if isinstance(p, dict)}
    found = [{name: getattr(p, name) for name in p.__struct_fields__} for p in sorted(judge.found.values())]
    more = [p for p in found if p["text"] not in known]
    if more:
        header = header.model_copy(update={"placeholders": [*header.placeholders, *more]})
    lines = write_cassette(recording, header=header, signer=open_keyring().signer(), further=cassette.further)
    path = folder / cassette_name(header.run_id)
    if path.exists() and header.draft is not None and _is_sealed(path):
        raise UsageError(
            "this fork was made and replayed before", code="fork.exists", where=str(path),
            next_step="replay it again, or give another reason",
        )  # fmt: skip
    _write(path, draft_lines(lines))
    return path


def _redactor(header: Header) -> Redactor:
    """The cassette's own policy.

    Under the key of its pseudonyms where that is here, so that a value which the recording knows keeps its pseudonym.
    """
    policy = policy_of(header.policy)
    epoch, key = header.key_epoch, secrets.token_bytes(32)
    if isinstance(epoch, int):
        with contextlib.suppress(KeyringError):
            key = open_keyring().pseudonym_key_of(epoch, policy.tenant)
    held = PseudonymKey(secret=key, epoch=epoch if isinstance(epoch, int) else 0, tenant=policy.tenant)
    return compile_policy(policy, key=held, env=os.environ, attribute_fields=attribute_fields())


def conclude(cassette: Cassette, name: str, report: Mapping[str, Any]) -> Path | None:
    """Keep what the replay of a fork observed: seal the draft, or make a child of the fork. Its file; None for no fork."""
    link = cassette.header.parent
    if link is None or link.kind != "fork" or name == STDIN:
        return None
    created = _created()
    header, recording, further = concluded(cassette, observed(report, created=created), created=created)
    path = Path(name).parent / cassette_name(header.run_id)
    if cassette.header.draft is not None and Path(name).suffix != ".zst":
        path = Path(name)
    if path.exists() and cassette.header.draft is None:
        return path  # observed before, to the letter
    _seal(path, header, recording, further)
    return path


def _seal(path: Path, header: Header, recording: Recording, further: Sequence[bytes]) -> None:
    found = summary(assess(recording.events, recording.missing))
    signer = open_keyring().signer()
    _write(path, list(write_cassette(recording, header=header, signer=signer, summary=found, further=further)))


def _is_sealed(path: Path) -> bool:
    with path.open("rb") as file:
        return any(line.startswith(b'{"type":"seal",') for line in file)


def _write(path: Path, lines: Sequence[bytes]) -> None:
    """The whole file or nothing."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.inflight")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(number, "wb") as file:  # noqa: PTH123 - of a descriptor
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UsageError(
            f"the fork cannot be written ({error.strerror})", code="output.unwritable", where=str(path.parent),
            next_step="name a folder that you may write to with --out",
        ) from None  # fmt: skip


def _created() -> str:
    return now().strftime("%Y-%m-%dT%H:%M:%SZ")
