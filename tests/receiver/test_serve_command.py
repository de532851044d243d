"""``serve``, ``seal`` and ``status`` as commands."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from otelreplay.errors import UsageError
from otelreplay.receiver.access import is_loopback, parse_tokens
from otelreplay.wiring.addresses import settings_of
from tests.cli import traces
from tests.cli.command import Desk
from tests.receiver.posts import JSON, cassettes, served
from tests.receiver.process import serving_process

RUN = traces.agent_run()
DEFAULTS = {
    "grpc": "127.0.0.1:1",
    "http": "127.0.0.1:2",
    "limit": 1,
    "periods": (1, 2, 3),
    "tls": (None,) * 3,
    "guarded": False,
}


def post(port, document):
    body = json.dumps(document).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/traces", body, {"Content-Type": JSON})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_line_when_ready_and_all_is_sealed_at_the_end(tmp_path, number):
    with serving_process(tmp_path / "store", keys=tmp_path / "keys") as served:
        assert post(served.http, traces.request(*RUN)) == 200
        code, out, err = served.end(number)
    assert (code, out, err) == (0, served.line, "")
    assert len(cassettes(tmp_path / "store")) == 1


def test_seal_list_and_status_while_it_serves(tmp_path):
    desk, store = Desk(tmp_path), tmp_path / "store"
    with serving_process(store, keys=tmp_path / "keys") as served:
        post(served.http, traces.request(*RUN[1:]))
        pending = json.loads(desk.run("status", "--url", f"http://127.0.0.1:{served.http}", "--json", fresh=True).out)
        assert pending["pending"]["spans"] == 3
        sealed = json.loads(desk.run("seal", "--store", store, "--json", fresh=True).out)
        assert [run["revision"] for run in sealed["runs"]] == [1]
        assert desk.run("seal", "--store", store, fresh=True).out == "nothing was pending\n"
        post(served.http, traces.request(RUN[0]))
        desk.run("seal", sealed["runs"][0]["run_id"], "--store", store, fresh=True)
        assert "no such run" in desk.run("seal", "ab" * 16, "--store", store, fresh=True, expect=2).err
        listed = desk.run("list", store, fresh=True).out
        assert listed.count(".cassette.jsonl") == 1
        assert ".r2." in listed
        assert served.end()[0] == 0
    said = desk.run("status", "--store", store, fresh=True).out
    assert "1 runs, 1 revisions" in said
    assert desk.run("seal", "--store", store, fresh=True).out == "nothing was pending\n"


def test_off_says_that_nothing_is_redacted(tmp_path):
    with serving_process(tmp_path / "store", "--policy", "off", keys=tmp_path / "keys") as served:
        assert "nothing is redacted" in served.end()[2]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--grpc", "0.0.0.0:0"], "serve.open"),
        (["--http", "192.0.2.1"], "serve.address_form"),
        (["--grpc", "off", "--http", "off"], "serve.nothing"),
        (["--tls-cert", "missing.pem"], "serve.tls"),
        (["--policy", "missing.yaml"], "policy.unreadable"),
        (["--http", "192.0.2.1:0", "--allow-anyone"], "serve.address"),
    ],
)
def test_what_cannot_be_served_is_one_clear_sentence(tmp_path, options, code):
    done = Desk(tmp_path).run("serve", "--store", "store", "--grpc", "127.0.0.1:0", *options, fresh=True, expect=2)
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert f"[{code}]" in done.err


def test_a_port_in_use_and_a_store_in_use_are_one_clear_sentence(tmp_path):
    desk = Desk(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for option, other in (("--grpc", "--http"), ("--http", "--grpc")):
            done = desk.run("serve", "--store", "store", option, address, other, "127.0.0.1:0", fresh=True, expect=2)
            assert (done.err.count("\n"), "[serve.address]" in done.err, address in done.err) == (1, True, True)
    with serving_process(tmp_path / "store", keys=tmp_path / "keys"):
        done = desk.run("serve", "--store", "store", "--grpc", "127.0.0.1:0", "--http", "off", fresh=True, expect=2)
        assert "[store.in_use]" in done.err


def test_a_folder_that_is_no_store_is_said_to_be_none(tmp_path):
    desk = Desk(tmp_path)
    for command in (("seal", "--store", tmp_path), ("status", "--store", tmp_path)):
        assert "[store.not_a_store]" in desk.run(*command, expect=6).err
    assert "[status.which]" in desk.run("status", expect=2).err
    assert "[status.url]" in desk.run("status", "--url", "nowhere", expect=2).err
    assert "[status.no_answer]" in desk.run("status", "--url", "http://127.0.0.1:1", expect=6).err


def test_a_file_that_is_no_inbox_is_said_to_be_none(tmp_path):
    (tmp_path / "store" / "inbox").mkdir(parents=True)
    (tmp_path / "store" / "inbox" / "spans.db").write_bytes(b"garbage" * 1000)
    for command in (("serve", "--http", "127.0.0.1:0", "--grpc", "off"), ("seal",), ("status",)):
        assert "[inbox.corrupt]" in Desk(tmp_path).run(*command, "--store", "store", fresh=True, expect=6).err


def test_beyond_loopback_only_with_tokens_or_a_certificate_or_on_purpose(tmp_path):
    with pytest.raises(UsageError):
        settings_of(**{**DEFAULTS, "http": "0.0.0.0:1"})
    assert settings_of(**{**DEFAULTS, "http": "0.0.0.0:1", "guarded": True}).http == ("0.0.0.0", 1)
    files = (*certificate(tmp_path), None)
    assert settings_of(**{**DEFAULTS, "http": "0.0.0.0:1", "tls": files}).tls_files == files
    loopback = ("127.0.0.9", "::1", "[::1]", "localhost", "LOCALHOST")
    elsewhere = ("0.0.0.0", "10.0.0.1", "example.com", "0", "*", "[::]", "127.1")
    assert [is_loopback(host) for host in (*loopback, *elsewhere)] == [*[True] * len(loopback), *[False] * len(elsewhere)]


def test_tokens_are_read_from_lines(tmp_path):
    text = "# who may send\nacme a-token-of-some-length\n\n- another-token-of-length\n"
    assert parse_tokens(text, "x") == {"a-token-of-some-length": "acme", "another-token-of-length": ""}
    for bad in (
        "",
        "acme short\n",
        "acme\n",
        "acme sixteen-characters-\u00e9\n",
        "a one-token-of-16-char\nb one-token-of-16-char\n",
    ):
        with pytest.raises(UsageError) as error:
            parse_tokens(bad, "x")
        assert error.value.code == "serve.tokens"
        assert "one-token" not in str(error.value)


def certificate(folder):
    """A certificate of this machine's own for 127.0.0.1, and its key, as PEM files."""
    import datetime
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "receiver")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return folder / "cert.pem", folder / "key.pem"


def test_tls_on_both_ways_in(tmp_path):
    import ssl

    import grpc

    from otelreplay.testing.inboxes import sample_span
    from tests.receiver.posts import TRACE_SERVICE, request

    cert, key = certificate(tmp_path)
    options = ("--tls-cert", cert, "--tls-key", key)
    with serving_process(tmp_path / "store", *options, keys=tmp_path / "keys") as served:
        credentials = grpc.ssl_channel_credentials(cert.read_bytes())
        with grpc.secure_channel(f"127.0.0.1:{served.grpc}", credentials) as channel:
            assert channel.unary_unary(TRACE_SERVICE)(request(sample_span(1)), timeout=20) == b""
        context = ssl.create_default_context(cafile=cert)
        with urllib.request.urlopen(f"https://127.0.0.1:{served.http}/status", timeout=20, context=context) as answer:
            assert json.loads(answer.read())["stored"]["spans"] == 1


@pytest.mark.parametrize("wrong", ["other_key", "no_pem", "swapped", "no_authority"])
@pytest.mark.parametrize("way", ["grpc", "http"])
def test_a_certificate_that_cannot_be_used_is_said_before_anything_is_ready(tmp_path, wrong, way):
    """Never "ready" with a way in that is dead."""
    (tmp_path / "other").mkdir()
    (cert, key), (_, other) = certificate(tmp_path), certificate(tmp_path / "other")
    junk = tmp_path / "junk.pem"
    junk.write_text("junk")
    files = {"other_key": (cert, other, None), "no_pem": (junk, key, None), "swapped": (key, cert, None)}
    with pytest.raises(UsageError) as error:
        settings_of(
            **{**DEFAULTS, "grpc": "off", "http": "off", way: "127.0.0.1:1", "tls": files.get(wrong, (cert, key, junk))}
        )
    assert error.value.code == "serve.tls"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_http_server_that_does_not_start_is_an_error(tmp_path, monkeypatch):
    def fails(*_args, **_more):
        raise SystemExit(1)

    monkeypatch.setattr("uvicorn.Server.run", fails)
    with pytest.raises(UsageError) as error, served(tmp_path):
        pass
    assert error.value.code == "serve.address"


def test_an_ipv6_address_needs_its_brackets():
    assert settings_of(**{**DEFAULTS, "grpc": "[::1]:7"}).grpc == ("[::1]", 7)
    with pytest.raises(UsageError) as error:
        settings_of(**{**DEFAULTS, "grpc": "::1:7"})
    assert error.value.code == "serve.address_form"


def test_the_command_is_quick_to_say_what_it_takes():
    """Serving pulls in much; asking for help does not."""
    code = "import sys, otelreplay.cli.main; print('grpc' in sys.modules or 'uvicorn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
