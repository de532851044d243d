"""Bad input of every kind: one clear sentence with place and advice, the right exit code, no traceback, nothing lost."""

import json
import os
import resource
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from otelreplay.cassette import Retention, read_cassette, write_cassette
from otelreplay.cassette.keyring import Keyring
from tests.cli.traces import agent_run, lines, request

TRACE = lines(request(*agent_run()))
ROOT = os.geteuid() == 0


@pytest.fixture
def cassette(desk):
    desk.write("trace.jsonl", TRACE)
    return desk.convert("trace.jsonl")[0]


def expired(cassette, keyring):
    """The same cassette, made to expire in 2020."""
    with cassette.open("rb") as stream:
        held = read_cassette(stream)
    header = held.header.model_copy(update={"retention": Retention(expires="2020-01-01T00:00:00Z")})
    path = cassette.with_name("old.cassette.jsonl")
    path.write_bytes(b"".join(write_cassette(held.recording(), header=header, signer=keyring.signer())))
    return path


def sentence(done, *words):
    """Exactly one line on stderr, with all of these words and a code in brackets; nothing on stdout."""
    assert "" == done.out
    (line,) = done.err.splitlines()
    assert line.startswith("otelreplay: ")
    assert line.endswith("]")
    assert [] == [w for w in words if w not in line], line
    return line


# --- traces ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nothing-here.json", None, ["nothing-here.json", "no such file", "input.not_found"]),
        (".", None, ["folder", "input.is_a_folder"]),
        ("empty.json", b"", ["empty.json"]),
        ("text.json", b"hello, this is no trace\n", ["text.json"]),
        ("other.json", b'{"some": "json"}\n', ["other.json"]),
        ("list.json", b"[1, 2, 3]\n", ["list.json"]),
        ("binary.pb", bytes(range(256)), ["binary.pb"]),
        ("no-spans.json", b'{"resourceSpans": []}\n', ["no span", "trace.empty"]),
    ],
)
def test_input_that_is_no_trace_ends_with_6_and_writes_nothing(name, content, words, desk):
    if content is not None:
        desk.write(name, content)
    sentence(desk.run("convert", name, "--out", "out", expect=6), *words)
    assert [] == [p for p in (desk.folder / "out").rglob("*") if p.is_file()]


@pytest.mark.skipif(ROOT, reason="root may read everything")
def test_a_file_without_permission_ends_with_6(desk):
    desk.write("trace.jsonl", TRACE).chmod(0)
    sentence(
        desk.run("convert", "trace.jsonl", "--out", "out", expect=6), "trace.jsonl", "Permission denied", "input.unreadable"
    )


def test_a_truncated_last_line_costs_that_line_and_is_named(desk):
    whole, cut = lines(request(*agent_run()[:3])), lines(request(*agent_run()[3:]))
    desk.write("trace.jsonl", whole + cut[: len(cut) // 2])
    result = json.loads(desk.run("convert", "trace.jsonl", "--out", "out", "--json").out)
    assert 3 == result["spans"]
    assert 1 == result["rejected_total"]
    assert "line 2" in result["rejected"][0]["where"]


def test_a_missing_file_among_good_ones_ends_with_6_and_leaves_what_is_there_alone(desk, cassette):
    before = cassette.read_bytes()
    sentence(desk.run("convert", "trace.jsonl", "gone.jsonl", "--out", "out", expect=6), "gone.jsonl")
    assert [(cassette, before)] == [(p, p.read_bytes()) for p in desk.cassettes()]


def test_text_of_the_input_is_never_quoted(desk):
    desk.write("trace.jsonl", b'{"resourceSpans": "sk-live-canary-000", "x": sk-live-canary-000}\n')
    assert "canary" not in desk.run("convert", "trace.jsonl", "--out", "out", expect=6).said


def test_a_name_that_steers_the_terminal_is_shown_as_text(desk):
    assert "\x1b" not in desk.run("convert", "a\x1b[2Jb.json", "--out", "out", expect=6).said


# --- places to write to -----------------------------------------------------------------------------------------------------


def test_a_file_in_place_of_the_folder_ends_with_2(desk):
    desk.write("trace.jsonl", TRACE)
    desk.write("out", b"something of the user's")
    sentence(desk.run("convert", "trace.jsonl", "--out", "out", expect=2), "out")
    assert b"something of the user's" == (desk.folder / "out").read_bytes()


def test_a_place_that_cannot_be_written_to_is_said_before_the_input_is_read(desk):
    desk.write("out", b"")
    desk.write("text.json", b"hello, this is no trace\n")
    sentence(desk.run("convert", "text.json", "--out", "out", expect=2), "output.not_a_folder")


def test_a_file_that_is_not_there_is_said_before_the_others_are_read(desk):
    desk.write("text.json", b"hello, this is no trace\n")
    sentence(desk.run("convert", "text.json", "gone.json", "--out", "out", expect=6), "gone.json", "input.not_found")


@pytest.mark.skipif(ROOT, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_ends_with_2(desk):
    desk.write("trace.jsonl", TRACE)
    (desk.folder / "out").mkdir(mode=0o500)
    sentence(desk.run("convert", "trace.jsonl", "--out", "out", expect=2), "out", "Permission denied")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_the_output_of_a_command_is_said_to_be_so(desk, cassette):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            desk.command("events", cassette, "--json"), env=desk.env(), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert 2 == done.returncode
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_limit_on_file_size_leaves_no_half_cassette(desk):
    """As a disk that runs full: the write fails in the middle of the cassette."""
    desk.write("trace.jsonl", lines(request(*agent_run(question="word " * 40_000))))
    desk.run("keys", "list")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    done = subprocess.run(
        desk.command("convert", "trace.jsonl", "--out", "out"),
        cwd=desk.folder, env=desk.env(), capture_output=True, preexec_fn=limit, check=False,
    )  # fmt: skip
    assert 2 == done.returncode, done.stderr
    assert b"Traceback" not in done.stderr
    assert [] == [p for p in (desk.folder / "out").rglob("*") if p.is_file()]


def test_an_interrupt_ends_with_130_and_leaves_whole_cassettes_only(desk):
    trace = desk.write(
        "trace.jsonl",
        b"".join(TRACE.encode().replace(b"0af7651916cd43dd8448eb211c80319c", b"%032x" % n) for n in range(1, 400)),
    )
    process = subprocess.Popen(
        desk.command("convert", trace, "--out", "out"),
        cwd=desk.folder,
        env=desk.env(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while process.poll() is None and not desk.cassettes():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (130, b"", b"otelreplay: interrupted\n") == (process.returncode, out, err)
    assert [] == [p.name for p in (desk.folder / "out").rglob("*") if not p.name.endswith(".cassette.jsonl")]
    for cassette in desk.cassettes()[-3:]:
        desk.run("verify", cassette)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_stream_is_no_bug(closed, desk, cassette):
    command = shlex.join(desk.command("show", "-" if closed == "<&-" else cassette))
    done = subprocess.run(["bash", "-c", f"{command} {closed}"], env=desk.env(), capture_output=True, text=True, check=False)
    assert (6 if closed == "<&-" else 0) == done.returncode, done.stderr
    assert "Traceback" not in done.stderr


# --- policies and keys ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("version: 1\nname: x\nrulez: []\n", ["policy.yaml:3", "rulez", "rules"]),
        ("version: 1\nname: x\nrules: [{id: a, detector: emial, action: mask}]\n", ["unknown detector"]),
        ("rules: [\n", []),
        ("- just\n- a list\n", []),
        ("", []),
    ],
)
def test_a_policy_that_cannot_be_used_ends_with_2_and_nothing_is_written(policy, words, desk):
    desk.write("trace.jsonl", TRACE)
    desk.write("policy.yaml", policy)
    sentence(desk.run("convert", "trace.jsonl", "--out", "out", "--policy", "policy.yaml", expect=2), "policy.yaml", *words)
    assert not (desk.folder / "out").exists()


def test_a_policy_that_is_not_there_ends_with_2(desk):
    desk.write("trace.jsonl", TRACE)
    sentence(desk.run("convert", "trace.jsonl", "--out", "out", "--policy", "nope.yaml", expect=2), "nope.yaml")


def test_a_damaged_key_ends_with_2_and_is_not_quoted(desk, cassette):
    for key in (desk.folder / "keys").rglob("*.key"):
        key.write_bytes(b"bm90IGEga2V5\n")
    line = sentence(desk.run("convert", "trace.jsonl", "--out", "out", expect=2), "keyring.corrupt")
    assert "bm90" not in line


# --- cassettes --------------------------------------------------------------------------------------------------------------


READING = [["show"], ["events", "--json"], ["report", "--json"]]


@pytest.mark.parametrize("command", READING, ids=lambda c: c[0])
@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (None, 6, ["no such file"]),
        (b"", 6, []),
        (b"not a cassette\n", 6, ["not a cassette"]),
        (TRACE.encode(), 6, ["not a cassette"]),
        (b'{"type":"header","format":"7","semantics":{},"run_id":"ab","revision":1}\n', 6, ["format 7", "pdate otelreplay"]),
    ],
)
def test_what_is_no_cassette_of_this_format_ends_with_6(content, code, words, command, desk):
    if content is not None:
        desk.write("x.cassette.jsonl", content)
    sentence(desk.run(command[0], "x.cassette.jsonl", *command[1:], expect=code), "x.cassette.jsonl", *words)


@pytest.mark.parametrize("command", READING, ids=lambda c: c[0])
def test_an_altered_cassette_ends_with_5_and_says_where(command, desk, cassette):
    data = cassette.read_bytes().replace(b"A-17", b"A-18", 1)
    cassette.chmod(0o600)
    cassette.write_bytes(data)
    sentence(desk.run(command[0], cassette, *command[1:], expect=5), cassette.name, "line")


@pytest.mark.parametrize("command", READING, ids=lambda c: c[0])
def test_a_cut_cassette_ends_with_5_unless_that_is_allowed(command, desk, cassette):
    rows = cassette.read_bytes().splitlines(keepends=True)
    desk.write("cut.cassette.jsonl", b"".join(rows[:-1]))
    sentence(desk.run(command[0], "cut.cassette.jsonl", *command[1:], expect=5), "cassette.unsealed")
    assert desk.run(command[0], "cut.cassette.jsonl", *command[1:], "--allow-unsealed").out


@pytest.mark.parametrize("command", READING, ids=lambda c: c[0])
def test_an_expired_cassette_ends_with_6_unless_that_is_allowed(command, desk, cassette):
    old = expired(cassette, Keyring(desk.folder / "keys"))
    sentence(desk.run(command[0], old, *command[1:], expect=6), old.name, "expired", "2020-01-01", "cassette.expired")
    assert desk.run(command[0], old, *command[1:], "--allow-expired").out
    assert "expired" in desk.run("verify", old).out


def test_an_event_that_is_not_there_ends_with_2_and_says_which_are(desk, cassette):
    sentence(desk.run("show", cassette, "--event", "99", expect=2), "no event 99", "from 0 to 3")


# --- verify ----------------------------------------------------------------------------------------------------------------


def test_verify_ends_with_0_for_an_own_cassette(desk, cassette):
    assert desk.run("verify", cassette).out.startswith("unaltered")
    assert json.loads(desk.run("verify", cassette, "--json").out)["ok"] is True


def test_verify_ends_with_5_for_an_altered_one_and_names_the_line(desk, cassette):
    rows = cassette.read_bytes().splitlines(keepends=True)
    number = next(n for n, row in enumerate(rows) if b"A-17" in row)
    rows[number] = rows[number].replace(b"A-17", b"A-18")
    desk.write("x.cassette.jsonl", b"".join(rows))
    done = desk.run("verify", "x.cassette.jsonl", expect=5)
    assert done.out.startswith("NOT verified")
    assert f"line {number + 1}, " in done.out
    found = json.loads(desk.run("verify", "x.cassette.jsonl", "--json", expect=5).out)
    assert number + 1 in [p["line"] for p in found["problems"]]


def test_verify_ends_with_5_for_a_foreign_signer_until_its_key_is_trusted(desk, cassette):
    public = desk.run("keys", "export").out
    desk.environment["OTELREPLAY_KEYS"] = str(desk.folder / "other")
    done = desk.run("verify", cassette, expect=5)
    assert "keys trust" in done.out
    desk.run("keys", "trust", "-", stdin=public.encode())
    desk.run("verify", cassette)


def test_verify_still_ends_with_0_after_the_key_was_rotated(desk, cassette):
    desk.run("keys", "rotate")
    desk.run("verify", cassette)


@pytest.mark.parametrize(("name", "code"), [("gone.cassette.jsonl", 6), (".", 6)])
def test_verify_ends_with_6_for_what_cannot_be_opened(name, code, desk):
    sentence(desk.run("verify", name, expect=code), name)


def test_verify_ends_with_5_for_what_is_no_cassette_at_all(desk):
    """One altered byte can make a cassette into that."""
    desk.write("x.cassette.jsonl", b"hello\n")
    assert "not a cassette" in desk.run("verify", "x.cassette.jsonl", expect=5).out
