"""One text in, the same text without what the policy removes out.

Theory of operation. A text is asked of a memory, then of the gates (:mod:`gates`); most texts end there, unchanged. What is
left is read as what it is: JSON is edited leaf by leaf, every other text is searched as it stands and through views with
percent and backslash escapes taken off; stretches of base64 are decoded, treated the same way, and encoded again. The search
is repeated until it finds nothing more, which makes redaction idempotent by construction. A text that will not settle, or
hides in more layers than are followed, is replaced whole: the walk fails closed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from otelreplay.redaction import encodings, jsontext
from otelreplay.redaction.detectors import BY_NAME
from otelreplay.redaction.detectors.auth import cookie_values
from otelreplay.redaction.detectors.keyvalue import wanted
from otelreplay.redaction.detectors.pii import is_card
from otelreplay.redaction.gates import BASE64, ESCAPED, ITEMS, PERCENT, PIECES, gates_of
from otelreplay.redaction.keys import SECRET, is_code_word, sense
from otelreplay.redaction.memory import Memory
from otelreplay.redaction.messages import Members
from otelreplay.redaction.placeholders import find_placeholders
from otelreplay.redaction.rules import Applied

_ROUNDS: Final = 6
MAX_LAYERS: Final = 12
"""How many layers of encoding are followed: JSON in JSON, base64 in a URL, ..."""
MAX_TEXT: Final = 64 << 20
"""Longest text that is walked, in characters."""
SMALL: Final = 10**11
"""Numbers below it have too few digits to be a card's; what a key says about a number counts for all."""
_APART: Final = "\n\x00\n"
_FREE: Final = frozenset({BASE64, "credit_card", "iban", "crypto_wallet", "azure_storage_key"})
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SCHEME: Final = re.compile(r"(?i)(?:bearer|basic|token|apikey|digest|negotiate|aws4-hmac-sha256)\s+(?=\S)")


Edit = tuple[int, int, str]


class Hit(msgspec.Struct):
    """A stretch to replace, and the rule that says so."""

    start: int
    end: int
    rule: Applied


class Tree(Protocol):
    """How the leaves of a JSON text are judged (by :mod:`leaves`)."""

    def __call__(self, found: Sequence[jsontext.Leaf], layer: int) -> dict[int, str]:
        """New texts by position."""
        ...


class Scanner:
    """Applies the detector and secret rules of one policy to texts."""

    def __init__(
        self, rules: Mapping[str, Applied], *, secrets: Sequence[tuple[str, Applied]], unwalkable: Applied
    ) -> None:  # fmt: skip
        self._rules = rules
        self._detectors = [BY_NAME[name] for name in rules]
        self._gates = gates_of(tuple(rules))
        self._order = {name: n for n, name in enumerate(rules)}
        self._secrets = [(s, rule, _variants(s)) for s, rule in sorted(secrets, key=lambda x: -len(x[0]))]
        self._unwalkable = unwalkable
        self._memory: Memory[str, str] = Memory()
        self.seen = self._memory.young
        """Texts judged a short while ago, and what they became."""
        self._entries: Memory[str, str] = Memory()
        self.members = Members(self._member)
        """What is known of lists of messages."""
        self.tree: Tree
        self.walk: Callable[[Any, list[str], set[str]], bool]
        """Set by the judge and the gatherer, which need the scanner in turn."""

    def clean(self, text: str) -> bool:
        """Whether the gates say that nothing can be found in ``text``."""
        return not self._gates.open(text) and not any(v in text for _, _, vs in self._secrets for v in vs)

    def silent(self, texts: Sequence[str]) -> bool:
        """Whether none of the texts holds anything to remove, by one look at all of them together.

        True only where :meth:`edits` would stop at the gates of each. A gate that is open for a part is open for the whole:
        gates are not anchored, and what stands between the texts is in no run of theirs.
        """
        joined = _APART.join(texts)
        if len(joined) > MAX_TEXT:
            return False
        hits = self._gates.hits(joined)
        if ITEMS in hits:
            return False
        opened = self._gates.opened(hits)
        if not opened <= _FREE or self._open_anyway(joined, opened):
            return False
        if '"' in joined:
            for key in jsontext.repeated(joined, common=PIECES not in hits):
                for text in texts:
                    if text.count(key) > 1:
                        return False
        return True

    def settle(self, text: str) -> None:
        """Remember that ``text`` stays as it is."""
        self._memory.put(text, text)

    def text(self, text: str, layer: int = 0) -> str:
        """``text`` without what the rules remove."""
        if len(text) < 4:
            return text
        if len(text) > 512 and text.startswith("[{"):
            edits = self.members.edits(text, layer)
            if edits is not None:
                return jsontext.splice(text, edits) if edits else text
        known = self._memory.get(text)
        if known is None:
            known = self._fresh(text, layer)
            self._memory.put(text, known)
        return known

    def entry(self, key: str, text: str, layer: int = 0) -> str:
        """A text that stands under a key: the key may tell what it is."""
        meaning = sense(key)
        if not meaning or not text:
            return self.text(text, layer)
        memo = f"{key}\x00{text}"
        known = self._entries.get(memo)
        if known is None:
            known = self._entry(key, meaning, text, layer)
            self._entries.put(memo, known)
        return known

    def number(self, key: str, text: str) -> str | None:
        """A placeholder for a number, or None where it stays: card numbers, and what a key says is a secret or a person's."""
        meaning = sense(key)
        digits = text.lstrip("-")
        if digits.isdigit() and is_card(digits) and "credit_card" in self._rules:
            return self._rules["credit_card"].replace(digits)
        if meaning == "weak" and is_code_word(key):
            meaning = "strong"
        rule = self._rules.get("key_value" if meaning == "strong" else meaning)
        if rule is None or not digits.isdigit():
            return None
        least = 1 if meaning == "strong" else 7
        return rule.replace(digits) if len(digits) >= least else None

    def _entry(self, key: str, meaning: str, text: str, layer: int) -> str:
        if meaning in SECRET:
            rule = self._rules.get("key_value")
            if rule is not None and not jsontext.looks_like_json(text) and not find_placeholders(text):
                done = self._under_secret_key(key, meaning, text, rule)
                if done is not None:
                    return done
            return self.text(text, layer)
        rule = self._rules.get(meaning)
        if rule is not None and not find_placeholders(text):
            prefix = f"{key.rsplit('.', 1)[-1]}: "
            found = [h for h in BY_NAME[meaning].find(prefix + text) if h[0] >= len(prefix)]
            if meaning == "cookie":
                prefix, found = "", list(cookie_values(text))
            plain = _bare_number(meaning, text)
            if plain or found:
                hits = [Hit(0, len(text), rule)] if plain else [Hit(s - len(prefix), e - len(prefix), rule) for s, e in found]
                text = jsontext.splice(text, self._merge(text, hits))
        return self.text(text, layer)

    def _under_secret_key(self, key: str, meaning: str, text: str, rule: Applied) -> str | None:
        core = text.strip()
        if is_code_word(key) and core.isdigit() and len(core) >= 3:
            return text.replace(core, rule.replace(core))
        scheme = _SCHEME.match(core)
        core = core[scheme.end() :] if scheme else core
        if not core or (meaning != "strong" and (" " in core or _NUMBER.fullmatch(core))) or not wanted(key, core, quoted=True):
            return None
        head = text[: text.index(core)]
        return head + rule.replace(core) + text[len(head) + len(core) :]

    def _fresh(self, text: str, layer: int) -> str:
        if len(text) > MAX_TEXT or layer > MAX_LAYERS:
            return self._unwalkable.replace(text)
        for _ in range(_ROUNDS):
            edits = self.edits(text, layer)
            if not edits:
                return text
            text = jsontext.splice(text, edits)
        return self._unwalkable.replace(text)

    def edits(self, text: str, layer: int = 0) -> list[Edit]:
        """What one round of search changes in ``text``: (start, end, new text), in order, nothing that stays the same."""
        if text.startswith("[{"):
            members = self.members.edits(text, layer)
            if members is not None:
                return members
        opened = self._gates.open(text)
        shut = opened <= _FREE and not self._open_anyway(text, opened)
        if jsontext.looks_like_json(text):
            if shut and not jsontext.may_hold_pieces(text):
                return []
            if self._stays(text, layer):
                return []
            edits = self._json(text, jsontext.leaves(text), layer)
            if edits or shut or jsontext.is_json(text):
                return edits
        elif "\n" in text and (not shut or jsontext.may_hold_pieces(text)):
            edits = self._json(text, jsontext.lines(text), layer)
            if edits:
                return edits
        if shut:
            return []
        hits = self._search(text, opened)
        for name, view_of in ((PERCENT, encodings.percent), (ESCAPED, encodings.escapes)):
            if name in opened or (name == ESCAPED and "\\" in text):
                for view in encodings.taken_off(text, view_of):
                    found = self._search(view.text, self._gates.open(view.text))
                    hits += [Hit(view.at[h.start], view.at[h.end], h.rule) for h in found]
        edits = self._merge(text, hits)
        return edits or (self._base64(text, layer) if BASE64 in opened else [])

    def _stays(self, text: str, layer: int) -> bool:
        """Whether ``text`` is JSON of which only the texts need judging, and all of these stay: most gates open for nothing."""
        value = jsontext.read_unique(text)
        texts: list[str] = []
        if value is None or not self.walk(value, texts, set()):
            return False
        return all(self.text(t, layer + 1) == t for t in texts)

    def _open_anyway(self, text: str, opened: frozenset[str]) -> bool:
        """For gates that open on any id: whether a find that depends on nothing around it is there, in text as it stands."""
        if self._secrets and any(v in text for _, _, vs in self._secrets for v in vs):
            return True
        if BASE64 in opened and ("\\/" in text or next(encodings.base64_runs(text), None) is not None):
            return True
        return any(next(iter(BY_NAME[name].find(text)), None) is not None for name in opened if name != BASE64)

    def _member(self, text: str, layer: int) -> str:
        return self._fresh(text, layer)

    def _json(self, text: str, found: list[jsontext.Leaf], layer: int) -> list[Edit]:
        new = self.tree(found, layer + 1)
        return [(found[n].start, found[n].end, jsontext.quote(new[n], text)) for n in sorted(new)]

    def _search(self, text: str, opened: frozenset[str]) -> list[Hit]:
        hits = [Hit(m.start(), m.end(), rule) for s, rule, _ in self._secrets for m in re.finditer(re.escape(s), text)]
        for detector in self._detectors:
            if detector.name in opened:
                rule = self._rules[detector.name]
                hits += [Hit(s, e, rule) for s, e in detector.find(text) if s < e]
        if not hits:
            return hits
        taken = find_placeholders(text)
        return [h for h in hits if not any(p.start <= h.start and h.end <= p.end for p in taken)] if taken else hits

    def _merge(self, text: str, hits: list[Hit]) -> list[Edit]:
        """Hits as edits; stretches that overlap become one, under the rule of the longest."""
        hits.sort(key=lambda h: (h.start, -h.end))
        merged: list[Hit] = []
        for h in hits:
            if merged and h.start < merged[-1].end:
                last = merged[-1]
                if h.end > last.end:
                    longest = last.rule if last.end - last.start >= h.end - h.start else h.rule
                    merged[-1] = Hit(last.start, h.end, longest)
            else:
                merged.append(h)
        edits = [(h.start, h.end, h.rule.replace(text[h.start : h.end])) for h in merged]
        return [e for e in edits if text[e[0] : e[1]] != e[2]]

    def _base64(self, text: str, layer: int) -> list[Edit]:
        edits: list[Edit] = []
        for start, end, plain, encode in encodings.base64_runs(text):
            if edits and start < edits[-1][1]:
                continue
            after = self.text(plain, layer + 1)
            if after != plain:
                edits.append((start, end, encode(after)))
        return edits


def _bare_number(meaning: str, text: str) -> bool:
    """A value that is nothing but a number of the kind its key names."""
    value = text.strip()
    digits = sum(c.isdigit() for c in value)
    if meaning == "phone":
        return 7 <= digits <= 15 and re.fullmatch(r"\+?[0-9 ().\u00a0/-]{7,24}", value) is not None
    if meaning == "national_id":
        return 6 <= digits <= 16 and re.fullmatch(r"[A-Za-z0-9 ./-]{6,24}", value) is not None
    if meaning == "credit_card":
        return 12 <= digits <= 19 and re.fullmatch(r"[0-9 -]{12,24}", value) is not None
    return False


def _variants(secret: str) -> tuple[str, ...]:
    """How a registered secret looks in JSON, once and twice encoded."""
    once = jsontext.quote(secret, "")[1:-1]
    return tuple(dict.fromkeys((secret, once, jsontext.quote(once, "")[1:-1])))
