"""Is this cassette what was sealed, and by whom?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from otelreplay.cassette.keys import TrustStore
from otelreplay.cassette.limits import DEFAULT_LIMITS, Limits
from otelreplay.cassette.lines import Readable
from otelreplay.cassette.scan import Problem, Scan
from otelreplay.errors import CassetteFormatError, IntegrityError


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The answer. ``ok`` only for an unaltered cassette whose signer is trusted; an expired one may still be ok."""

    ok: bool
    problems: tuple[Problem, ...]
    sealed: bool
    """There is a well-formed seal at the end."""
    signer: str | None = None
    """Id of the key that the seal names and whose signature holds."""
    trusted: bool = False
    expired: bool = False
    root: str | None = None
    run_id: str | None = None
    revision: int | None = None
    lines: int = 0
    """Lines before the seal."""
    events: int = 0
    blobs: int = 0
    bytes: int = 0
    """Size after decompression."""

    def require(self, where: str = "") -> None:
        """Raise IntegrityError with the first problem, if there is one."""
        if self.problems:
            problem = self.problems[0]
            place = ", ".join(filter(None, (where, problem.where)))
            raise IntegrityError(problem.message, code=problem.code, where=place)


def verify_cassette(
    stream: Readable, *, trust: TrustStore, now: datetime | None = None, limits: Limits = DEFAULT_LIMITS
) -> Verification:
    """Check every line against the seal and the seal against the trust store. Never raises for what the stream holds.

    For a .zst file it is the decompressed lines that are verified. ``now`` (aware) decides ``expired``.
    """
    scan = Scan(limits, keep=False)
    problems = scan.problems
    try:
        scan.run(stream)
    except CassetteFormatError as error:
        problems.append(Problem(code=error.code, message=error.what))
    seal = scan.seal
    genuine = seal is not None and seal.holds()
    trusted = genuine and seal is not None and bytes.fromhex(seal.public) in trust
    if genuine and not trusted:
        problems.append(Problem(code="cassette.untrusted", message="the signer is not in the trust store", line=scan.seal_line))
    problems.sort(key=lambda problem: problem.line or 0)
    return Verification(
        ok=trusted and not problems,
        problems=tuple(problems),
        sealed=seal is not None,
        signer=seal.signer if seal is not None and genuine else None,
        trusted=trusted,
        expired=now is not None and scan.header is not None and scan.header.expired(now),
        root=seal.root if seal else None,
        run_id=scan.header.run_id if scan.header else None,
        revision=scan.header.revision if scan.header else None,
        lines=scan.lines,
        events=scan.event_count,
        blobs=len(scan.blobs),
        bytes=scan.size,
    )
