"""The policy: what is removed, and what stands in its place. Declarative, closed (an unknown field is an error), a value.

A rule selects by exactly one of ``path``, ``attribute``, ``detector``, ``detectors`` or ``secret``. Where several rules apply
to the same place, the first one in the file wins, so that an exception (``action: keep``) is written above what it excepts.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from importlib import resources
from typing import Any, Final, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from otelreplay.errors import PolicyError
from otelreplay.redaction.detectors import BY_NAME, GROUPS, PACK_VERSION
from otelreplay.redaction.paths import attribute_pattern, parse_glob
from otelreplay.redaction.placeholders import RULE_ID

Action = Literal["drop", "mask", "pseudonym", "hash", "truncate", "keep"]
RESERVED: Final = frozenset({"registered-secret", "unwalkable"})
"""Rule ids that the walk uses itself: a secret that was registered at run time, and what could not be walked."""

_SELECTORS: Final = ("path", "attribute", "detector", "detectors", "secret")
_SIZE_LIMIT: Final = 1 << 20


class Rule(BaseModel):
    """One rule of a policy."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    """Named by placeholders, marks and reports: lower-case letters, digits, ``_``, ``.``, ``-``."""
    path: str | None = None
    """Glob on event fields: ``request.arguments.email``, ``request.messages[*].parts[*].content``."""
    attribute: str | None = None
    """Glob on the names of span, event, link, resource, scope and log attributes."""
    detector: str | None = None
    """A detector, or a group of them: ``secrets``, ``pii``, ``all``."""
    detectors: tuple[str, ...] | None = None
    """Several of them."""
    secret: str | None = None
    """The exact text, or ``env:NAME`` for the value of an environment variable. Never stored."""
    action: Action
    keep: int = Field(default=64, ge=0, le=1_000_000)
    """For ``truncate``: how many characters stay."""
    note: str = ""
    """Why the rule is there; for whoever reads the policy."""

    @field_validator("id")
    @classmethod
    def _id_is_a_name(cls, value: str) -> str:
        if re.fullmatch(RULE_ID, value) is None:
            raise ValueError("must be 1 to 64 of a-z, 0-9, '_', '.', '-', beginning and ending with a letter or digit")
        if value in RESERVED:
            raise ValueError(f"is reserved; reserved ids: {', '.join(sorted(RESERVED))}")
        return value

    @field_validator("path")
    @classmethod
    def _path_is_a_glob(cls, value: str | None) -> str | None:
        if value is not None:
            parse_glob(value)
        return value

    @field_validator("attribute")
    @classmethod
    def _attribute_is_a_glob(cls, value: str | None) -> str | None:
        if value is not None:
            attribute_pattern(value)
        return value

    @field_validator("secret")
    @classmethod
    def _secret_is_long_enough(cls, value: str | None) -> str | None:
        if value is not None and len(value.removeprefix("env:")) < (1 if value.startswith("env:") else 4):
            raise ValueError("must have at least 4 characters, or be env:NAME")
        return value

    @model_validator(mode="after")
    def _selects_by_one_thing(self) -> Self:
        given = [s for s in _SELECTORS if getattr(self, s) is not None]
        if len(given) != 1:
            raise ValueError(f"needs exactly one of {', '.join(_SELECTORS)}; it has {', '.join(given) or 'none'}")
        for name in self.selected():
            if name not in BY_NAME and name not in GROUPS:
                raise ValueError(f"unknown detector; allowed: {', '.join((*GROUPS, *BY_NAME))}")
        if self.detectors is not None and not self.detectors:
            raise ValueError("detectors is empty")
        if "keep" in self.model_fields_set and self.action != "truncate":
            raise ValueError("'keep' (a number of characters) goes with action truncate only")
        return self

    def selected(self) -> tuple[str, ...]:
        """Detectors and groups as written."""
        return self.detectors if self.detectors is not None else (self.detector,) if self.detector is not None else ()

    def detector_names(self) -> tuple[str, ...]:
        """Detectors with groups opened."""
        return tuple(dict.fromkeys(d for s in self.selected() for d in GROUPS.get(s, (s,))))

    def kind(self) -> str:
        """What a fresh value must be to stand for a placeholder of this rule; ``any`` where the rule does not say."""
        kinds = {BY_NAME[d].kind for d in self.detector_names()}
        if self.secret is not None:
            return "secret"
        return kinds.pop() if len(kinds) == 1 else "any"


class Policy(BaseModel):
    """A whole policy. Equal policies have equal digests."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    name: str = Field(min_length=1, max_length=100)
    tenant: str = ""
    """Pseudonyms of different tenants differ."""
    rules: tuple[Rule, ...] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        seen: set[str] = set()
        for rule in self.rules:
            if rule.id in seen:
                raise ValueError(f"rule id {rule.id!r} is used twice")
            seen.add(rule.id)
        return self

    def public(self) -> dict[str, Any]:
        """The policy as it may be stored: without the text of registered secrets, with the version of the detector pack."""
        body = self.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        body = {"version": self.version, **body}
        for rule in body.get("rules", ()):
            if "secret" in rule and not rule["secret"].startswith("env:"):
                rule["secret"] = "(registered)"
        return {**body, "detectors": PACK_VERSION}

    def digest(self) -> str:
        """``sha256:`` over the canonical JSON of what :meth:`public` gives."""
        text = json.dumps(self.public(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def needs_key(self) -> bool:
        """Whether a rule makes pseudonyms or hashes."""
        return any(r.action in ("pseudonym", "hash") for r in self.rules)


def load_policy(text: str, where: str) -> Policy:
    """Read a policy from YAML text; ``where`` names it in errors.

    :raises PolicyError: ``policy.unreadable`` (no YAML mapping) or ``policy.invalid`` (a field is wrong: which, where, what
    is allowed).
    """
    if len(text) > _SIZE_LIMIT:
        raise PolicyError(f"a policy of more than {_SIZE_LIMIT} characters", code="policy.unreadable", where=where)
    try:
        _refuse_aliases(text, where)
        body = yaml.safe_load(text)
        lines = _lines(yaml.compose(text, Loader=yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError) as e:
        mark = getattr(e, "problem_mark", None)
        at = f"{where}:{mark.line + 1}" if mark is not None else where
        raise PolicyError(
            "not readable as YAML", code="policy.unreadable", where=at, next_step="check indentation and quotes"
        ) from None
    if not isinstance(body, dict):
        raise PolicyError("a policy is a mapping with version, name and rules", code="policy.unreadable", where=where)
    try:
        return Policy.model_validate(body)
    except ValidationError as e:
        raise _explain(e, where, lines) from None


def _refuse_aliases(text: str, where: str) -> None:
    """A few aliases of aliases can stand for any amount of text."""
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        if isinstance(token, (yaml.AliasToken, yaml.AnchorToken)):
            raise PolicyError(
                "anchors and aliases are not used in policies",
                code="policy.unreadable",
                where=f"{where}:{token.start_mark.line + 1}",
                next_step="write the text out where it is wanted",
            )


@cache
def default_policy() -> Policy:
    """Secrets are masked, personal data becomes pseudonyms."""
    return load_policy(_shipped("default.yaml"), "default policy")


@cache
def off_policy() -> Policy:
    """No rules: nothing is removed."""
    return load_policy(_shipped("off.yaml"), "off policy")


def _shipped(name: str) -> str:
    return resources.files("otelreplay.redaction").joinpath(name).read_text("utf-8")


def _lines(node: yaml.Node | None, path: tuple[str | int, ...] = ()) -> dict[tuple[str | int, ...], int]:
    """Line of every field of the file, from 1."""
    found: dict[tuple[str | int, ...], int] = {}
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*path, str(key.value))
            found[here] = key.start_mark.line + 1
            found.update(_lines(value, here))
    elif isinstance(node, yaml.SequenceNode):
        for n, value in enumerate(node.value):
            found[(*path, n)] = value.start_mark.line + 1
            found.update(_lines(value, (*path, n)))
    return found


def _explain(error: ValidationError, where: str, lines: dict[tuple[str | int, ...], int]) -> PolicyError:
    """The first fault, with the line nearest to it. Never quotes the value: it may be a secret."""
    fault = error.errors(include_input=False, include_url=False)[0]
    loc = tuple(fault["loc"])
    line = next((lines[loc[:n]] for n in range(len(loc), 0, -1) if loc[:n] in lines), None)
    field = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in loc).lstrip(".") or "policy"
    allowed = ""
    if fault["type"] == "extra_forbidden":
        model: type[BaseModel] = Rule if loc[:1] == ("rules",) else Policy
        allowed = f"; allowed fields: {', '.join(model.model_fields)}"
    message = str(fault["msg"]).removeprefix("Value error, ")
    return PolicyError(
        f"{field}: {message[:1].lower()}{message[1:]}{allowed}",
        code="policy.invalid", where=f"{where}:{line}" if line else where, next_step="correct the policy and try again",
    )  # fmt: skip
