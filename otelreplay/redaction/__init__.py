"""Redaction: what a policy removes never reaches a disk."""

from otelreplay.redaction.actions import PseudonymKey
from otelreplay.redaction.check import PolicyCheck, check
from otelreplay.redaction.placeholders import Placeholder, find_placeholders, is_placeholder
from otelreplay.redaction.policy import Policy, Rule, default_policy, load_policy, off_policy
from otelreplay.redaction.redactor import Redactor, compile_policy

__all__ = [
    "Placeholder",
    "Policy",
    "PolicyCheck",
    "PseudonymKey",
    "Redactor",
    "Rule",
    "check",
    "compile_policy",
    "default_policy",
    "find_placeholders",
    "is_placeholder",
    "load_policy",
    "off_policy",
]
