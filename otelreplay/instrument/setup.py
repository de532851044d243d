"""What ``configure`` set up, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Caution:
    """Something about the set-up that will cost data."""

    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What ``configure`` set up."""

    active: bool
    """False: nothing is recorded; ``why`` says why."""
    why: str = ""
    url: str = ""
    """Where spans go."""
    protocol: str = ""
    durable: bool = False
    outbox: Path | None = None
    """Folder of the outbox, if there is one."""
    capture: bool = True
    """Content is captured."""
    capture_decided_by: str = ""
    """An argument, or the environment variable and its value."""
    policy: str = ""
    own_provider: bool = True
    """False: the provider that was there already is used."""
    cautions: tuple[Caution, ...] = ()

    def sentence(self) -> str:
        """One line for the log."""
        if not self.active:
            return f"recording nothing: {self.why}"
        kept = f"outbox {self.outbox}" if self.outbox else "no outbox"
        content = f"content capture {'on' if self.capture else 'OFF'} ({self.capture_decided_by})"
        return f"recording to {self.url} ({self.protocol}), {content}, policy {self.policy}, {kept}"
