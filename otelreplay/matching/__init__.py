"""Which requests are the same: component keys over canonical forms. Pure."""

from otelreplay.matching.keys import KeyMemo, StampedKeys, component_keys, request_components, request_hash
from otelreplay.matching.semantics import SEMANTICS, VERSION, Rule

__all__ = ["SEMANTICS", "VERSION", "KeyMemo", "Rule", "StampedKeys", "component_keys", "request_components", "request_hash"]
