"""What ``policy check`` and ``policy show`` say."""

from __future__ import annotations

from typing import Any

import yaml

from otelreplay.redaction import Policy, PolicyCheck
from otelreplay.report.text import fields, pad, plural, width, wrap

_SELECTORS = ("path", "attribute", "detector", "detectors", "secret")


def policy_json(policy: Policy, checked: PolicyCheck) -> dict[str, Any]:
    """Name, digest, rules, and what the attribute rules mean for events. Registered secrets are not in it."""
    public = policy.public()
    return {
        "ok": checked.ok,
        "name": policy.name,
        "digest": policy.digest(),
        "detectors": public["detectors"],
        "needs_key": policy.needs_key(),
        "rules": list(public.get("rules", ())),
        "covers": {rule: list(paths) for rule, paths in checked.compiled},
        "refused": [{"rule": rule, "why": why} for rule, why in checked.refused],
    }


def policy_text(found: dict[str, Any], *, columns: int = 80) -> str:
    """The same for people: a line a rule, in the order in which they are tried."""
    rows = [(rule["id"], rule["action"], _selects(rule)) for rule in found["rules"]]
    sizes = [max((width(row[n]) for row in rows), default=0) for n in range(2)]
    count = plural(len(rows), "rule") if rows else "none: nothing is redacted"
    lines = ["the policy can be used" if found["ok"] else "the policy CANNOT be relied on", ""]
    lines += fields([("policy", found["name"]), ("digest", found["digest"]), ("rules", count)], columns=columns)
    lines += [""] if rows else []
    for rule, action, what in rows:
        lines.append(f"  {pad(rule, sizes[0])}  {pad(action, sizes[1])}  {what}")
        if rule in found["covers"]:
            lines += wrap(f"covers {', '.join(found['covers'][rule])}", columns, first="    ")
    lines += [""] if found["refused"] else []
    for item in found["refused"]:
        lines += wrap(f"rule {item['rule']}: {item['why']}", columns, first="  ", rest="    ")
    return "\n".join(lines) + "\n"


def policy_yaml(policy: Policy) -> str:
    """The policy as a file that can be given to ``--policy``."""
    public = {name: value for name, value in policy.public().items() if name != "detectors"}
    return yaml.safe_dump(public, sort_keys=False, allow_unicode=True)


def _selects(rule: dict[str, Any]) -> str:
    name = next(name for name in _SELECTORS if name in rule)
    value = rule[name]
    return f"{name} {', '.join(value) if isinstance(value, list) else value}"
