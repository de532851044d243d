"""What people ran into with other redactors, each as a test."""

import json

import pytest

from otelreplay.redaction import find_placeholders
from otelreplay.spans import Link, LogRecord, Resource, Scope, Span, SpanEvent
from tests.redaction.samples import CARD, EMAIL, PASSWORD, SECRETS, redactor, rules

TOKEN = SECRETS["github"]


def span(**fields):
    return Span(trace_id="a" * 32, span_id="b" * 16, **fields)


def attributes(**given):
    return redactor().span(span(attributes=given)).attributes


def test_d1_arrays_maps_numbers_and_json_in_strings_are_walked():
    """Not only plain strings: structure stays, the secret goes."""
    held = attributes(
        array=["a", TOKEN, "b"], map={"deep": {"x": [TOKEN, 1]}}, text=json.dumps({"k": json.dumps([TOKEN])}), number=int(CARD)
    )
    assert TOKEN not in str(held)
    assert CARD not in str(held)
    assert held["array"][::2] == ["a", "b"]
    assert len(held["array"]) == 3
    assert held["map"]["deep"]["x"][1] == 1
    assert json.loads(json.loads(held["text"])["k"]) == ["[REDACTED:secret]"]
    assert find_placeholders(held["number"])[0].rule == "card"


def test_d2_error_text_and_traceback_lose_the_authorization_header():
    text = f"401 for url, headers {{'Authorization': 'Bearer {PASSWORD}abcdefgh'}}"
    trace = f'File "a.py", line 3, in call\n    raise HTTPError(headers)\nHTTPError: {text}'
    event = SpanEvent(name="exception", attributes={"exception.message": text, "exception.stacktrace": trace})
    done = redactor().span(span(status_code=2, status_message=text, events=(event,)))
    assert PASSWORD not in str(done)
    assert 'File "a.py", line 3, in call' in done.events[0].attributes["exception.stacktrace"]
    assert done.status_message.startswith("401 for url, headers {'Authorization': 'Bearer [REDACTED:secret]")


@pytest.mark.parametrize("place", ["name", "event", "event name", "link", "link state", "resource", "scope", "state", "key"])
def test_d3_events_links_names_resource_and_scope_are_scanned(place):
    held = {
        "name": {"name": f"call {TOKEN}"},
        "event": {"events": (SpanEvent(name="exception", attributes={"exception.message": TOKEN}),)},
        "event name": {"events": (SpanEvent(name=TOKEN),)},
        "link": {"links": (Link(attributes={"a": TOKEN}),)},
        "link state": {"links": (Link(trace_state=f"v={TOKEN}"),)},
        "resource": {"resource": Resource(attributes={"a": TOKEN})},
        "scope": {"scope": Scope(name="x", version=TOKEN, attributes={"b": TOKEN})},
        "state": {"trace_state": f"v={TOKEN}"},
        "key": {"attributes": {TOKEN: 1}},
    }[place]
    done = redactor().span(span(**held))
    assert TOKEN not in str(done)
    assert "[REDACTED:secret]" in str(done)


def test_d4_a_span_of_any_instrumentation_is_redacted():
    ready = redactor()
    for scope in ("otelreplay", "some.other.library", ""):
        assert TOKEN not in str(ready.span(span(scope=Scope(name=scope), attributes={"x": TOKEN})))


def test_d5_a_copy_under_another_attribute_is_redacted_too():
    rule = rules("id: who, path: request.arguments.customer, action: drop")
    call = json.dumps({"customer": "Ada Lovelace", "n": 1})
    messages = json.dumps(
        [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": json.loads(call)}]}]
    )
    held = {"gen_ai.tool.call.arguments": call, "input.value": call, "gen_ai.output.messages": messages}
    done = redactor(rule).span(span(attributes=held))
    assert "Ada" not in str(done)
    assert json.loads(done.attributes["gen_ai.tool.call.arguments"]) == {"n": 1}


def test_d6_a_secret_in_a_resource_attribute_is_gone_from_every_span_that_shares_it():
    ready, resource = redactor(), Resource(attributes={"host.env": f"API_TOKEN={TOKEN}"})
    done = [ready.span(span(resource=resource)) for _ in range(3)]
    assert TOKEN not in str(done)
    assert done[0].resource is done[2].resource


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"api_key": "%s"}', '{"api_key": "[REDACTED:secret]"}'),
        ("{'api_key': '%s'}", "{'api_key': '[REDACTED:secret]'}"),
        ("api_key=%s", "api_key=[REDACTED:secret]"),
        ("export API_KEY=%s", "export API_KEY=[REDACTED:secret]"),
        ("api_key: %s\nretries: 3", "api_key: [REDACTED:secret]\nretries: 3"),
        ("X-Api-Key: %s\r\nAccept: */*", "X-Api-Key: [REDACTED:secret]\r\nAccept: */*"),
        ("<api_key>%s</api_key>", "<api_key>[REDACTED:secret]</api_key>"),
        ('{\\"api_key\\": \\"%s\\"}', '{\\"api_key\\": \\"[REDACTED:secret]\\"}'),
    ],
)
def test_d7_the_value_of_a_quoted_key_is_masked_and_the_key_kept(before, after):
    assert redactor().text(before % "zk81Lq0aPw3Vt7Xn") == after


def test_d8_only_secret_parts_of_a_url_are_replaced():
    url = "https://bob:hunter2x@api.example.com/v1?sig=abc123def456&q=1&limit=10#top"
    done = redactor().text(url)
    assert done == "https://bob:[REDACTED:secret]@api.example.com/v1?sig=[REDACTED:secret]&q=1&limit=10#top"


def test_d9_token_counts_stay_numbers():
    counts = {
        "input_tokens": 25,
        "max_tokens": 2048,
        "total_token_count": 7,
        "gen_ai.usage.output_tokens": 120,
        "token_limit": "4096",
    }
    assert attributes(**counts, access_token="zk81Lq0aPw3Vt7Xn") == {**counts, "access_token": "[REDACTED:secret]"}
    text = "input_tokens: 25, max_tokens=2048, access_token: zk81Lq0aPw3Vt7Xn"
    assert redactor().text(text) == "input_tokens: 25, max_tokens=2048, access_token: [REDACTED:secret]"


def test_d10_ordinary_words_wipe_nothing():
    text = "Bake the cookies; the session on the token economy kept a secret.\nfor x in y:\n    if x: continue;\n    pass\n"
    assert attributes(prompt=text) == {"prompt": text}
    mixed = f"Here: {TOKEN}, and the cookies are done; continue;"
    assert attributes(prompt=mixed) == {"prompt": "Here: [REDACTED:secret], and the cookies are done; continue;"}


@pytest.mark.parametrize(
    "text",
    [
        "0431e543-c6ee-485b-bb77-332da9080b89",
        "9ac73818a528f9f1a3f1067bc358e549",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "2026-11-30T10:15:00.123456Z",
        "1796063514",
        "1790000000000000000",
        "ConversationSummaryBufferMemoryFactoryBuilder",
        "handle_secret_rotation_completed_event_68",
        "call_DgKARp7a7IhJPDczfifMp6Ra",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ],
)
def test_d11_ids_digests_times_and_long_names_stay(text):
    for shown in (text, f"the id is {text}.", json.dumps({"id": text, "key": text})):
        assert redactor().text(shown) == shown


def test_d12_list_items_stay_apart_and_their_number_stays():
    held = attributes(
        emails=["ada@example.org", "bob@example.org"], text=json.dumps({"emails": ["ada@example.org", "bob@example.org"]})
    )
    first, second = held["emails"]
    assert first != second
    assert first.endswith("@email.invalid")
    assert second.endswith("@email.invalid")
    assert json.loads(held["text"]) == {"emails": [first, second]}


def test_d13_texts_of_reports_pass_the_same_policy():
    ready = redactor()
    held = ready.span(span(attributes={"gen_ai.tool.call.arguments": json.dumps({"to": EMAIL})}))
    pseudonym = json.loads(held.attributes["gen_ai.tool.call.arguments"])["to"]
    assert ready.text(f"expected {EMAIL}, token {TOKEN}") == f"expected {pseudonym}, token [REDACTED:secret]"


def test_d14_a_half_masked_key_is_masked_by_its_shape():
    assert (
        redactor().text("Incorrect API key provided: " + "sk-" + "ab12***yz9Q.")
        == "Incorrect API key provided: [REDACTED:secret]."
    )


def test_d15_what_the_program_holds_is_not_changed():
    """Redaction returns new values; the ones given stay as they were."""
    inner = {"a": [TOKEN]}
    given = span(attributes={"x": inner, "y": TOKEN}, resource=Resource(attributes={"z": TOKEN}))
    done = redactor().span(given)
    assert done is not given
    assert inner == {"a": [TOKEN]}
    assert given.attributes == {"x": {"a": [TOKEN]}, "y": TOKEN}
    assert given.resource.attributes == {"z": TOKEN}


def test_log_records_are_walked_like_spans():
    record = LogRecord(body={"content": TOKEN}, attributes={"a": TOKEN}, event_name=f"e {TOKEN}", severity_text=TOKEN)
    assert TOKEN not in str(redactor().log(record))
