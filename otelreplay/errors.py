"""Every error that otelreplay raises on purpose.

The tree (a class decides, where the error is born, who can act on it):

    OtelReplayError
    ├── UsageError              the command or a setting is wrong               exit 2
    │   ├── PolicyError         a redaction policy does not say what it means
    │   └── KeyringError        a key is missing, unreadable or of another store
    ├── MissingDataError        the recording lacks what was asked of it        exit 3
    ├── IntegrityError          a cassette is not what its seal says            exit 5
    └── InputError              a file cannot be read as what it claims to be   exit 6
        ├── TraceFormatError    trace input
        └── CassetteFormatError cassette input
            └── LimitError      hostile or oversized: refused before it is read

Every error carries a stable ``code`` (documented in ``docs/errors.md``), and says *what* is wrong, *where* it is, and what
to do *next*. Messages never quote payload text: a payload may hold what the policy removes.
"""

from __future__ import annotations

from typing import ClassVar


class OtelReplayError(Exception):
    """Base of the tree; cannot be raised bare, only as one of its kinds."""

    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False
    """False: the same call gives the same error. True: trying again may help."""

    def __init__(self, what: str, *, code: str, where: str = "", next_step: str = "") -> None:
        if type(self) is OtelReplayError:
            raise TypeError("raise one of OtelReplayError's kinds, not the base")
        self.what, self.code, self.where, self.next_step = what, code, where, next_step
        super().__init__(self.sentence())

    def sentence(self) -> str:
        """One sentence: where, what, what to do next, and the code."""
        place = f"{self.where}: " if self.where else ""
        advice = f". {self.next_step[0].upper()}{self.next_step[1:]}" if self.next_step else ""
        return f"{place}{self.what}{advice} [{self.code}]"


class UsageError(OtelReplayError):
    """The command line, a setting or an argument is wrong."""

    exit_code = 2


class PolicyError(UsageError):
    """A redaction policy cannot be used."""


class KeyringError(UsageError):
    """A key is missing, cannot be read, or does not belong here."""


class MissingDataError(OtelReplayError):
    """The recording does not hold what was asked of it."""

    exit_code = 3


class IntegrityError(OtelReplayError):
    """A cassette is not what its seal says."""

    exit_code = 5


class InputError(OtelReplayError):
    """A file cannot be read as what it claims to be."""

    exit_code = 6


class TraceFormatError(InputError):
    """Trace input that is not in a form that can be read."""


class CassetteFormatError(InputError):
    """A file that is not a cassette this version can read."""


class LimitError(CassetteFormatError):
    """Input beyond a documented bound; refused before it is taken in."""
