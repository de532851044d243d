"""The short way for events in which there is nothing to find and nothing to mark.

The careful way (:mod:`recording`) walks each field. Here the texts of all that is new in an event are gathered and put to the
gates at once (:mod:`gather`, :meth:`Scanner.silent <otelreplay.redaction.scan.Scanner.silent>`), and searched for the openings
of placeholders, since each placeholder needs a mark. Where nothing shows, the event is the same object as before. A message is
judged once, whatever number of events hold it; one that needs work is given to the careful way alone, and its new self takes
its place in this and all later events. For policies without path rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from otelreplay.events import Event, Mark, Message, Recording
from otelreplay.redaction.gather import Gatherer
from otelreplay.redaction.placeholders import find_placeholders, may_hold_placeholder
from otelreplay.redaction.scan import Scanner

SHARED: Final = ("messages", "tools", "system")
"""Lists whose members stand in many events."""
Memo = dict[Any, tuple[Any, Any, tuple[Mark, ...]]]
"""By id: a member of a list, what it becomes, and the marks for what it holds then."""
_WITH_LISTS: Final = ("request", "response")
_SHORT: Final = 200
_MAPS: Final = ("versions", "attributes")


class Untouched:
    """Of one recording. ``careful`` judges one member of a list and puts it into ``memo``."""

    def __init__(self, *, scanner: Scanner, gatherer: Gatherer, memo: Memo, careful: Callable[[Any], object]) -> None:
        self._scanner, self._gatherer, self._memo, self._careful = scanner, gatherer, memo, careful
        self._clean: set[str] = set()
        """Short texts of which nothing is to be removed: names, models, units come again and again."""

    def event(self, event: Event) -> Event | None:
        """The event under the policy; None where only the careful way can tell."""
        if event.error is not None or event.model_extra:
            return None
        texts = [text for text in (event.name, event.agent, event.idempotency_key) if text]
        texts += [text for mark in event.missing for text in (mark.detail, mark.remedy) if text]
        lists: list[tuple[str, str, list[Any]]] = []
        walk = self._gatherer.walk
        for field in _MAPS:
            value = getattr(event, field)
            if value and not walk(value, texts, set()):
                return None
        for field in _WITH_LISTS:
            value = getattr(event, field)
            if not value:
                continue
            shared = [key for key in SHARED if type(value.get(key)) is list]
            lists += [(field, key, value[key]) for key in shared]
            if len(shared) < len(value):
                rest = {key: item for key, item in value.items() if key not in shared} if shared else value
                if not walk(rest, texts, set()):
                    return None
        clean = self._clean
        own = [text for text in texts if text not in clean]
        if not self._judged(own, self._new_members(lists)):
            return None
        clean.update([text for text in own if len(text) <= _SHORT])
        return self._with(event, lists)

    def rest(self, recording: Recording) -> bool:
        """Whether everything but the events stays as it is."""
        texts = [*recording.scopes, recording.continues or "", *[note.message for note in recording.notes]]
        texts += [text for mark in recording.missing for text in (mark.detail, mark.remedy)]
        return all(self._gatherer.walk(r, texts, set()) for r in recording.resources) and self._nothing_in(texts)

    def _new_members(self, lists: list[tuple[str, str, list[Any]]]) -> list[tuple[Any, list[str]]]:
        """Members that were not judged yet, with their texts; those of which the texts do not decide are judged now."""
        memo, walk = self._memo, self._gatherer.walk
        new: list[tuple[Any, list[str]]] = []
        for _, _, items in lists:
            for item in items:
                if id(item) not in memo:
                    texts: list[str] = []
                    if isinstance(item, dict) and walk(item, texts, set()):
                        new.append((item, texts))
                    else:
                        self._careful(item)
        return new

    def _judged(self, own: list[str], members: list[tuple[Any, list[str]]]) -> bool:
        """Whether ``own`` stays; members are judged whatever it is."""
        if self._nothing_in([*own, *[text for _, texts in members for text in texts]]):
            for item, _ in members:
                self._memo[id(item)] = (item, item, ())
            return True
        for item, texts in members:
            if self._nothing_in(texts):
                self._memo[id(item)] = (item, item, ())
            else:
                self._careful(item)
        return bool(members) and self._nothing_in(own)

    def _nothing_in(self, texts: list[str]) -> bool:
        """By one look at all of them, else each by itself; placeholders count as something."""
        if any(find_placeholders(text) for text in texts) if may_hold_placeholder("\n".join(texts)) else False:
            return False
        return not texts or self._scanner.silent(texts) or all(self._scanner.text(text) == text for text in texts)

    def _with(self, event: Event, lists: list[tuple[str, str, list[Any]]]) -> Event | None:
        """The event with its members as they became."""
        memo = self._memo
        update: dict[str, Any] = {}
        for field, key, items in lists:
            out = [memo[id(item)] for item in items]
            if all(known[1] is known[0] and not known[2] for known in out):
                continue
            if not all(isinstance(known[1], Message) for known in out):
                return None
            if any(known[1] is not known[0] for known in out):
                update[field] = {**update.get(field, getattr(event, field)), key: [known[1] for known in out]}
        return event.model_copy(update=update) if update else event
