"""Whether a call that equals no recording is one of them with other content, or a call of its own.

A request of one component (the arguments of a tool, a query) says little about that: the expected operation with other content
is a changed request. A conversation says more. It is the recorded one, changed, if it ends with one of its messages, has half
of them, or has the same roles in the same order: one that only begins alike and then asks something of its own was put in. And
it has *passed* what must come before that recording if it holds all that was said up to the recording's last assistant turn.
"""

from __future__ import annotations

from typing import Any

from otelreplay.canonical import digest_value
from otelreplay.matching.parts import settled
from otelreplay.replay.holes import Skeletons


class Likeness:
    """Compares conversations by message."""

    def __init__(self, skeletons: Skeletons) -> None:
        self._skeletons = skeletons

    def alike(self, recorded: dict[str, Any], live: dict[str, Any]) -> bool:
        """Whether the live conversation can be the recorded one with something changed."""
        was, now = _messages(recorded), _messages(live)
        if was is None or now is None or not was or not now:
            return True
        if [_role(m) for m in was] == [_role(m) for m in now]:
            return True
        known = {self._digest(m) for m in was}
        shared = [self._digest(m) in known for m in now]
        if any(shared):
            return shared[-1] or 2 * sum(shared) >= len(was)
        said = {self._digest(_unsaid(m)) for m in was}  # said by another role
        return any(self._digest(_unsaid(m)) in said for m in now)

    def equal(self, recorded: dict[str, Any], live: dict[str, Any]) -> bool:
        """Whether both conversations say the same, whichever call a result is said to answer."""
        was, now = _messages(recorded), _messages(live)
        return was is not None and now is not None and len(was) == len(now) == self.shared(recorded, live)

    def shared(self, recorded: dict[str, Any], live: dict[str, Any]) -> int:
        """How many messages both begin with."""
        was, now = _messages(recorded) or [], _messages(live) or []
        count = 0
        for a, b in zip(was, now, strict=False):
            if a is not b and self._digest(a) != self._digest(b):
                break
            count += 1
        return count

    def goes_on(self, recorded: dict[str, Any], live: dict[str, Any]) -> bool:
        """Whether the live conversation is the recorded one, the reply to it, and more."""
        was, now = _messages(recorded), _messages(live)
        if was is None or now is None or len(was) >= len(now) or _role(now[len(was)]) != "assistant":
            return False
        return self.shared(recorded, live) == len(was)

    def passed(self, recorded: dict[str, Any], live: dict[str, Any]) -> bool:
        """Whether the live conversation goes beyond the last assistant turn of the recorded one."""
        was = _messages(recorded) or []
        last = max((n for n, m in enumerate(was) if _role(m) == "assistant"), default=-1)
        return last >= 0 and self.shared(recorded, live) > last

    def answered_in(self, recorded: dict[str, Any], live: dict[str, Any]) -> int | None:
        """Place of the assistant turn by which the recorded conversation goes on from just the live one; None for none."""
        was, now = _messages(recorded) or [], _messages(live) or []
        if not now or len(was) <= len(now) or _role(was[len(now)]) != "assistant" or self.shared(recorded, live) < len(now):
            return None
        return len(now)

    def _digest(self, message: Any) -> str:
        if isinstance(message, dict) and isinstance(message.get("parts"), list):
            parts = [{k: settled(v) for k, v in p.items() if k != "id"} if isinstance(p, dict) else p for p in message["parts"]]
            message = {"role": message.get("role"), "parts": parts}
        return digest_value(self._skeletons.value(message, "request.messages[*]")[0])


def _messages(request: dict[str, Any]) -> list[Any] | None:
    found = settled(request.get("messages"))
    return found if isinstance(found, list) else None


def _unsaid(message: Any) -> Any:
    """A message without who says it."""
    return {**message, "role": None} if isinstance(message, dict) else message


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, dict) else None
