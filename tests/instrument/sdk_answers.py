"""The same answer of a model, whole and streamed, in the form of each API: text, reasoning where there is one, and a call."""

import json

ARGUMENTS = {"a": 1, "b": "x"}
TEXT = json.dumps(ARGUMENTS)

CHAT = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-x",
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "Hello there", "refusal": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": TEXT}}],
    }}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
}  # fmt: skip


def _chat(delta, **choice):
    made = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-x"}
    return made | {"choices": [{"index": 0, "delta": delta, "finish_reason": None, **choice}]}


CHAT_CHUNKS = [
    _chat({"role": "assistant", "content": "", "refusal": None}),
    _chat({"content": "Hello "}),
    _chat({"content": "there"}),
    _chat({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": ""}}]}),
    _chat({"tool_calls": [{"index": 0, "function": {"arguments": TEXT[:5]}}]}),
    _chat({"tool_calls": [{"index": 0, "function": {"arguments": TEXT[5:]}}]}),
    _chat({}, finish_reason="tool_calls"),
    _chat({}) | {"choices": [], "usage": CHAT["usage"]},
]

MESSAGE = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x",
    "stop_reason": "tool_use", "stop_sequence": None,
    "content": [
        {"type": "thinking", "thinking": "Hm, well", "signature": "c2ln"},
        {"type": "text", "text": "Hello there"},
        {"type": "tool_use", "id": "t1", "name": "look", "input": ARGUMENTS},
    ],
    "usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 2},
}  # fmt: skip


def _delta(index, kind, **fields):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def _block(index, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


MESSAGE_CHUNKS = [
    {"type": "message_start", "message": {
        **MESSAGE, "content": [], "stop_reason": None,
        "usage": {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 2},
    }},
    _block(0, type="thinking", thinking="", signature=""),
    _delta(0, "thinking_delta", thinking="Hm, "),
    _delta(0, "thinking_delta", thinking="well"),
    _delta(0, "signature_delta", signature="c2ln"),
    {"type": "content_block_stop", "index": 0},
    _block(1, type="text", text=""),
    _delta(1, "text_delta", text="Hello "),
    {"type": "ping"},
    _delta(1, "text_delta", text="there"),
    {"type": "content_block_stop", "index": 1},
    _block(2, type="tool_use", id="t1", name="look", input={}),
    _delta(2, "input_json_delta", partial_json=TEXT[:5]),
    _delta(2, "input_json_delta", partial_json=TEXT[5:]),
    {"type": "content_block_stop", "index": 2},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 4}},
    {"type": "message_stop"},
]  # fmt: skip

RESPONSE = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-x", "status": "completed",
    "output": [
        {"type": "message", "id": "m1", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": "Hello there", "annotations": []}]},
        {"type": "function_call", "id": "f1", "call_id": "c1", "name": "look", "arguments": TEXT, "status": "completed"},
    ],
    "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
}  # fmt: skip

RESPONSE_CHUNKS = [
    {"type": "response.created", "response": {**RESPONSE, "status": "in_progress", "output": [], "usage": None}},
    {"type": "response.output_item.added", "output_index": 0, "item": {**RESPONSE["output"][0], "content": []}},
    {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hello "},
    {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "there"},
    {"type": "response.output_item.done", "output_index": 0, "item": RESPONSE["output"][0]},
    {"type": "response.output_item.added", "output_index": 1, "item": {**RESPONSE["output"][1], "arguments": ""}},
    {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": TEXT},
    {"type": "response.completed", "response": RESPONSE},
]

CONTENT = {
    "responseId": "r1", "modelVersion": "gemini-x",
    "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [
        {"text": "Hm, well", "thought": True}, {"text": "Hello there"}, {"functionCall": {"name": "look", "args": ARGUMENTS}},
    ]}}],
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7},
}  # fmt: skip


def _content(*parts, **candidate):
    made = {"index": 0, "content": {"role": "model", "parts": list(parts)}, **candidate}
    return {"responseId": "r1", "modelVersion": "gemini-x", "candidates": [made]}


CONTENT_CHUNKS = [
    _content({"text": "Hm, ", "thought": True}),
    _content({"text": "well", "thought": True}, {"text": "Hello "}),
    _content({"text": "there"}),
    _content({"functionCall": {"name": "look", "args": ARGUMENTS}}, finishReason="STOP")
    | {"usageMetadata": CONTENT["usageMetadata"]},
]

ANSWERS = {
    "openai.chat_completions": (CHAT, CHAT_CHUNKS),
    "anthropic.messages": (MESSAGE, MESSAGE_CHUNKS),
    "openai.responses": (RESPONSE, RESPONSE_CHUNKS),
    "gemini.generate_content": (CONTENT, CONTENT_CHUNKS),
}
