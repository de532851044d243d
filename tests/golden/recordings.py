"""What golden cassettes are made from: recordings that hold one of everything that the format can say."""

from typing import get_args

from otelreplay.cassette import Parent
from otelreplay.cassette.fork import Edit, concluded, forked, observed
from otelreplay.events import Event, Recording
from otelreplay.events.model import Kind
from tests.cassette import runs
from tests.cassette.test_format_document import example
from tests.replay import builders

CREATED = "2026-01-31T12:00:00Z"
MAIL = builders.policy(("mail", "detector: email, action: pseudonym"), ("phone", "detector: phone, action: mask"))


def every_kind():
    """One event of each kind, each inside the one before it."""
    events = []
    for n, kind in enumerate(get_args(Kind)):
        request = {"messages": [runs.text("user", "Hello.")]} if kind == "model" else {"arguments": {"n": n}}
        events.append(Event(
            seq=n, id=runs.span(n), kind=kind, name=f"a {kind}", request=request, parent=n - 1 if n else None,
            response={"result": {"of": kind}}, start=str(1_790_000_000_000_000_000 + n), end=str(1_790_000_000_000_000_900 - n),
            spans=[runs.span(n)], attributes={"otelreplay.scope": "otelreplay 0.1"},
        ))  # fmt: skip
    return Recording(run_id="e1e1", trace_ids=(runs.TRACE,), events=tuple(events), span_count=len(events))


def asked():
    """Calls of a decorated agent whose question and result hold what a policy replaces."""
    steps = builders.desk(2)
    call = ("tool", "send", {"arguments": {"to": "jo@example.com", "text": "on its way"}}, {"sent": "jo@example.com"})
    said = builders.text("user", "Write to jo@example.com.")
    return [("model", "m", {"messages": [said]}, "I will."), call, *steps]


def redacted(**header):
    """(recording, header members) of these calls under the policy, as they are converted."""
    held = builders.record(asked(), policy=MAIL)
    members = {"policy": MAIL.stored() if hasattr(MAIL, "stored") else MAIL.model_dump(mode="json", exclude_defaults=True)}
    return held.recording(), {**members, "policy_digest": MAIL.digest(), "placeholders": held.header.placeholders, **header}


def golden():
    """name → lines."""
    made = {}
    plain = example()
    made["plain"] = runs.seal(plain, created=CREATED, retention={"expires": "2126-03-02T00:00:00Z"})
    made["history"] = runs.seal(runs.chat(5, size=1200), created=CREATED)
    made["marked"] = runs.seal(runs.marked(), created=CREATED)
    made["kinds"] = runs.seal(every_kind(), created=CREATED)
    recording, members = redacted(created=CREATED)
    made["redacted"] = runs.seal(recording, **members)
    link = Parent(root=runs.read(made["plain"]).seal.root, kind="revision", reason="spans came late")
    made["revision"] = runs.seal(plain, created=CREATED, revision=2, parent=link)
    parent = runs.read(made["redacted"])
    seq = next(event.seq for event in parent.events if event.name == "find")
    edit = Edit("response.result.state", "lost")
    head, events = forked(
        parent, seq=seq, edits=[edit], reason="was it lost?", created=CREATED, clean=lambda event: event
    )  # fmt: skip
    draft = list(runs.write_cassette(events, header=head, signer=runs.SIGNER))[:-1]
    made["draft"] = draft
    report = {
        "outcome": "diverged",
        "exit_code": 1,
        "served": 2,
        "first_divergence": {"code": "replay.request_changed", "seq": 4},
    }
    head, events, further = concluded(runs.read(draft), observed(report, created=CREATED), created=CREATED)
    made["fork"] = list(runs.write_cassette(events, header=head, signer=runs.SIGNER, further=further))
    return made
