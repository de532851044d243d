// The guard of a replay in every Node process of a run: loaded by `node --require` before the program.
//
// What would go live fails with EACCES, after the supervisor has been told, with the stack. Every way out of Node's own libraries
// leads through few functions: net.Socket.connect (tls, http, https, http2, fetch), dgram, dns, and the start of a process. What
// native addons do by themselves is not seen here; the kernel's filter sees it.
//
// Requests to a model are led to the replay instead, for clients that have the address in their code: all to the hosts of known
// providers, and a POST to the path of a model's API at any other.
"use strict";

const fs = require("fs");
const net = require("net");
const path = require("path");

const PIPE = process.env.OTELREPLAY_RUN_PIPE || "";
const STUB = process.env.OTELREPLAY_RUN_STUB || "";
const FOLDER = process.env.OTELREPLAY_RUN_FOLDER || "";
const KERNEL = process.env.OTELREPLAY_RUN_SECCOMP === "1";
const SINCE = Number(process.env.OTELREPLAY_RUN_SINCE || 0) / 1e6;
const SERVED = STUB ? new URL(STUB) : null;
const PIECE = 3800;
const FRAMES = 24;
const REPEATS = 50;
const PROVIDERS = {
  "api.openai.com": "/openai",
  "api.anthropic.com": "/anthropic",
  "generativelanguage.googleapis.com": "/gemini",
};

const MODELS = new RegExp(
  "/chat/completions$|/(?:v\\d+\\w*|openai|anthropic|deployments/[^/]+)/(?:responses|embeddings|messages)$" +
    "|/models/[^/:]+:(?:generateContent|streamGenerateContent)$",
);
const MEANT_FOR = "x-otelreplay-meant-for";

let number = 0;
const counts = new Map();

function say(message) {
  const text = JSON.stringify(message).replace(/[\u0080-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  number += 1;
  try {
    const descriptor = fs.openSync(PIPE, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
    try {
      for (let at = 0; at < (text.length || 1); at += PIECE) {
        const more = at + PIECE < text.length ? 1 : 0;
        const frame = Buffer.from(`${process.pid} ${number} ${more} ${text.slice(at, at + PIECE)}\n`, "ascii");
        for (;;) {
          try {
            fs.writeSync(descriptor, frame);
            break;
          } catch (error) {
            if (error.code !== "EAGAIN") throw error; // the pipe is full: the supervisor reads it
          }
        }
      }
    } finally {
      fs.closeSync(descriptor);
    }
  } catch {
    return false;
  }
  return true;
}

function frames() {
  const lines = String(new Error().stack).split("\n").slice(1).map((line) => line.trim().replace(/^at /, ""));
  return lines
    .filter((line) => !line.includes(__filename) && !line.includes("node:internal"))
    .slice(0, FRAMES)
    .map((line) => {
      const found = /^(?:(.*) \()?(?:file:\/\/)?(.*?):(\d+):\d+\)?$/.exec(line);
      return found ? `${found[2]}:${found[3]} in ${found[1] || "<module>"}` : line;
    });
}

function refuse(what, target) {
  const stack = frames();
  const where = stack.find((f) => !f.startsWith("node:") && !f.includes("node_modules")) || stack[0] || "";
  const key = `${what} ${target} ${where}`;
  const count = (counts.get(key) || 0) + 1;
  counts.set(key, count);
  if (count <= REPEATS && PIPE) {
    say({ type: "blocked", what, target, pid: process.pid, thread: "", where, boundary: "", stack, by: "node preload" });
  }
  const error = new Error(`otelreplay: a replay never goes live: ${what} ${target} was blocked`);
  error.code = "EACCES";
  error.errno = -13;
  error.syscall = what;
  return error;
}

// ---- sockets ----------------------------------------------------------------------------------------------------------------

function isStub(host, port) {
  return SERVED !== null && String(port) === SERVED.port && (host === SERVED.hostname || host === "localhost");
}

function unixAllowed(name) {
  if (name.startsWith("\0")) return false;
  try {
    return fs.statSync(name).ctimeMs >= SINCE; // made since the run began: the run's own
  } catch {
    return true; // it leads nowhere
  }
}

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...given) {
  let options = Array.isArray(given[0]) ? given[0][0] : given[0];
  if (typeof options !== "object" || options === null) {
    const isPath = typeof options === "string" && !/^\d+$/.test(options);
    options = isPath ? { path: options } : { port: options, host: typeof given[1] === "string" ? given[1] : "localhost" };
  }
  let target;
  if (options.path) {
    target = unixAllowed(String(options.path)) ? "" : `unix:${String(options.path).replace(/\0/g, "@")}`;
  } else {
    const host = options.host || "localhost";
    target = isStub(host, options.port) ? "" : `${host.includes(":") ? `[${host}]` : host}:${options.port}`;
  }
  if (!target) return connect.apply(this, given);
  const error = refuse("connect", target);
  this.connecting = true;
  process.nextTick(() => this.destroy(error));
  return this;
};

const dgram = require("dgram");
for (const name of ["send", "connect"]) {
  dgram.Socket.prototype[name] = function (...given) {
    const words = given.slice(name === "send" ? 1 : 0).filter((each) => typeof each !== "function" && each !== undefined);
    const named = words.length > 1 && words.length % 2 === 0; // an offset and a length may stand before port and host
    const [port, host] = named ? words.slice(-2) : [words[words.length - 1], "localhost"];
    const error = refuse(name, `${host}:${port}`);
    const done = given[given.length - 1];
    process.nextTick(() => (typeof done === "function" ? done.call(this, error) : this.emit("error", error)));
  };
}

// ---- names ------------------------------------------------------------------------------------------------------------------

const dns = require("dns");
const HARMLESS = new Set(["", "localhost", "localhost.localdomain", "ip6-localhost", "0.0.0.0", "::"]);

function harmless(name) {
  return typeof name !== "string" || HARMLESS.has(name.toLowerCase()) || net.isIP(name) !== 0;
}

function unknown(name) {
  const error = refuse("look up", String(name));
  error.code = "ENOTFOUND";
  error.syscall = "getaddrinfo";
  error.hostname = name;
  return error;
}

function guardNames(holder, promised) {
  for (const name of Object.keys(Object.getOwnPropertyDescriptors(holder))) {
    if (!/^(lookup|lookupService|resolve.*|reverse)$/.test(name) || typeof holder[name] !== "function") continue;
    const original = holder[name];
    holder[name] = function (host, ...rest) {
      if (name === "lookup" && harmless(host)) return original.call(this, host, ...rest);
      const error = unknown(host);
      if (promised) return Promise.reject(error);
      const done = rest[rest.length - 1];
      if (typeof done !== "function") throw error;
      process.nextTick(() => done(error));
      return undefined;
    };
  }
}

guardNames(dns, false);
guardNames(dns.promises, true);
guardNames(dns.Resolver.prototype, false);
guardNames(Object.getPrototypeOf(dns.Resolver.prototype), false);
guardNames(dns.promises.Resolver.prototype, true);

// ---- other processes --------------------------------------------------------------------------------------------------------

const children = require("child_process");

// Without the kernel's filter, a program is started only if it carries a guard of its own.
function carries(file, pairs) {
  if (KERNEL) return true;
  const variables = new Map((pairs || []).map((pair) => [pair.split("=", 1)[0], pair.slice(pair.indexOf("=") + 1)]));
  if (!variables.get("OTELREPLAY_RUN_PIPE")) return false;
  const name = path.basename(String(file));
  if (/^(node|nodejs)(\.exe)?$/.test(name)) return (variables.get("NODE_OPTIONS") || "").includes(path.basename(__filename));
  if (/^python[0-9.]*t?(\.exe)?$/.test(name)) return (variables.get("PYTHONPATH") || "").split(path.delimiter)[0] === FOLDER;
  return false;
}

const spawn = children.ChildProcess.prototype.spawn;
children.ChildProcess.prototype.spawn = function (options) {
  if (carries(options.file, options.envPairs)) return spawn.call(this, options);
  throw refuse("start", [options.file, ...(options.args || []).slice(1)].join(" ").slice(0, 200));
};

for (const name of ["spawnSync", "execFileSync", "execSync"]) {
  const original = children[name];
  children[name] = function (file, ...rest) {
    const options = rest.find((each) => each && typeof each === "object" && !Array.isArray(each)) || {};
    const pairs = Object.entries(options.env || process.env).map(([key, value]) => `${key}=${value}`);
    const program = name === "execSync" || options.shell ? "/bin/sh" : file;
    if (carries(program, pairs)) return original.call(this, file, ...rest);
    throw refuse("start", [file, ...(Array.isArray(rest[0]) ? rest[0] : [])].join(" ").slice(0, 200));
  };
}

// ---- providers whose address stands in the code -------------------------------------------------------------------------------

function led(text, method) {
  if (!STUB || String(text).startsWith(`${STUB}/`)) return null;
  let url;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  if (!/^https?:$/.test(url.protocol)) return null;
  let root = PROVIDERS[url.hostname];
  const post = String(method || "GET").toUpperCase() === "POST";
  if (root === undefined) {
    let bare = url.pathname;
    try {
      bare = decodeURIComponent(bare);
    } catch {
      // as it is
    }
    if (!post || !MODELS.test(bare.replace(/\/+$/, ""))) return null;
    root = "/meant";
  }
  return { url: `${STUB}${root}${url.pathname}${url.search}`, host: url.host };
}

if (typeof globalThis.fetch === "function") {
  const original = globalThis.fetch;
  const fetch = function fetch(input, init) {
    const text = typeof input === "string" ? input : input instanceof URL ? input.href : input && input.url;
    const asked = typeof input === "string" || input instanceof URL ? null : input;
    const other = led(text, (init && init.method) || (asked && asked.method));
    if (!other) return original.call(this, input, init);
    const headers = new Headers((init && init.headers) || (asked && asked.headers) || {});
    headers.set(MEANT_FOR, other.host);
    return original.call(this, asked ? new Request(other.url, asked) : other.url, { ...(init || {}), headers });
  };
  Object.defineProperty(globalThis, "fetch", { value: fetch, writable: true, configurable: true, enumerable: true });
}

const http = require("http");
const https = require("https");
const plain = http.request;

function asUrl(input, options) {
  if (typeof input === "string") return input;
  if (input instanceof URL) return input.href;
  const given = input || options || {};
  const host = given.hostname || String(given.host || "").split(":")[0];
  return `https://${host}${given.path || "/"}`;
}

function request(input, ...rest) {
  const options = rest.find((each) => each && typeof each === "object") || {};
  const own = typeof input === "string" || input instanceof URL ? options : input;
  const other = led(asUrl(input, options), own.method);
  if (!other) return null;
  const url = new URL(other.url);
  const headers = { ...(own.headers || {}) };
  for (const name of Object.keys(headers)) if (name.toLowerCase() === "host") delete headers[name];
  headers[MEANT_FOR] = other.host;
  const done = rest.find((each) => typeof each === "function");
  const places = { protocol: "http:", host: url.hostname, hostname: url.hostname, port: url.port, path: url.pathname + url.search };
  return plain.call(http, { ...own, ...places, headers, agent: undefined, servername: undefined, defaultPort: undefined }, done);
}

for (const library of [http, https]) {
  const original = library.request;
  library.request = function (...given) {
    return request(...given) || original.apply(this, given);
  };
  library.get = function (...given) {
    const made = library.request(...given);
    made.end();
    return made;
  };
}

require("./mcp.cjs"); // last: what it starts and asks for passes the guard like anything else

require("module").syncBuiltinESMExports(); // `import { connect } from "net"` sees the same
