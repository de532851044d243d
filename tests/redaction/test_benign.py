"""What must come through byte for byte."""

import json

import pytest

from otelreplay.spans import Span
from tests.redaction.samples import redactor

READY = redactor()
TEXTS = """
The answer is amber and the run id was 708fec13-94f8-440e-9a2f-2c6b6bee5207; used 627 tokens.
I forgot my password, can you help?
The secret ingredient is cinnamon.
password: must be at least 8 characters
password=[redacted]
password: ********
export ANTHROPIC_API_KEY=YOUR_API_KEY_HERE
api_key = os.environ["KEY"]
Authorization: Bearer {{ access_token }}
Authorization: Bearer $API_KEY
Authorization: Bearer <token>
headers = {"Authorization": f"Bearer {token}"}
Set-Cookie: lang=en; Path=/
git@github.com:org/repo.git
https://user@example.org/path
https://example.com:8080/@scope/package
postgresql://user:${DB_PASSWORD}@host/db
postgresql://localhost:5432/orders
next_page_token: null
csrf_token is missing from the form
tokens_per_second: 118.42
max_tokens=2048
"bucket_key": "SalesResults-1.2"
"integrity": "sha512-IWLmKMwxsZNipsZ9pKQ9m72j/wKr3YfoJu4t9o/Igl/BeP2mOKj96my9Mj93xc1JoUne9kZUF+JuIvbCwZi99g=="
kind: Secret
valueFrom: {secretKeyRef: {name: openai, key: api-key}}
TypeError: Client.__init__() got an unexpected keyword argument 'api_key'
private key file not found: /etc/ssl/private/key.pem
-----BEGIN CERTIFICATE REQUEST-----
arn:aws:iam::123456789012:role/OrderDeskRole
ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519
order 6304080180 shipped
tracking number 6759-6222-8597-6416
batch 2221921134102631 done
build NO11 5457 1141 683 ok
listening on 127.0.0.1:4318
(1) 2 3 4 5 6 7 8 9
page 123-45
08:15:30 elapsed
invoice INV-2026-000123
decorators such as @retry(stop=3)
std::vector<int>
openai.AuthenticationError: Error code: 401
https://api.example.com/v1/x?id=hello%20from%20the%20order%20desk&page=2
payload: Z3B0LTRvLTIwMjQtMDgtMDYgZ3Jhbml0ZSBsb3JlbSBpcHN1bQo=
SG.10 is the postcode prefix
AKIA is the prefix of access key ids
eyJ is how base64 JSON starts
traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
pplx-embed-small and gpt-4o-2024-08-06 and claude-sonnet-4-5-20250929
for key, value in cookies.items(): session[key] = value; continue;
Bake the cookies, then start the session. Token economies are a secret to nobody.
""".strip().splitlines()
VALUES = [
    {
        "type": "function",
        "function": {"name": "login", "parameters": {"properties": {"password": {"type": "string"}}, "required": ["password"]}},
    },
    {"model": "gpt-5", "usage": {"prompt_tokens": 1200, "completion_tokens": 80, "total_tokens": 1280}, "created": 1796063514},
    {"id": "chatcmpl-9f3c1a7be204d85f6c1e0b9a", "system_fingerprint": "fp_44709d6fcb", "object": "chat.completion"},
    [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "call_DgKARp7a7IhJPDczfifMp6Ra", "name": "f", "arguments": {"n": 3}}],
        }
    ],
    {"logprobs": {"content": [{"token": "Hello", "logprob": -0.31}, {"token": " there", "logprob": -1.2}]}},
    {"prompt_cache_key": "a-b-c-19af83bc220194", "public_key": "pk-lf-e2080f6d-1ccd-46a0-b8b2-28db9001017b"},
    {"start": 1790000000000000000, "ratio": 0.5, "big": 123456789012345678901234567890, "sku": "6759468003631083"},
    {
        "session.id": "0cff2691-3a45-4988-a243-8cb8c508aa25",
        "thread_id": "thread-42",
        "trace": "8e419d3288419b5d9442b2a1c3d4e5f6",
    },
]


@pytest.mark.parametrize("text", TEXTS)
def test_an_ordinary_text_stays_byte_for_byte(text):
    for form in (text, json.dumps({"text": text}), json.dumps([json.dumps({"a": text})]), f"He said:\n{text}\nand left."):
        assert READY.text(form) is form


@pytest.mark.parametrize("value", VALUES, ids=lambda v: str(v)[:24])
def test_an_ordinary_value_is_the_same_object(value):
    assert READY.value(value) is value
    span = Span(trace_id="a", span_id="b", attributes={"a": value, "b": json.dumps(value)})
    assert READY.span(span) is span
