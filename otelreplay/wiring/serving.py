"""A receiver, or the sealing of what one left, from a store folder and what the user chose.

<store>/cassettes/      current cassettes, and nothing else
<store>/superseded/     older revisions
<store>/inbox/          spans.db: what waits; lock: held by the process that serves
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from otelreplay.cassette import Retention
from otelreplay.cassette.directory import DirectoryStore
from otelreplay.cassette.keyring import Keyring
from otelreplay.errors import InputError, KeyringError, UsageError
from otelreplay.pipeline.shelf import Shelf
from otelreplay.receiver.access import Access
from otelreplay.receiver.assembler import Assembler, Desk
from otelreplay.receiver.counters import Counters
from otelreplay.receiver.lock import StoreLock
from otelreplay.receiver.sealer import answer_of, wanted
from otelreplay.receiver.server import Receiver, Settings
from otelreplay.receiver.sqlite import SqliteInbox
from otelreplay.receiver.status import counts_in, status
from otelreplay.redaction import Policy
from otelreplay.wiring.converting import ABANDONED, check_folder, facts, seldom_collected
from otelreplay.wiring.policies import policy_named, redactor_of
from otelreplay.wiring.settings import now, open_keyring

REASON = "spans that came after it was sealed"
_POLICY, _KEYS = "policy", "pseudonym_keys"


@dataclass(frozen=True)
class Workshop:
    """A store that this process holds, with all that assembling its runs needs."""

    inbox: SqliteInbox
    access: Access
    assembler: Assembler
    counters: Counters
    desk_of: Callable[[str], Desk]


@contextmanager
def serving(
    store: Path, *, policy: str, settings: Settings, tokens: Mapping[str, str], say: Callable[[str], None]
) -> Iterator[Receiver]:
    """A receiver over a store, until the context ends; what is pending is sealed then.

    Raises UsageError: ``store.in_use``, ``serve.address``; KeyringError ``keyring.other_store``; InputError ``inbox.corrupt``.
    """
    check_folder(store)
    with workshop(store, policy=policy, tokens=tokens) as held, seldom_collected():
        receiver = Receiver(
            held.inbox,
            held.assembler,
            redactor_of=lambda tenant: held.desk_of(tenant).redactor,
            access=held.access,
            settings=settings,
            counters=held.counters,
            clock=time.time_ns,
            say=say,
        )
        try:
            yield receiver
        finally:
            done = receiver.close()
            for problem in done.problems:
                say(problem)


@contextmanager
def workshop(store: Path, *, policy: str, tokens: Mapping[str, str]) -> Iterator[Workshop]:
    """Hold a store: no other process may serve or seal it meanwhile."""
    lock = StoreLock(store / "inbox" / "lock")
    if not lock.taken:
        raise UsageError(
            "another process serves this store",
            code="store.in_use",
            where=str(store),
            next_step="stop it first, or name another folder with --store",
        )
    try:
        inbox = open_inbox(store)
        try:
            yield _workshop(store, inbox, policy, tokens)
        finally:
            inbox.close()
    finally:
        lock.close()


def _workshop(store: Path, inbox: SqliteInbox, policy: str, tokens: Mapping[str, str]) -> Workshop:
    keyring, rules = open_keyring(), policy_named(policy)
    access = Access(tokens, default=rules.tenant)
    check_keys(inbox, keyring, rules, access.tenants)
    inbox.note({_POLICY: str(Path(policy).resolve()) if Path(policy).is_file() else policy})
    cassettes = DirectoryStore(store)
    cassettes.recover(older_than=ABANDONED, now=now().timestamp())
    counters = Counters(counts_in(inbox))

    @cache
    def desk_of(tenant: str) -> Desk:
        mine = rules.model_copy(update={"tenant": tenant})
        redactor, epoch = redactor_of(mine, keyring=keyring)
        return Desk(redactor, _shelf(cassettes, keyring, mine, epoch))

    assembler = Assembler(inbox, desk_of=desk_of, store=cassettes, counters=counters, clock=time.time_ns)
    for tenant in access.tenants:
        desk_of(tenant)  # a policy that cannot be used is known at the start
    return Workshop(inbox, access, assembler, counters, desk_of)


def _shelf(store: DirectoryStore, keyring: Keyring, policy: Policy, epoch: int | None) -> Shelf:
    said = facts(policy, epoch=epoch, retention=Retention(), files=())
    return Shelf(
        store,
        signer=keyring.signer(),
        created=lambda: now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        facts={**said, "source": {"received": "otlp"}},
        reason=REASON,
    )


def open_inbox(store: Path) -> SqliteInbox:
    """The inbox of a store; errors of the file system and of the file are said in one sentence."""
    path = store / "inbox" / "spans.db"
    try:
        return SqliteInbox(path, clock=time.time_ns)
    except sqlite3.OperationalError as error:
        raise InputError(
            f"the inbox cannot be opened ({getattr(error, 'sqlite_errorname', 'SQLITE_ERROR')})",
            code="inbox.unreadable",
            where=str(path),
            next_step="check the disk, the path and its permissions",
        ) from None


def check_keys(inbox: SqliteInbox, keyring: Keyring, policy: Policy, tenants: tuple[str, ...]) -> None:
    """Is this keyring the one that the store's pseudonyms were made with? If the store has none yet, it is from now on.

    Without this, a receiver with another keyring would make a new key, and equal values would get other pseudonyms.
    """
    if not policy.needs_key():
        return
    known: dict[str, str] = json.loads(inbox.facts().get(_KEYS, "{}"))
    for name in sorted({*tenants, *known}):
        if name in known:
            marks = [_mark(keyring.pseudonym_key_of(epoch, name)) for epoch in keyring.pseudonym_epochs(name)]
            if known[name] not in marks:
                raise KeyringError(
                    "the pseudonyms of this store were made with a key that this keyring does not hold",
                    code="keyring.other_store",
                    where=str(keyring.folder),
                    next_step="point OTELREPLAY_KEYS to the folder that holds it, or use a new store",
                )
        known[name] = _mark(keyring.pseudonym_key(name)[1])
    inbox.note({_KEYS: json.dumps(known)})


def _mark(key: bytes) -> str:
    """Tells keys apart, and tells nothing about them."""
    return sha256(b"otelreplay pseudonym key\0" + key).hexdigest()[:32]


def seal_store(store: Path, *, run: str, policy: str | None, wait: float) -> dict[str, Any]:
    """Seal what is pending in a store, by whoever serves it or, when nobody does, here.

    Raises UsageError ``seal.unknown_run`` when nothing is known of ``run``, ``seal.no_answer`` after ``wait`` seconds.
    """
    if not (store / "inbox" / "spans.db").is_file():
        raise InputError(
            "this is no store of a receiver", code="store.not_a_store", where=str(store), next_step="name the folder of --store"
        )
    lock = StoreLock(store / "inbox" / "lock")
    served = not lock.taken
    lock.close()
    answer = _ordered(store, run, wait) if served else _sealed_here(store, run, policy)
    if run and not answer["runs"] and not answer["problems"] and not _is_sealed(store, run):
        raise UsageError(
            "the store holds no such run",
            code="seal.unknown_run",
            where=str(store),
            next_step="`otelreplay status` lists what is pending, `otelreplay list` what is sealed",
        )
    return answer


def _sealed_here(store: Path, run: str, policy: str | None) -> dict[str, Any]:
    if policy is None:
        inbox = open_inbox(store)
        policy = inbox.facts().get(_POLICY, "default")
        inbox.close()
    with workshop(store, policy=policy, tokens={}) as held:
        return answer_of(held.assembler.seal(wanted(run, held.assembler.name)))


def _ordered(store: Path, run: str, wait: float) -> dict[str, Any]:
    inbox = open_inbox(store)
    try:
        number, until = inbox.order(run), time.monotonic() + wait
        while (answer := inbox.answer(number)) is None:
            if time.monotonic() > until:
                raise UsageError(
                    f"the receiver did not answer within {wait:g} seconds",
                    code="seal.no_answer",
                    where=str(store),
                    next_step="it will seal when it can; look with `otelreplay status`",
                )
            time.sleep(0.05)
        return answer
    finally:
        inbox.close()


def _is_sealed(store: Path, run: str) -> bool:
    return any(entry.run_id == run for entry in DirectoryStore(store).list(superseded=True))


def store_status(store: Path) -> dict[str, Any]:
    """The status of a store, whether it is served now or not."""
    if not (store / "inbox" / "spans.db").is_file():
        raise InputError(
            "this is no store of a receiver", code="store.not_a_store", where=str(store), next_step="name the folder of --store"
        )
    served = _is_served(store)
    inbox = open_inbox(store)
    try:
        return {**status(inbox, counts_in(inbox)), "served": served}
    finally:
        inbox.close()


def _is_served(store: Path) -> bool | None:
    """Does a process hold the store? None where that cannot be found out."""
    try:
        lock = StoreLock(store / "inbox" / "lock")
    except OSError:
        return None
    lock.close()
    return not lock.taken
