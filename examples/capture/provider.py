"""A scripted model provider on loopback: OpenAI's chat completions, as far as the support desk needs them.

Every reply is a function of the request alone: the step is the number of assistant messages with tool calls in it.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "gpt-4o-mini-2024-07-18"

# A step is a text or a list of tool calls. The first asks for two calls at once, the second for one that fails.
STEPS: list[str | list[tuple[str, dict[str, Any]]]] = [
    [("lookup_order", {"order_id": "A-1001"}), ("lookup_order", {"order_id": "A-1002"})],
    [("track_parcel", {"parcel_id": "P-77310"})],
    [("draft_refund", {"order_id": "A-1001", "amount": 4.0, "reason": "delivery is 9 days late"})],
    "Order A-1001 is 9 days late and the carrier gives no position, so I drafted a refund of the 4.00 EUR shipping fee. "
    "Order A-1002 was delivered on Monday. I will write to you at the address on the order.",
]


def reply(request: dict[str, Any]) -> dict[str, Any]:
    """The completion for a request."""
    turn = sum(1 for m in request["messages"] if m["role"] == "assistant" and m.get("tool_calls"))
    step = STEPS[turn]
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    if isinstance(step, str):
        message["content"] = step
    else:
        message["tool_calls"] = [
            {"id": f"call_{turn}_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for n, (name, arguments) in enumerate(step)
        ]
    finish = "stop" if isinstance(step, str) else "tool_calls"
    read, written = len(json.dumps(request["messages"])) // 4, len(json.dumps(step)) // 4
    return {
        "id": f"chatcmpl-desk-{turn}",
        "object": "chat.completion",
        "created": 1790000000,
        "model": MODEL,
        "system_fingerprint": "fp_scripted",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }


class Handler(BaseHTTPRequestHandler):
    """Answers POST .../chat/completions."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Silence: the capture script says what happened."""

    def do_POST(self) -> None:
        """One exchange."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps(reply(request)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def start() -> int:
    """Serve on a free port of loopback until the process ends; returns the port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return int(server.server_address[1])
