"""One answer with everything in it that an API has a place for: each as the provider's whole body."""

import json

ARGUMENTS = json.dumps({"order": "A-17", "note": "größer"}, ensure_ascii=False, separators=(",", ":"))

_LOGPROBS = [{"token": t, "bytes": list(t.encode()), "logprob": -0.25, "top_logprobs": []} for t in ("Hel", "lo ", "there")]

CHAT = {
    "id": "chatcmpl-7", "object": "chat.completion", "created": 1790000000, "model": "gpt-x-2024", "system_fingerprint": "fp_1",
    "service_tier": "default",
    "choices": [
        {"index": 0, "finish_reason": "tool_calls", "logprobs": {"content": _LOGPROBS, "refusal": None}, "message": {
            "role": "assistant", "content": "Hello there", "refusal": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": ARGUMENTS}},
                {"id": "c2", "type": "function", "function": {"name": "wait", "arguments": "{}"}},
            ],
        }},
        {"index": 1, "finish_reason": "stop", "logprobs": None,
         "message": {"role": "assistant", "content": None, "refusal": "I cannot do that."}},
    ],
    "usage": {
        "prompt_tokens": 13, "completion_tokens": 9, "total_tokens": 22,
        "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 3, "audio_tokens": 0},
    },
}  # fmt: skip

RESPONSE = {
    "id": "resp_7", "object": "response", "created_at": 1790000000, "status": "completed", "model": "gpt-x-2024", "error": None,
    "incomplete_details": None, "instructions": "Be brief.", "max_output_tokens": 64, "metadata": {"run": "a"},
    "parallel_tool_calls": True, "temperature": 0.5, "tool_choice": "auto", "tools": [], "top_p": 1.0,
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look it up."}],
         "content": [{"type": "reasoning_text", "text": "First the order, then the rule."}]},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
            {"type": "output_text", "text": "Hello there, look", "annotations": [
                {"type": "url_citation", "start_index": 0, "end_index": 5, "title": "T", "url": "https://example.com/"},
            ]},
            {"type": "refusal", "refusal": "No more than that."},
        ]},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": ARGUMENTS, "status": "completed"},
        {"type": "custom_tool_call", "id": "ct_1", "call_id": "c2", "name": "run", "input": "print(1)\n"},
    ],
    "usage": {
        "input_tokens": 13, "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 22,
    },
}  # fmt: skip

MESSAGE = {
    "id": "msg_7", "type": "message", "role": "assistant", "model": "claude-x",
    "stop_reason": "tool_use", "stop_sequence": None,
    "content": [
        {"type": "thinking", "thinking": "Hm, well then", "signature": "c2lnbmVk"},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        {"type": "text", "text": "Hello there", "citations": [
            {"type": "char_location", "cited_text": "Hel", "document_index": 0, "document_title": "T",
             "start_char_index": 0, "end_char_index": 3, "file_id": None},
        ]},
        {"type": "text", "text": "and more"},
        {"type": "tool_use", "id": "t1", "name": "look", "input": json.loads(ARGUMENTS)},
        {"type": "tool_use", "id": "t2", "name": "wait", "input": {}},
    ],
    "usage": {"input_tokens": 13, "output_tokens": 9, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 0},
}  # fmt: skip

CONTENT = {
    "responseId": "r-7", "modelVersion": "gemini-x-001",
    "candidates": [
        {"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [
            {"text": "Let me look it up", "thought": True},
            {"text": "Hello there, look", "thoughtSignature": "c2lnbmVk"},
            {"functionCall": {"name": "look", "args": json.loads(ARGUMENTS)}},
            {"functionCall": {"id": "f2", "name": "wait", "args": {}}},
        ]}},
    ],
    "usageMetadata": {
        "promptTokenCount": 13, "candidatesTokenCount": 6, "thoughtsTokenCount": 3, "cachedContentTokenCount": 4,
        "totalTokenCount": 22,
    },
}  # fmt: skip

BODIES = {
    "openai.chat": CHAT,
    "openai.responses": RESPONSE,
    "anthropic.messages": MESSAGE,
    "gemini.generate_content": CONTENT,
}
CODEC_NAMES = {"openai.chat": "openai.chat_completions"}
