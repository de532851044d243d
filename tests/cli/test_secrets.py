"""I1 from the outside: what the policy removes is on no disk, in no message, at no time, whatever it is wrapped in."""

import base64
import json
import signal
import subprocess
import threading
import time
import urllib.parse

import pytest

from tests.cli.command import files_under
from tests.cli.traces import agent_run, attributes, lines, log_request, request, span

KEY = "sk-proj-" + "Ab3dEf9hIjKlMn0pQrStUvWx" * 2
MAIL = "marie.dupont@example.org"
CARD = "4539 5787 6362 1486"
CANARIES = (KEY, MAIL, CARD)


def forms(text):
    """The text as it may stand on a disk: plain, in JSON, in base64, in a URL."""
    raw = text.encode()
    yield raw
    yield json.dumps(text)[1:-1].encode()
    yield urllib.parse.quote(text, safe="").encode()
    for shift in range(3):
        yield base64.b64encode(b"x" * shift + raw)[4:-4]


def leaks(data):
    return [text for text in CANARIES if any(form in data for form in forms(text))]


def poisoned():
    """A run with the canaries in every place where text can stand."""
    told = f"My mail is {MAIL}, my key {KEY}, my card {CARD}."
    spans = agent_run(question=told, result={"note": told, "nested": json.dumps({"inner": json.dumps({"k": told})})})
    spans[0]["name"] = f"invoke_agent {told}"
    spans[0]["status"] = {"code": 2, "message": told}
    spans[0]["events"] = [
        {"name": "exception", "timeUnixNano": "1790000000000000001",
         "attributes": attributes({"exception.message": told, "exception.stacktrace": f"at:\n{told}", "exception.type": "E"})},
        {"name": told, "timeUnixNano": "1790000000000000002", "attributes": []},
    ]  # fmt: skip
    spans[0]["links"] = [
        {"traceId": spans[0]["traceId"], "spanId": "00000000000000ff", "attributes": attributes({"why": told})}
    ]
    spans[0]["attributes"] += attributes(
        {
            "authorization": f"Bearer {KEY}",
            "packed": base64.b64encode(told.encode()).decode(),
            "url": f"https://u:{KEY}@example.com/?mail={urllib.parse.quote(MAIL)}",
            "list": [told, {"deep": [told]}],
            "bytes": told,
        }
    )
    record = {
        "traceId": spans[0]["traceId"],
        "spanId": spans[1]["spanId"],
        "timeUnixNano": "1790000000000000003",
        "body": {"kvlistValue": {"values": attributes({"said": told})}},
        "attributes": attributes({"told": told}),
    }
    loose = {"timeUnixNano": "1790000000000000004", "body": {"stringValue": told}}
    return lines(
        request(*spans, resource={"deployment": told}, scope={"name": told, "version": "1"}), log_request(record, loose)
    )


def everything_on_disk(desk, trace):
    return b"".join(p.read_bytes() for p in files_under(desk.folder) if p != trace)


@pytest.fixture
def trace(desk):
    (desk.folder / "tmp").mkdir()
    desk.environment["TMPDIR"] = str(desk.folder / "tmp")
    return desk.write("trace.jsonl", poisoned())


def test_no_file_and_no_output_of_any_command_holds_what_the_policy_removes(desk, trace):
    said = desk.run("convert", trace, "--out", "out").said
    (cassette,) = desk.cassettes()
    for command in (
        ["show"],
        ["show", "--json"],
        ["events"],
        ["events", "--json"],
        ["report"],
        ["report", "--json"],
        ["verify"],
    ):
        said += desk.run(command[0], cassette, *command[1:]).said
    for seq in range(len(desk.events(cassette))):
        said += desk.run("show", cassette, "--event", seq).said
    said += desk.run("list", "out").said
    assert [] == leaks(said.encode())
    assert [] == leaks(everything_on_disk(desk, trace))


def test_the_canaries_would_be_seen(desk, trace):
    """The test above can fail: without a policy every canary is found."""
    desk.run("convert", trace, "--out", "out", "--policy", "off")
    assert list(CANARIES) == leaks(everything_on_disk(desk, trace))


def test_the_rest_of_the_run_is_still_there(desk, trace):
    (cassette,) = desk.convert(trace)
    events = desk.events(cassette)
    assert ["agent", "model", "tool", "model"] == [e["kind"] for e in events]
    assert events[1]["request"]["messages"][0]["parts"][0]["content"].startswith("My mail is ")
    assert any(e["redactions"] for e in events)


def test_nothing_is_seen_on_disk_at_any_moment_of_a_conversion(desk, trace):
    """Watches every file, hidden and temporary ones too, while a conversion of many traces runs."""
    many = b"".join(trace.read_bytes().replace(b"0af7651916cd43dd8448eb211c80319c", b"%032x" % (n + 1)) for n in range(60))
    trace.write_bytes(many)
    found, seen, over = [], set(), threading.Event()

    def watch():
        while not over.is_set():
            for path in files_under(desk.folder):
                if path != trace:
                    seen.add(path.name)
                    try:
                        found.extend(leaks(path.read_bytes()))
                    except OSError:
                        continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        desk.run("convert", trace, "--out", "out")
    finally:
        over.set()
        watcher.join()
    assert [] == found
    assert any("cassette" in name for name in seen)


@pytest.mark.parametrize("after", [0.4, 0.8, 1.2])
def test_a_killed_conversion_leaves_nothing_that_the_policy_removes_and_no_half_cassette(after, desk, trace):
    many = b"".join(trace.read_bytes().replace(b"0af7651916cd43dd8448eb211c80319c", b"%032x" % (n + 1)) for n in range(120))
    trace.write_bytes(many)
    process = subprocess.Popen(
        desk.command("convert", trace, "--out", "out"),
        cwd=desk.folder,
        env=desk.env(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    out, err = process.communicate()
    assert [] == leaks(everything_on_disk(desk, trace) + out + err)
    for cassette in desk.cassettes():
        desk.run("verify", cassette)
    desk.run("convert", trace, "--out", "out")
    assert 120 == len(desk.cassettes())


def test_spans_that_are_refused_are_not_quoted(desk):
    spans = agent_run()
    spans[1] = {**spans[1], "spanId": KEY}
    spans[2] = {**spans[2], "traceId": MAIL}
    trace = desk.write(
        "trace.jsonl", lines(request(*spans, span(CARD, KEY, MAIL))) + f'{{"resourceSpans": "{KEY}"}}\n{{"{MAIL}'
    )
    done = desk.run("convert", trace, "--out", "out", "--json")
    assert [] == leaks(done.said.encode() + everything_on_disk(desk, trace))


def test_what_the_user_writes_about_the_cassettes_passes_the_policy_too(desk):
    desk.write("trace.jsonl", lines(request(*agent_run())))
    desk.run("convert", "trace.jsonl", "--out", "out", "--purpose", f"for {MAIL}", "--classification", KEY)
    assert not [path for path in files_under(desk.folder) if leaks(path.read_bytes())]
