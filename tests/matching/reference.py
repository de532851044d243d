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


def turns(messages):
    found = []
    for message in messages:
        role = "system" if message["role"] == "developer" else message["role"]
        own = {"role": role} | ({} if message.get("name") is None else {"name": message["name"]})
        for one in message["parts"] or [None]:
            speaker = {"role": "tool"} if one and one["type"] == "tool_call_response" else own
            if not found or found[-1][0] != speaker:
                found.append((speaker, []))
            if one:
                found[-1][1].append(one)
    return found


def turn_digest(speaker, given):
    calls = [one for one in given if one["type"] == "tool_call"]
    digests, text = [], ""
    for one in [*map(part, [one for one in given if one["type"] != "tool_call"] + calls), None]:
        if one and one["type"] == "text":
            text += one["content"]
            continue
        if text:
            digests.append(sha(b"\0" + text.encode()))
            text = ""
        if one:
            digests.append(sha(rfc8785.dumps(one)))
    return sha(sha(rfc8785.dumps(speaker)) + b"".join(digests))


def list_digest(messages):
    chain, given, waiting = sha(b"otelreplay messages 1"), [], []
    for speaker, said in turns(messages):
        ordinals = []
        for one in said:
            name = one.get("id") or None
            if one["type"] == "tool_call":
                ordinals.append(len(given))
                waiting.append(len(given))
                given.append(name)
            if one["type"] != "tool_call_response":
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
        chain = sha(chain + turn_digest(speaker, said) + ",".join(map(str, ordinals)).encode())
    return "sha256:" + chain.hex()
