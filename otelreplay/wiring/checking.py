"""``--self-check``: one cassette replayed under several settings of the machine, and the ends compared."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from otelreplay.errors import InputError, IntegrityError, MissingDataError, OtelReplayError, UsageError
from otelreplay.run import jitter
from otelreplay.run.steadiness import SCHEDULE, Checked, End, Unsteady, difference
from otelreplay.wiring.processes import Processes, Ran, Task
from otelreplay.wiring.replaying import WITNESS

_BASE: Final = {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
_ZONES: Final = ("Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kolkata", "Pacific/Pago_Pago")
"""Fourteen hours ahead of UTC, one with summer time, one with half an hour, eleven hours behind."""
_WANTED: Final = ("tr_TR", "de_DE", "ja_JP", "ar_EG", "fr_FR", "en_US")
"""Locales that differ in letters, numbers, dates and order."""
_NAMES: Final = {"PYTHONHASHSEED": "hash seed", "TZ": "time zone", "LC_ALL": "locale", jitter.VARIABLE: SCHEDULE}
_ROUNDS: Final = 4
_REPEATS: Final = 3
_ERRORS: Final = {2: UsageError, 3: MissingDataError, 5: IntegrityError, 6: InputError}


def self_check(words: Sequence[str], *, jobs: int = 0, done: Callable[[int, int], None] | None = None) -> Checked:
    """Replay by these words of the command line (``{report}`` among them) under every setting.

    Raises what the first replay could not begin for.
    """
    processes, steps = Processes(jobs), [0]
    locales, rounds = _locales(), []
    for n in range(_ROUNDS):
        round_ = {"PYTHONHASHSEED": str(n + 1), "TZ": _ZONES[n % len(_ZONES)], jitter.VARIABLE: str(n + 1)}
        rounds.append(round_ | ({"LC_ALL": locales[n % len(locales)]} if locales else {}))

    def end_of(settings: Sequence[Mapping[str, str]]) -> list[tuple[Ran, End]]:
        def step(_: Ran) -> None:
            steps[0] += 1
            if done is not None:
                done(steps[0], _ROUNDS + 2)

        tasks = [Task(name=str(n), words=words, environ={**_BASE, **s, WITNESS: "{witness}"}) for n, s in enumerate(settings)]
        return [(ran, _end(ran, s)) for ran, s in zip(processes.run(tasks, step), settings, strict=True)]

    (ran, base), (_, again), *others = end_of([{}, {}, *rounds])
    if ran.report is None:
        raise _refused(ran)
    ordered = difference(base, again, ordered=True) is None
    found = [] if ordered else [d for d in [difference(base, again, ordered=False)] if d is not None]
    if not found:
        unsteady = [end for _, end in others if difference(base, end, ordered=False) is not None]
        found = _named(base, unsteady[:1], end_of)
    if not found and ordered:
        found = _out_of_order(base, [end for _, end in others], end_of)
    zone = () if _has_zones() else ("time zone: this machine has no zone files",)
    return Checked(
        replays=steps[0], settings=({}, {}, *map(_said, rounds)), unsteady=tuple(found), report=ran.report,
        digests=tuple(end.digest(ordered=False) for end in (base, again, *(end for _, end in others))),
        not_varied=(*zone, *(() if locales else ("locale: this machine has none but C",))),
    )  # fmt: skip


_Ends = Callable[[Sequence[Mapping[str, str]]], list[tuple[Ran, End]]]


def _named(base: End, unsteady: Sequence[End], end_of: _Ends) -> list[Unsteady]:
    """The settings that make a difference each by itself; all together where none does."""
    if not unsteady:
        return []
    (end,) = unsteady
    alone = end_of([{name: value} for name, value in end.setting.items()])
    found = [d for d in (difference(base, one, ordered=False) for _, one in alone) if d is not None]
    if len(found) > 1:  # a race shows up under any setting, and is the fault of none
        same = [difference(base, one, ordered=False) for _, one in end_of([{}] * _REPEATS)]
        found = next(([d] for d in same if d is not None), found)
    together = difference(base, end, ordered=False)
    return [_spoken(d) for d in found or ([together] if together is not None else [])]


def _out_of_order(base: End, others: Sequence[End], end_of: _Ends) -> list[Unsteady]:
    """Another order of calls, by a setting that is none of the schedule's."""
    end = next((e for e in others if difference(base, e, ordered=True) is not None), None)
    if end is None:
        return []
    alone = end_of([{n: v} for n, v in end.setting.items() if n != jitter.VARIABLE])
    return [_spoken(d) for d in (difference(base, one, ordered=True) for _, one in alone) if d is not None]


def _spoken(found: Unsteady) -> Unsteady:
    return replace(found, setting=_said(found.setting))


def _said(setting: Mapping[str, str]) -> dict[str, str]:
    return {_NAMES[name]: value for name, value in setting.items()}


def _end(ran: Ran, setting: Mapping[str, str]) -> End:
    report: Mapping[str, Any] = ran.report or {}
    asked = tuple((int(m["seq"]), m["keys"]) for m in ran.asked)
    return End(
        setting=setting, outcome=str(report.get("outcome") or ran.code), exit_code=ran.exit_code, out=ran.out, asked=asked,
        child_exit=report.get("child_exit"), first=report.get("first_divergence"),
    )  # fmt: skip


def _refused(ran: Ran) -> OtelReplayError:
    kind = _ERRORS.get(ran.exit_code, UsageError)
    return kind(
        ran.problem or "the replay did not begin", code=ran.code or "replay.self_check",
        next_step="replay it without --self-check first",
    )  # fmt: skip


def _has_zones() -> bool:
    return any(Path(folder, _ZONES[0]).exists() for folder in ("/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo"))


def _locales() -> list[str]:
    """The locales of this machine that differ most, at most as many as there are rounds."""
    try:
        said = subprocess.run(["locale", "-a"], capture_output=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    known = said.decode("ascii", "replace").split()
    wanted = [name for start in _WANTED for name in known if name.startswith(start) and "utf" in name.lower()]
    return wanted[:_ROUNDS] or [name for name in ("POSIX",) if name in known]
