"""The guard of Node: whatever would leave the process is refused and told; providers' hosts lead to the replay."""

import json
import os
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from otelreplay.run.channel import Channel
from tests.run.far import STARTUP

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")
HEAD = """
const attempt = async (what) => {
  try { await what(); console.log("went live"); } catch (error) { console.log("refused"); }
};
const happens = (emitter, event) => new Promise((yes, no) => { emitter.on(event, yes); emitter.on("error", no); });
const port = Number(process.env.LIVE);
"""


class Counting(ThreadingHTTPServer):
    """A server that keeps what was asked."""

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.hits = []


@pytest.fixture
def served():
    """Two servers that count who comes, and say what was asked."""
    servers = []
    for _ in range(2):

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                getattr(self.server, "hits").append(  # noqa: B009 - set above
                    f"{self.command} {self.path}"
                )
                self.rfile.read(int(self.headers.get("content-length") or 0))
                body = self.path.encode()
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.do_POST()

            def log_message(self, *_):
                pass

        server = Counting(Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
    yield servers
    for server in servers:
        server.shutdown()
        server.server_close()


def run(tmp_path, served, text, *, guarded=True, name="agent.mjs", **variables):
    """(what the program printed, the attempts that were told)."""
    live, stub = served
    (tmp_path / name).write_text(HEAD + text + "\nprocess.exit(0);", encoding="utf-8")
    channel = Channel(tmp_path)
    ours = {
        "OTELREPLAY_RUN_PIPE": str(channel.path),
        "OTELREPLAY_RUN_STUB": f"http://127.0.0.1:{stub.server_port}/secret",
        "OTELREPLAY_RUN_SINCE": "1",
        "NODE_OPTIONS": f'--require "{STARTUP / "preload.cjs"}"',
        **variables,
    }
    env = {**os.environ, "LIVE": str(live.server_port), **(ours if guarded else {})}
    done = subprocess.run(["node", name], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False)
    told = list(channel.messages())
    channel.close()
    channel.path.unlink()
    return done.stdout.strip() + done.stderr.strip(), told


WAYS = {
    "net": 'const net = await import("net"); await attempt(() => happens(net.connect(port, "127.0.0.1"), "connect"));',
    "a named import": 'import { connect } from "net"; await attempt(() => happens(connect({ port }), "connect"));',
    "fetch": "await attempt(() => fetch(`http://127.0.0.1:${port}/`));",
    "http": 'const h = await import("http"); await attempt(() => happens(h.get({ port }), "response"));',
    "a datagram": """
        const { createSocket } = await import("dgram"); const socket = createSocket("udp4");
        await attempt(() => new Promise((yes, no) => socket.send("x", port, "127.0.0.1", (e) => (e ? no(e) : yes()))));
        socket.close();""",
    "another program": """
        const { execFileSync } = await import("child_process"); await attempt(() => execFileSync("true"));""",
    "a shell": 'const { execSync } = await import("child_process"); await attempt(() => execSync("true"));',
    "a spawned program": """
        const { spawn } = await import("child_process"); await attempt(() => happens(spawn("true"), "exit"));""",
    "a worker": """
        const { Worker } = await import("worker_threads");
        const code = "const said = (text) => () => console.log(text);"
          + "fetch(`http://127.0.0.1:${process.env.LIVE}/`).then(said('went live'), said('refused'))";
        await happens(new Worker(code, { eval: true }), "exit");""",
    "a Node child": """
        const { execFileSync } = await import("child_process");
        const code = "const said = (text) => () => console.log(text);"
          + "fetch(`http://127.0.0.1:${process.env.LIVE}/`).then(said('went live'), said('refused'))";
        console.log(String(execFileSync(process.execPath, ["-e", code])).trim());""",
}  # fmt: skip


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_what_would_go_live_is_refused_and_told(tmp_path, served, text):
    """The same program without the guard gets through: the control."""
    assert run(tmp_path, served, text, guarded=False) == ("went live", [])
    served[0].hits.clear()
    said, told = run(tmp_path, served, text)
    assert said == "refused"
    assert served[0].hits == []
    assert {m["type"] for m in told} == {"blocked"}
    assert {m["by"] for m in told} == {"node preload"}
    assert all(m["stack"] for m in told)


def test_an_attempt_names_the_line_of_the_program(tmp_path, served):
    """The stack of the first attempt begins in the program's own file."""
    _, told = run(
        tmp_path, served, 'import net from "net";\nfunction deep() { net.connect(port).on("error", () => 0); }\ndeep();'
    )
    assert told[0]["what"] == "connect"
    assert told[0]["target"] == f"localhost:{served[0].server_port}"
    assert told[0]["where"].endswith("agent.mjs:8 in deep")


PROVIDERS = {
    "https://api.openai.com/v1/chat/completions": "/secret/openai/v1/chat/completions",
    "https://api.anthropic.com/v1/messages?beta=true": "/secret/anthropic/v1/messages?beta=true",
    "https://generativelanguage.googleapis.com/v1beta/models/g:embedContent": "/secret/gemini/v1beta/models/g:embedContent",
    "https://llm.example.com/v1/chat/completions": "/secret/meant/v1/chat/completions",
}


@pytest.mark.parametrize(("address", "path"), PROVIDERS.items(), ids=["openai", "anthropic", "gemini", "a gateway"])
@pytest.mark.parametrize(
    "way",
    [
        'console.log(await (await fetch(ADDRESS, { method: "POST", body: "{}" })).text())',
        'console.log(await (await fetch(new Request(ADDRESS, { method: "POST", body: "{}", duplex: "half" }))).text())',
        """const https = await import("https"); const r = https.request(ADDRESS, { method: "POST" }); r.end("{}");
        const answer = await happens(r, "response"); let t = ""; for await (const part of answer) t += part; console.log(t);""",
        """const https = await import("https"); const u = new URL(ADDRESS);
        const r = https.request({ host: u.host, path: u.pathname + u.search, method: "POST" }); r.end("{}");
        const answer = await happens(r, "response"); let t = ""; for await (const part of answer) t += part; console.log(t);""",
    ],
    ids=["fetch", "a Request", "https", "https with options"],
)
def test_a_provider_whose_address_stands_in_the_code_is_the_replay(tmp_path, served, address, path, way):
    """Clients that read no variable are led there too."""
    said, told = run(tmp_path, served, way.replace("ADDRESS", json.dumps(address)))
    assert (said, told) == (path, [])
    assert served[1].hits == [f"POST {path}"]


def test_the_replay_itself_can_be_reached(tmp_path, served):
    """By its address; ``localhost`` and names of this machine can be looked up."""
    text = """
        const dns = await import("dns/promises"); await dns.lookup("localhost");
        console.log(await (await fetch(process.env.OTELREPLAY_RUN_STUB + "/x")).text());"""
    assert run(tmp_path, served, text) == ("/secret/x", [])


def test_names_are_not_looked_up(tmp_path, served):
    """Neither by the system nor by a server of names."""
    text = """
        const dns = await import("dns/promises");
        await attempt(() => dns.lookup("example.invalid")); await attempt(() => dns.resolve4("example.invalid"));"""
    said, told = run(tmp_path, served, text)
    assert said.split("\n") == ["refused", "refused"]
    assert [(m["what"], m["target"]) for m in told] == [("look up", "example.invalid")] * 2


def test_where_the_kernel_watches_programs_are_started(tmp_path, served):
    """What they do is seen there."""
    text = 'const { execFileSync } = await import("child_process"); await attempt(() => execFileSync("true"));'
    assert run(tmp_path, served, text, OTELREPLAY_RUN_SECCOMP="1") == ("went live", [])
