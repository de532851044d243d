"""The digest of a message list as docs/matching-keys.md describes it: from scratch, without state, with another JSON writer."""

import hashlib
import json

import rfc8785

FIELDS = {
    "text": ["content"],
    "tool_call": ["name", "arguments"],
    "tool_call_response": ["response"],
    "uri": ["modality", "mime_type", "uri"],
}


def sha(data):
    return hashlib.sha256(data).digest()


def settled(text):
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict | list) else text


def part(given):
    if given["type"] not in FIELDS:
        return {k: v for k, v in given.items() if v is not None and k != "id"}
    made = {"type": given["type"]} | {f: given[f] for f in FIELDS[given["type"]] if given.get(f) is not None}
    if made["type"] == "tool_call":
        arguments = made.get("arguments") or {}
        made["arguments"] = settled(arguments) if isinstance(arguments, str) else arguments
    return made


def canonical(parts):
    made = []
    for one in map(part, parts):
        if one["type"] == "text" and made and made[-1]["type"] == "text":
            made[-1] = {"type": "text", "content": made[-1]["content"] + one["content"]}
        elif one != {"type": "text", "content": ""}:
            made.append(one)
    return made


def entries(message):
    runs = []
    for one in message["parts"]:
        if one["type"] == "tool_call_response":
            runs.append([one])
        elif runs and runs[-1] and runs[-1][0]["type"] != "tool_call_response":
            runs[-1].append(one)
        else:
            runs.append([one])
    for run in runs or [[]]:
        if run and run[0]["type"] == "tool_call_response":
            yield {"role": "tool", "parts": canonical(run)}, run
        else:
            role = "system" if message["role"] == "developer" else message["role"]
            calls = [one for one in run if one["type"] == "tool_call"]
            named = {} if message.get("name") is None else {"name": message["name"]}
            yield {"role": role, "parts": canonical([p for p in run if p not in calls] + calls), **named}, calls


def list_digest(messages):
    chain, given, waiting = sha(b"otelreplay messages 1"), [], []
    for message in messages:
        for body, linked in entries(message):
            ordinals = []
            for one in linked:
                name = one.get("id") or None
                if one["type"] == "tool_call":
                    ordinals.append(len(given))
                    waiting.append(len(given))
                    given.append(name)
                    continue
                if name is None:
                    fits = waiting
                else:
                    fits = [n for n in waiting if given[n] == (name if name in given else None)]
                if fits:
                    ordinals.append(fits[0])
                    waiting.remove(fits[0])
                elif name is not None and name in given:
                    ordinals.append(max(n for n, other in enumerate(given) if other == name))
                else:
                    ordinals.append(len(given))
                    given.append(name)
            chain = sha(chain + sha(rfc8785.dumps(body)) + ",".join(map(str, ordinals)).encode())
    return "sha256:" + chain.hex()
