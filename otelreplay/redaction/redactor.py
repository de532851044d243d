"""A policy made ready to use: the one object that the rest of the program calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from otelreplay.errors import PolicyError
from otelreplay.events import Recording
from otelreplay.redaction.actions import PseudonymKey
from otelreplay.redaction.chunks import CHUNKS, joined
from otelreplay.redaction.gather import Gatherer
from otelreplay.redaction.leaves import Judge
from otelreplay.redaction.paths import attribute_pattern
from otelreplay.redaction.placeholders import Placeholder, mail_label
from otelreplay.redaction.policy import Policy, Rule
from otelreplay.redaction.recording import EventPass
from otelreplay.redaction.rules import Applied
from otelreplay.redaction.scan import Scanner
from otelreplay.redaction.structure import Structure
from otelreplay.redaction.values import redact_value
from otelreplay.redaction.walker import Walker
from otelreplay.spans import LogRecord, Span

_REGISTERED: Final = Applied(id="registered-secret", action="mask", kind="secret")
_LOST: Final = Applied(id="unwalkable", action="mask")


class Redactor:
    """Applies one policy. Made by :func:`compile_policy`.

    Values go in, values come out; nothing is changed in place, and what a policy leaves alone is the same object. Calls from
    several threads are safe: memories are plain dicts whose worst race is work done twice. Redacting what was redacted
    changes nothing.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        walker: Walker,
        judge: Judge,
        structure: Structure,
        scanner: Scanner,
        rules: Mapping[str, Applied],
        unset: Sequence[str],
    ) -> None:
        self.policy = policy
        self.unset: tuple[str, ...] = tuple(unset)
        """Environment variables that secret rules name and that have no value here."""
        self._walker, self._judge, self._structure, self._scanner, self._rules = walker, judge, structure, scanner, rules
        self._gatherer = Gatherer(scanner)
        self._mails = {mail_label(rule): rule for rule in rules}
        self._placeholders: dict[str, Placeholder] = {}

    def span(self, span: Span) -> Span:
        """The span under the policy: attribute rules, path rules, detectors. What is dropped whole is listed in ``removed``."""
        if CHUNKS in span.attributes:
            span = joined(span, self._scanner)
        return self._walker.span(span)

    def log(self, record: LogRecord) -> LogRecord:
        """The log record under the policy."""
        return self._walker.log(record)

    def recording(self, recording: Recording) -> Recording:
        """Second pass over reconstructed events; fills ``redactions`` of events and the marks of messages."""
        return self.recording_with_placeholders(recording)[0]

    def recording_with_placeholders(self, recording: Recording) -> tuple[Recording, tuple[Placeholder, ...]]:
        """:meth:`recording`, and the placeholders of this recording alone: the table for its header."""
        run = self.event_pass()
        done = run.recording(recording)
        self._placeholders.update(run.found)
        return done, tuple(sorted(run.found.values()))

    def event_pass(self) -> EventPass:
        """The second pass for events that come one by one: what it has judged stays known to it. Not for several threads."""
        return EventPass(
            judge=self._judge, structure=self._structure, rules=self._rules, mails=self._mails, too_deep=_LOST.replace(""),
            gatherer=self._gatherer,
        )  # fmt: skip

    def value(self, value: Any, key: str = "") -> Any:
        """Any plain value by the detector and secret rules, as if it stood under ``key``."""
        if isinstance(value, str):
            return self._scanner.entry(key, value)
        return redact_value(value, self._judge.judge, path=(key,), too_deep=_LOST.replace(""))

    def text(self, text: str) -> str:
        """A text for a person: a line of a report, an error message, a log line."""
        return self._scanner.text(text)

    def placeholders(self) -> tuple[Placeholder, ...]:
        """All placeholders that recordings held so far, sorted."""
        return tuple(sorted(self._placeholders.values()))


def compile_policy(
    policy: Policy, *, key: PseudonymKey | None, secrets: Sequence[str] = (), env: Mapping[str, str] | None = None,
    attribute_fields: Mapping[str, str | Sequence[str]] | None = None,
) -> Redactor:  # fmt: skip
    """Make a policy ready.

    :param key: needed when a rule makes pseudonyms or hashes.
    :param secrets: texts known to be secret, masked wherever they stand.
    :param env: where ``secret: env:NAME`` rules find their values; the process environment is not read here.
    :param attribute_fields: attribute name to event field(s), from the dialects; makes path rules hold on spans too.
    :raises PolicyError: ``policy.key_needed``, ``policy.secret_too_short``.
    """
    if key is None and policy.needs_key():
        first = next(r.id for r in policy.rules if r.action in ("pseudonym", "hash"))
        raise PolicyError(
            f"rule {first!r} makes pseudonyms or hashes, and there is no key to make them under",
            code="policy.key_needed", where=policy.name, next_step="give the tenant's pseudonym key, or use action mask",
        )  # fmt: skip
    if key is not None and policy.tenant and not key.tenant:
        key = PseudonymKey(secret=key.secret, epoch=key.epoch, tenant=policy.tenant)
    applied = {rule.id: _applied(rule, key) for rule in policy.rules}
    registered, unset = _secrets(policy, applied, secrets, env or {})
    structure = Structure([(r.path, applied[r.id]) for r in policy.rules if r.path is not None], attribute_fields)
    scanner = Scanner(_by_detector(policy, applied), secrets=registered, unwalkable=_LOST)
    judge = Judge(scanner)
    attributes = [(attribute_pattern(r.attribute), applied[r.id]) for r in policy.rules if r.attribute is not None]
    walker = Walker(scanner=scanner, judge=judge, structure=structure, attributes=attributes, lost=_LOST)
    return Redactor(
        policy,
        walker=walker,
        judge=judge,
        structure=structure,
        scanner=scanner,
        rules={**applied, _REGISTERED.id: _REGISTERED, _LOST.id: _LOST},
        unset=unset,
    )


def _applied(rule: Rule, key: PseudonymKey | None) -> Applied:
    return Applied(
        id=rule.id, action=rule.action, kind=rule.kind(), detector=", ".join(rule.selected()), keep=rule.keep, key=key
    )


def _by_detector(policy: Policy, applied: Mapping[str, Applied]) -> dict[str, Applied]:
    """The first rule that selects a detector has it; ``keep`` takes it out."""
    found: dict[str, Applied] = {}
    for rule in policy.rules:
        for name in rule.detector_names():
            found.setdefault(name, applied[rule.id])
    return {name: rule for name, rule in found.items() if rule.action != "keep"}


def _secrets(
    policy: Policy, applied: Mapping[str, Applied], secrets: Sequence[str], env: Mapping[str, str]
) -> tuple[list[tuple[str, Applied]], list[str]]:  # fmt: skip
    found: list[tuple[str, Applied]] = []
    unset: list[str] = []
    for rule in policy.rules:
        if rule.secret is None or rule.action == "keep":
            continue
        value = env.get(rule.secret[4:], "") if rule.secret.startswith("env:") else rule.secret
        if value:
            found.append((value, applied[rule.id]))
        else:
            unset.append(rule.secret[4:])
    found += [(value, _REGISTERED) for value in secrets]
    if any(len(value) < 4 for value, _ in found):
        raise PolicyError(
            "a registered secret has fewer than 4 characters and would be found everywhere",
            code="policy.secret_too_short", where=policy.name, next_step="register the whole secret",
        )  # fmt: skip
    return found, unset
