"""Replay: the agent's own code runs, every boundary answers from the cassette, and the first divergence is named.

Sans-I/O: calls come in as values, answers go out as values; a lock is all that this room has of the world around it.

Theory of operation::

    boundary.Call ─ live ─▶ Live ─ holes ─▶ Asked ─ finding ─▶ Fit ─ answers ─▶ Served ─ revive ─▶ boundary.Answer
         the cassette's policy    skeletons,    │    score: the recording by key, context, hard edges
         and dialects, so that    keys          │    bindings: which live value is which placeholder
         both sides are equal                   │
         by construction                        └──▶ no Fit: diagnosis ─▶ Divergence, latched, then raised ─▶ result

1. *One code for both sides.* A live call becomes an event the way a recorded span did (:mod:`live`), so that there is one
   place where meaning is decided, and redaction cannot make a difference (I6).
2. *Keys, not positions.* A call is found by kind, operation and the digests of what the recording carries (:mod:`carried`,
   :mod:`finding`). Order counts only among equals, and where the recording has a hard edge (:mod:`score`). So concurrent code
   may run in any order.
3. *Holes, not keys of secrets.* What a policy took away is a typed hole on both sides (:mod:`holes`); :mod:`bindings` sees to
   it that one hole stands for one value over the whole run. No pseudonym key is needed.
4. *The first cause.* A call without an answer is explained once, from what had agreed until then (:mod:`diagnosis`). Nothing is
   guessed to let a run go on: what is not known to be right is not served.
5. *Green means exercised.* What was not asked for, what was not compared, and what was assumed are part of the result
   (:mod:`result`).

The one ugly thing: a call that equals a *later* recording is served at once if no hard edge forbids it, since a concurrent
program may do that. Whether what stands between was skipped is known only at the end of the run, so a skipped call that nothing
depends on is reported there, as ``missing_call``, and not where it should have been.
"""

from otelreplay.replay.answers import Served
from otelreplay.replay.diff import Difference
from otelreplay.replay.divergence import KINDS, Blocked, Diverged, Divergence, Near
from otelreplay.replay.event_diff import EventDiff, diff
from otelreplay.replay.fixtures import Fixture, read_fixtures
from otelreplay.replay.interceptor import ReplayInterceptor
from otelreplay.replay.live import Live, Reader, live_of
from otelreplay.replay.normalizers import Normalizer, Pattern, Unordered, timestamps, uuids
from otelreplay.replay.result import ReplayResult
from otelreplay.replay.session import Scope, Session

__all__ = [
    "KINDS",
    "Blocked",
    "Difference",
    "Diverged",
    "Divergence",
    "EventDiff",
    "Fixture",
    "Live",
    "Near",
    "Normalizer",
    "Pattern",
    "Reader",
    "ReplayInterceptor",
    "ReplayResult",
    "Scope",
    "Served",
    "Session",
    "Unordered",
    "diff",
    "live_of",
    "read_fixtures",
    "timestamps",
    "uuids",
]
