"""The parts of a guarded run by themselves: addresses, the filter's program, the environment, frames of reports, arguments."""

import os
import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.errors import UsageError
from otelreplay.run import guard, traffic
from otelreplay.run.addresses import decode
from otelreplay.run.agents import arguments, call, found
from otelreplay.run.channel import Channel
from otelreplay.run.environment import NO_CREDENTIAL, guarded, without_credentials
from otelreplay.run.programs import ALLOW, ERRNO, MACHINES, NOTIFY, program

# ---- addresses ---------------------------------------------------------------------------------------------------------


def inet6(host):
    return struct.pack("=H", 10) + b"\x00\x50" + bytes(4) + socket.inet_pton(socket.AF_INET6, host)


@pytest.mark.parametrize(
    ("data", "family", "text"),
    [
        (struct.pack("=H", 2) + b"\x01\xbb" + bytes([192, 0, 2, 7]) + bytes(8), "inet", "192.0.2.7:443"),
        (inet6("2001:db8::1"), "inet", "[2001:db8::1]:80"),
        (inet6("::ffff:192.0.2.7"), "inet", "192.0.2.7:80"),
        (struct.pack("=H", 1) + b"/run/x\0junk", "unix", "unix:/run/x"),
        (struct.pack("=H", 1) + b"\0name\0x", "unix", "unix:@name@x"),
        (struct.pack("=H", 16) + bytes(10), "local", "netlink"),
        (bytes(16), "none", "none"),
        (struct.pack("=H", 40) + bytes(14), "other", "an address of family vsock"),
        (struct.pack("=H", 2) + b"\x01", "other", "an address of family 2"),
        (b"\x02", "other", "an address that cannot be read"),
    ],
)  # fmt: skip
def test_an_address_of_the_kernel_is_read(data, family, text):
    assert (family, text) == (decode(data).family, decode(data).text())


@given(st.binary(max_size=130))
def test_no_bytes_break_the_reading_of_an_address(data):
    assert decode(data).text()


def test_loopback_is_known_in_either_family():
    assert decode(inet6("::1")).loopback
    assert decode(struct.pack("=H", 2) + b"\x00\x50" + bytes([127, 9, 9, 9])).loopback
    assert not decode(struct.pack("=H", 2) + b"\x00\x50" + bytes([192, 0, 2, 1])).loopback


# ---- the filter's program ----------------------------------------------------------------------------------------------


def verdict(code, *, arch, number, arguments=(0,) * 6):
    """What the kernel would do: the program run over one ``struct seccomp_data``."""
    data = struct.pack("=IIQ6Q", number, arch, 0, *arguments)
    rows = list(struct.iter_unpack("=HBBI", code))
    at = value = 0
    while True:
        kind, yes, no, k = rows[at]
        at += 1
        if kind == 0x20:
            (value,) = struct.unpack_from("=I", data, k)
        elif kind == 0x54:
            value &= k
        elif kind == 0x06:
            return k
        else:
            at += yes if (value == k if kind == 0x15 else value >= k) else no


@pytest.fixture(params=MACHINES)
def machine(request):
    return MACHINES[request.param]


def judged(machine, call, *arguments):
    number = call if isinstance(call, int) else getattr(machine, call)
    return verdict(program(machine), arch=machine.arch, number=number, arguments=(*arguments, *(0,) * (6 - len(arguments))))


@pytest.mark.parametrize("call", ["connect", "bind", "sendmsg", "sendmmsg"])
def test_calls_that_may_name_an_address_ask(call, machine):
    assert NOTIFY == judged(machine, call)


def test_a_send_asks_only_if_it_names_an_address(machine):
    assert ALLOW == judged(machine, "sendto", 3, 4096, 1, 0, 0, 16)
    assert NOTIFY == judged(machine, "sendto", 3, 4096, 1, 0, 0x1000, 16)
    assert NOTIFY == judged(machine, "sendto", 3, 4096, 1, 0, 0x1000 << 32, 16)


@pytest.mark.parametrize(
    ("family", "kind", "protocol", "action"),
    [
        (1, 1, 0, ALLOW), (1, 5, 0, ALLOW), (16, 3, 0, ALLOW), (38, 5, 0, ALLOW), (2, 1, 0, ALLOW),
        (2, 1 | 0o2000000, 6, ALLOW), (2, 2 | 0o4000, 17, ALLOW), (10, 1, 0, ALLOW), (10, 2, 0, ALLOW),
        (2, 3, 1, NOTIFY), (10, 3, 58, NOTIFY),
        (2, 1, 132, NOTIFY), (2, 5, 132, NOTIFY), (17, 3, 0, NOTIFY), (40, 1, 0, NOTIFY), (29, 3, 1, NOTIFY),
    ],
)  # fmt: skip
def test_sockets_that_need_no_address_to_send_ask_when_they_are_made(family, kind, protocol, action, machine):
    assert action == judged(machine, "socket", family, kind, protocol)


def test_io_uring_and_foreign_abis_have_no_network(machine):
    assert ERRNO | 38 == judged(machine, "io_uring_setup")
    assert ERRNO | 38 == verdict(program(machine), arch=0x12345678, number=machine.connect)
    for number in machine.other_calls:
        assert ERRNO | 38 == verdict(program(machine), arch=machine.other, number=number)
    if machine.x32:
        assert ERRNO | 38 == judged(machine, 0x40000000 | machine.connect)


@given(number=st.integers(0, 1000))
def test_every_other_call_passes(number):
    for machine in MACHINES.values():
        watched = {machine.socket, machine.bind, machine.connect, machine.sendto, machine.sendmsg, machine.sendmmsg, 425}
        assert number in watched or ALLOW == judged(machine, number)
        assert number in machine.other_calls or ALLOW == verdict(program(machine), arch=machine.other, number=number)


# ---- the counters of a network -----------------------------------------------------------------------------------------


def test_the_kernels_counters_are_read_in_both_of_their_forms():
    text = (
        "Ip: Forwarding OutRequests\nIp: 1 9\nTcp: RtoMin ActiveOpens PassiveOpens\nTcp: 200 3 7\n"
        "Udp: InDatagrams OutDatagrams\nUdp: 5 2\nUdpLite: InDatagrams OutDatagrams\nUdpLite: 0 0\n"
        "Ip6InReceives                   \t2\nUdp6OutDatagrams                \t4\n"
    )
    assert {("connect", "by TCP"): 3, ("send", "by UDP"): 6, ("send", "by UDP-Lite"): 0} == traffic.read(text)
    assert {0} == {*traffic.read("").values()}


# ---- the environment ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", "sk-x"), ("ANTHROPIC_API_KEY", "x"), ("AWS_SECRET_ACCESS_KEY", "x"), ("AWS_SESSION_TOKEN", "x"),
        ("GITHUB_TOKEN", "ghp_0123456789"), ("HF_TOKEN", "hf_0123456789"), ("DB_PASSWORD", "x"), ("PGPASSWORD", "x"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/srv/key.json"), ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer x"),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x=y"), ("CLIENT_SECRET", "x"),
    ],
)  # fmt: skip
def test_a_credential_is_taken_out_and_something_stands_in_its_place(name, value):
    """A client that insists on a key is made all the same."""
    assert ({name: NO_CREDENTIAL}, (name,)) == without_credentials({name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", "/usr/bin"), ("HOME", "/srv/x"), ("LANG", "C"), ("PWD", "/x"), ("OLDPWD", "/x"), ("XDG_SESSION_ID", "c1"),
        ("SSH_AUTH_SOCK", "/run/ssh"), ("OTELREPLAY_KEYS", "/x"), ("MAX_TOKENS", "4096"), ("TOKENIZERS_PARALLELISM", "false"),
        ("OPENAI_API_KEY", ""), ("OPENAI_BASE_URL", "http://127.0.0.1:1"), ("PYTHONPATH", "a:b"), ("SORT_KEY", "name"),
    ],
)  # fmt: skip
def test_what_is_no_credential_stays(name, value):
    assert ({name: value}, ()) == without_credentials({name: value})


def test_the_password_of_a_url_goes_and_the_rest_of_it_stays():
    kept, taken = without_credentials({"DATABASE_URL": "postgres://u:hunter2@db:5432/x?y=1"})
    assert "hunter2" not in kept["DATABASE_URL"]
    assert kept["DATABASE_URL"].endswith("@db:5432/x?y=1")
    assert ("DATABASE_URL",) == taken


def test_paths_are_put_in_front_of_and_never_replaced():
    assert "/guard:/mine:/yours" == guarded({"PYTHONPATH": "/mine:/yours"}, folder="/guard", variables={})["PYTHONPATH"]
    assert "/guard" == guarded({}, folder="/guard", variables={})["PYTHONPATH"]


# ---- reports -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def channel(tmp_path, monkeypatch):
    held = Channel(tmp_path)
    monkeypatch.setitem(guard._settings, guard.PIPE, str(held.path))
    yield held
    held.close()


@pytest.mark.parametrize("text", ["", "x", "x" * 3779, "x" * 3780, "x" * 50_000, "\n", "é\ud800\0 ", "a b c"])
def test_a_report_arrives_as_it_was_sent(text, channel):
    assert guard.say({"type": "t", "text": text})
    assert [{"type": "t", "text": text}] == channel.messages()


def test_reports_of_several_processes_that_cross_are_told_apart(channel):
    """More than the system writes in one piece, from several processes at once."""
    children = []
    for n in range(4):
        pid = os.fork()
        if not pid:
            for m in range(20):
                guard.say({"n": n, "m": m, "text": str(n) * 9000})
            os._exit(0)
        children.append(pid)
    messages = []
    while children:
        messages += channel.messages()
        if os.waitpid(children[0], os.WNOHANG)[0]:
            del children[0]
    messages += channel.messages()
    assert sorted((m["n"], m["m"]) for m in messages) == [(n, m) for n in range(4) for m in range(20)]
    assert all(m["text"] == str(m["n"]) * 9000 for m in messages)


def test_what_is_no_report_of_ours_is_passed_over(channel):
    descriptor = os.open(channel.path, os.O_WRONLY)
    os.write(descriptor, b"junk\n1 2 0 not json\n1 3 0 [1]\n")
    os.close(descriptor)
    assert guard.say({"a": 1})
    assert [{"a": 1}] == channel.messages()


def test_without_a_supervisor_nobody_waits(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "none"):
        monkeypatch.setitem(guard._settings, guard.PIPE, str(path))
        assert not guard.say({"a": 1})


# ---- the agent ---------------------------------------------------------------------------------------------------------


def shape_plain(a, b=2): ...
def shape_keyword(a, *, b=2): ...
def shape_rest(a, *rest, b=2): ...
def shape_named(a, **others): ...
def shape_place(a, /, b, **others): ...


@pytest.mark.parametrize(
    ("function", "given", "expected"),
    [
        (shape_plain, {"a": 1, "b": 2}, ([], {"a": 1, "b": 2})),
        (shape_plain, {}, ([], {})),
        (shape_plain, {"a": 1, "z": 3}, ([], {"a": 1, "z": 3})),
        (shape_keyword, {"a": 1, "b": 3}, ([], {"a": 1, "b": 3})),
        (shape_rest, {"a": 1, "rest": [4, 5], "b": 3}, ([1, 4, 5], {"b": 3})),
        (shape_rest, {"a": 1, "b": 3}, ([], {"a": 1, "b": 3})),
        (shape_named, {"a": 1, "x": 2}, ([], {"a": 1, "x": 2})),
        (shape_place, {"a": 1, "b": 2, "others": {"a": 3}}, ([1], {"b": 2, "a": 3})),
    ],
)
def test_recorded_arguments_are_given_as_the_function_takes_them(function, given, expected):
    assert expected == arguments(function, given)


def test_what_a_decorated_function_binds_is_what_it_is_called_with():
    """The other end of it: the names that the decorators record."""
    from otelreplay.instrument.spec import binder

    for function, args, kwargs in [
        (shape_plain, (1,), {}), (shape_keyword, (1,), {"b": 5}), (shape_rest, (1, 2, 3), {"b": 4}),
        (shape_named, (1,), {"x": 2}), (shape_place, (1, 2), {"a": 3}),
    ]:  # fmt: skip
        bind, _ = binder(function, function.__qualname__)
        bound = bind(*args, **kwargs)
        positional, keywords = arguments(function, bound)
        assert bound == bind(*positional, **keywords)


def test_every_kind_of_function_is_run_to_its_end():
    async def coroutine(x):
        return x

    async def stream(x):
        yield x
        yield x

    def generator(x):
        yield x

    results = [call(f, {"x": 1}) for f in (lambda x: x, coroutine, stream, generator)]
    assert [1, 1, [1, 1], [1]] == results


@pytest.mark.parametrize("name", ["nothing", "a:", ":b", ""])
def test_a_name_without_both_parts_is_refused(name):
    with pytest.raises(UsageError, match=r"replay\.agent_name"):
        found(name)
