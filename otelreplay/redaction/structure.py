"""Rules by place: event paths and attribute names.

On events a path rule is exact. On spans the same content still has the shape that its sender gave it, so a path rule is
applied through a table from attribute names to event fields; and a tool's arguments and results are also found inside
messages, where every model call repeats them. Both passes use this module.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from otelreplay.canonical import RESERVED, Tagged
from otelreplay.redaction import jsontext
from otelreplay.redaction.paths import Glob, Path, parse_glob
from otelreplay.redaction.placeholders import is_placeholder
from otelreplay.redaction.rules import Applied
from otelreplay.redaction.values import MAX_DEPTH

FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "gen_ai.tool.call.arguments": ("request.arguments",),
    "gen_ai.tool.call.result": ("response.result",),
    "gen_ai.input.messages": ("request.messages",),
    "gen_ai.output.messages": ("response.messages",),
    "gen_ai.system_instructions": ("request.system",),
    "gen_ai.tool.definitions": ("request.tools",),
    "gen_ai.retrieval.query.text": ("request.query",),
    "gen_ai.retrieval.documents": ("response.documents", "response.result"),
    "input.value": ("request.arguments", "request.input", "request"),
    "output.value": ("response.result", "response.output", "response"),
    "exception.message": ("error.message",),
    "status_message": ("error.message",),
    "otelreplay.arguments": ("request.params", "request.arguments"),
    "otelreplay.error": ("error", "error.message"),
    "otelreplay.sent": ("response.stream.sent",),
    "body": ("request", "response"),
}
"""Attribute names whose content every dialect reads into the same fields; more come from the dialects' table."""

_INSIDE: Final[dict[str, tuple[Path, ...]]] = {
    "arguments": (("request", "arguments"), ("request", "input")),
    "args": (("request", "arguments"),),
    "kwargs": (("request", "arguments"),),
    "parameters": (("request", "arguments"),),
    "input": (("request", "arguments"), ("request", "input")),
    "result": (("response", "result"),),
    "response": (("response", "result"),),
    "output": (("response", "result"), ("response", "output")),
}
"""Keys inside messages and attribute names' last segments that hold what a tool was called with or gave."""

_HOLDERS: Final = ("fields", "extra", "items", "value")
"""Members of a typed value that hold what it is made of."""

GONE: Final = object()
"""What a dropped value becomes."""


class Findings:
    """What the rules did to one value: entries that were dropped, and parts that detectors must not touch.

    A part under ``keep`` is taken out while detectors look at the rest; a token of private-use characters holds its place.
    """

    def __init__(self) -> None:
        self.gone: list[tuple[Path, Applied]] = []
        self.kept: list[Any] = []

    def take(self, value: Any) -> str:
        """Put a value aside; what stands for it."""
        self.kept.append(value)
        return f"\ue000kept:{len(self.kept) - 1}\ue001"

    def restore(self, value: Any) -> Any:
        """``value`` with what was put aside."""
        if not self.kept:
            return value
        if isinstance(value, dict):
            return {k: self.restore(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            items = [self.restore(v) for v in value]
            return items if isinstance(value, list) else tuple(items)
        if isinstance(value, Tagged):
            return Tagged(value.tag, self.restore(dict(value.members)))
        if isinstance(value, (set, frozenset)):
            return type(value)(self.restore(v) for v in value)
        if not isinstance(value, str):
            return value
        for n, part in enumerate(self.kept):
            token = f"\ue000kept:{n}\ue001"
            if value == token:
                return part
            for quoted in (jsontext.quote(token, ""), jsontext.quote(token, "\xe9")):
                if quoted in value:
                    value = value.replace(quoted, jsontext.dumps_like(part, value))
        return value


class Structure:
    """The path rules of a policy, first match first."""

    def __init__(self, rules: Sequence[tuple[str, Applied]], fields: Mapping[str, str | Sequence[str]] | None = None) -> None:
        self._rules: list[tuple[Glob, Applied]] = [(parse_glob(source), rule) for source, rule in rules]
        table: dict[str, tuple[str, ...]] = dict(FIELDS)
        for name, given in (fields or {}).items():
            table[name] = (*table.get(name, ()), *((given,) if isinstance(given, str) else given))
        self._fields = {name: tuple(parse_path(f) for f in given) for name, given in table.items()}

        self.by_index = any(isinstance(step, int) for glob, _ in self._rules for step in glob.steps)
        """Whether a rule names a member of a list by its number."""

    def __bool__(self) -> bool:
        return bool(self._rules)

    def places(self, attribute: str) -> tuple[Path, ...]:
        """The event paths that the content of an attribute may reach."""
        return (*self._fields.get(attribute, ()), *_INSIDE.get(re.split(r"[._]", attribute)[-1], ()))

    def names_whole(self, path: Path) -> bool:
        """Whether a rule names exactly this place or one above it."""
        return any(glob.names(path[:n]) for glob, _ in self._rules for n in range(1, len(path) + 1))

    def rule_at(self, path: Path) -> Applied | None:
        """The rule that names this place."""
        return self._named((path,))

    def apply(
        self, value: Any, places: tuple[Path, ...], found: Findings, at: Path = (), depth: int = 0, *, loose: bool = True
    ) -> Any:  # fmt: skip
        """``value`` under the rules, or :data:`GONE`.

        ``places``: the event paths that it may stand at. ``found`` collects what was dropped or kept. ``loose``: tool
        arguments and results are also looked for inside (in messages, and in what is not an event yet).
        """
        rule = self._named(places)
        if rule is not None:
            if rule.action == "drop":
                found.gone.append((at, rule))
                return GONE
            return found.take(value) if rule.action == "keep" else replaced(value, rule)
        if depth >= MAX_DEPTH:
            return value
        if isinstance(value, Tagged):
            members = self._dict(dict(value.members), places, found, at, depth=depth, loose=loose, tag=value.tag)
            return value if members == value.members else Tagged(value.tag, members)
        if isinstance(value, dict):
            return self._dict(value, places, found, at, depth=depth, loose=loose, tag=value.get(RESERVED))
        if isinstance(value, (set, frozenset)):
            kept = [self.apply(v, places, found, at, depth + 1, loose=loose) for v in value]
            same = all(a is b for a, b in zip(kept, value, strict=True))
            return value if same else type(value)(v for v in kept if v is not GONE)
        if isinstance(value, (list, tuple)):
            items = [
                self.apply(v, tuple((*p, n) for p in places), found, (*at, n), depth + 1, loose=loose)
                for n, v in enumerate(value)
            ]
            if all(a is b for a, b in zip(items, value, strict=True)):
                return value
            filler = iter([rule for path, rule in found.gone if path[:-1] == at])
            out = [next(filler).replace("") if item is GONE else item for item in items]
            return out if isinstance(value, list) else tuple(out)
        if isinstance(value, str) and jsontext.looks_like_json(value):
            return self._json(value, places, found, at, depth=depth, loose=loose)
        return value

    def _named(self, places: tuple[Path, ...]) -> Applied | None:
        for glob, rule in self._rules:
            if any(glob.names(p) for p in places):
                return rule
        return None

    def _dict(
        self, value: dict[Any, Any], places: tuple[Path, ...], found: Findings, at: Path, *, depth: int, loose: bool, tag: Any
    ) -> Any:
        """``tag``: of a typed value. What such a value holds stands where the value itself stands."""
        out: dict[Any, Any] = {}
        changed = False
        for key, item in value.items():
            step = str(key)
            inside = tuple((*p, step) for p in places) + (_INSIDE.get(step, ()) if loose and depth else ())
            if tag is not None and step in _HOLDERS:
                if step == "items" and tag == "dict" and isinstance(item, list):
                    new: Any = self._pairs(item, places, found, (*at, step), depth=depth, loose=loose)
                else:
                    new = self.apply(item, (*inside, *places), found, (*at, step), depth + 1, loose=loose)
            else:
                new = self.apply(item, inside, found, (*at, step), depth + 1, loose=loose)
            changed |= new is not item
            if new is not GONE:
                out[key] = new
        if not changed:
            return value
        return out

    def _pairs(self, pairs: list[Any], places: tuple[Path, ...], found: Findings, at: Path, *, depth: int, loose: bool) -> Any:
        """The items of a dict with odd keys; a pair of which the value is dropped goes with it."""
        out = []
        for n, pair in enumerate(pairs):
            if isinstance(pair, list) and len(pair) == 2:
                inside = tuple((*p, str(pair[0])) for p in places)
                new = self.apply(pair[1], inside, found, (*at, n, 1), depth + 1, loose=loose)
                if new is GONE:
                    continue
                pair = pair if new is pair[1] else [pair[0], new]
            out.append(pair)
        return pairs if len(out) == len(pairs) and all(a is b for a, b in zip(out, pairs, strict=True)) else out

    def _json(self, text: str, places: tuple[Path, ...], found: Findings, at: Path, *, depth: int, loose: bool) -> Any:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return self._cut(text, places)
        if not isinstance(value, (dict, list)):
            return text
        new = self.apply(value, places, found, at, depth + 1, loose=loose)
        return text if new is value else jsontext.dumps_like(new, text)

    def _cut(self, text: str, places: tuple[Path, ...]) -> str:
        """JSON that cannot be read whole: each text and number that a rule covers is replaced where it stands."""
        edits = []
        for leaf in jsontext.leaves(text):
            paths = [(*p, *leaf.path) for p in places]
            rule = next((r for glob, r in self._rules if any(glob.covers(p) for p in paths)), None)
            if (
                rule is not None
                and rule.action != "keep"
                and not (leaf.key and any(glob.names(p) for glob, _ in self._rules for p in paths))
            ):
                edits.append((leaf.start, leaf.end, jsontext.quote(rule.replace(leaf.text), text)))
        return jsontext.splice(text, edits) if edits else text


def replaced(value: Any, rule: Applied) -> Any:
    """A whole value under a rule; nothing, and what is a placeholder already, stays."""
    if value is None or (isinstance(value, str) and (not value or is_placeholder(value))):
        return value
    if isinstance(value, str):
        return rule.replace(value)
    if rule.action == "truncate":
        if isinstance(value, dict):
            return {k: replaced(v, rule) for k, v in value.items()}
        return [replaced(v, rule) for v in value] if isinstance(value, (list, tuple)) else value
    return rule.replace(_text(value))


def parse_path(field: str) -> Path:
    """A field name as steps."""
    return tuple(s for s in parse_glob(field).steps)


def _text(value: Any) -> str:
    """One text for a value of any type, the same for equal values."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return (
        json.dumps(value, ensure_ascii=False, sort_keys=True, default=repr)
        if not isinstance(value, (int, float))
        else repr(value)
    )
