"use strict";
// Leads the MCP clients of a Node program to the replay, without the program's knowing: what run/mcp_clients.py is for Python.
//
//   a process that a stdio transport starts       the bridge (run/mcp_stdio.py) is started in its place
//   a POST of JSON-RPC that takes event streams   goes to the host; the GET and DELETE of such a connection too
//   the event stream of the older HTTP transport  is made here: it gives an address, and what is posted there goes to the host
//
// Transports are known by the names of their classes on the stack, requests by what they carry. Loaded before the program.

const childProcess = require("node:child_process");
const { createHash } = require("node:crypto");
const { syncBuiltinESMExports } = require("node:module");
const path = require("node:path");

const BRIDGE = path.join(__dirname, "..", "mcp_stdio.py");
const STDIO = /Stdio\w*Transport\.start\b|[\\/]client[\\/]stdio\.[cm]?js/;
const SSE = /\bS(SE|se)\w*Transport\b|\bestablishConnection\b|[\\/]client[\\/]sse\.[cm]?js/;
const NOT_HERS = new Set(["OTELREPLAY_RUN_TOOLS", "OTELREPLAY_RUN_MAIN"]);

// As they were at the start: a program may empty its environment.
const stub = process.env.OTELREPLAY_RUN_STUB || "";
const python = process.env.OTELREPLAY_RUN_PYTHON || "python3";
const servers = namesIn(process.env.OTELREPLAY_RUN_MCP);
const environ = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => (name.startsWith("OTELREPLAY_") && !NOT_HERS.has(name)) || ["PYTHONPATH", "PATH", "SYSTEMROOT"].includes(name),
  ),
);
let opened = 0;
const streams = new Map(); // by the address that an event stream gave: where to say the answers

function namesIn(text) {
  try {
    return JSON.parse(text || "[]").filter((name) => typeof name === "string");
  } catch {
    return [];
  }
}

const plain = (text) => text.toLowerCase().replace(/[^a-z0-9]/g, "");

// The name of the connection that a command or an address opens: the same rule as in run/mcp_clients.py.
function nameOf(text) {
  const found = servers.filter((name) => plain(name) && plain(text).includes(plain(name)));
  const longest = found.filter((name) => !found.some((o) => plain(o) !== plain(name) && plain(o).includes(plain(name))));
  return longest.length === 1 ? longest[0] : "~" + createHash("sha256").update(text, "utf8").digest("hex").slice(0, 12);
}

const placeOf = (text) => `${stub}/mcp/${encodeURIComponent(nameOf(text))}`;

function stackHolds(pattern) {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 50;
  const { stack } = new Error();
  Error.stackTraceLimit = before;
  return pattern.test(stack);
}

function leadProcesses() {
  const spawn = childProcess.spawn;
  childProcess.spawn = function (command, ...rest) {
    if (!stackHolds(STDIO)) return spawn.call(this, command, ...rest);
    const words = Array.isArray(rest[0]) ? rest[0] : [];
    const options = (Array.isArray(rest[0]) ? rest[1] : rest[0]) || {};
    const name = nameOf([command, ...words, String(options.cwd || "")].join("\0"));
    return spawn.call(this, python, [BRIDGE, name], { ...options, env: environ, cwd: undefined, shell: false });
  };
  syncBuiltinESMExports();
}

function isJsonRpc(body) {
  if (typeof body !== "string") return false;
  try {
    return [JSON.parse(body)].flat().some((message) => message !== null && message.jsonrpc === "2.0");
  } catch {
    return false;
  }
}

function leadRequests() {
  const fetch = globalThis.fetch;
  if (typeof fetch !== "function") return;
  globalThis.fetch = function (input, init) {
    const url = String(input instanceof Request ? input.url : input);
    const method = (init?.method || "GET").toUpperCase();
    const headers = new Headers(init?.headers);
    const events = (headers.get("accept") || "").includes("text/event-stream");
    if (url.startsWith(stub) || input instanceof Request) return fetch(input, init);
    if (method === "POST" && streams.has(url) && isJsonRpc(init.body)) return posted(fetch, url, init.body);
    if (method === "GET" && events && stackHolds(SSE)) return Promise.resolve(eventStream(url));
    const bound = headers.has("mcp-session-id") || headers.has("mcp-protocol-version");
    if ((method === "POST" && events && isJsonRpc(init.body)) || (method !== "POST" && bound)) return fetch(placeOf(url), init);
    return fetch(input, init);
  };
}

function eventStream(url) {
  const encoder = new TextEncoder();
  const endpoint = new URL(`/otelreplay-mcp/${opened++}`, url);
  const body = new ReadableStream({
    start(controller) {
      const say = (event, data) => controller.enqueue(encoder.encode(`event: ${event}\ndata: ${data}\n\n`));
      streams.set(endpoint.href, { say, place: placeOf(url) });
      say("endpoint", endpoint.pathname);
    },
    cancel() {
      streams.delete(endpoint.href);
    },
  });
  const response = new Response(body, { status: 200, headers: { "content-type": "text/event-stream" } });
  Object.defineProperty(response, "url", { value: url });
  return response;
}

async function posted(fetch, url, body) {
  const { say, place } = streams.get(url);
  const headers = { "content-type": "application/json" };
  const answer = await (await fetch(place, { method: "POST", body, headers })).text();
  if (answer) say("message", answer);
  return new Response(null, { status: 202 });
}

if (stub) {
  leadProcesses();
  leadRequests();
}
