"""One family after the other: what is found, and what only looks like it."""

import json

import pytest

from otelreplay.redaction.detectors import BY_NAME
from otelreplay.redaction.detectors.checksums import base58check, codice_fiscale, luhn, mod97
from otelreplay.redaction.detectors.pii import is_card, is_iban
from tests.redaction.samples import B62, HEX, IBAN, SECRETS, redactor

READY = redactor()
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(B62[:60] for _ in range(3)) + "\n-----END RSA PRIVATE KEY-----"


def found(name, text):
    return list(dict.fromkeys(text[s:e] for s, e in BY_NAME[name].find(text)))


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("around", ["%s", "key %s.", '"%s"', "(%s)", "a\n%s\nb", "x=%s&y=1", "\\n%s\\n", "\x1b[94m%s\x1b[0m"])
def test_a_credential_is_cut_out_exactly(name, around):
    assert READY.text(around % SECRETS[name]) == around % "[REDACTED:secret]"


def test_a_private_key_keeps_its_markers():
    assert (
        READY.text(f"key:\n{PEM}\nend")
        == "key:\n-----BEGIN RSA PRIVATE KEY-----\n[REDACTED:secret]\n-----END RSA PRIVATE KEY-----\nend"
    )
    assert B62[:60] not in READY.text(json.dumps({"private_key": PEM}))
    assert B62[:20] not in READY.text(PEM[:80])
    assert B62[:20] not in READY.text(f"Private-Lines: 2\n{B62[:60]}\n{B62[:60]}\n")
    assert READY.text("-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----").count("...") == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("password=Qv7#mK2!rT9x", "Qv7#mK2!rT9x"),
        ('password = "nectar falcon onyx"', "nectar falcon onyx"),
        ("My password is Juniper#310, thanks", "Juniper#310"),
        ("the wifi passphrase is xenon-falcon-maple-raven", "xenon-falcon-maple-raven"),
        ("set OPENAI_API_KEY to `q7RtXv2LmZp9KcWd` in the dashboard", "q7RtXv2LmZp9KcWd"),
        ("tool --api-key q7RtXv2LmZp9KcWd --verbose", "q7RtXv2LmZp9KcWd"),
        ("#define TOKEN q7RtXv2LmZp9KcWd", "q7RtXv2LmZp9KcWd"),
        ("my access key: q7RtXv2LmZp9", "q7RtXv2LmZp9"),
        ("tls:\n  secret: |\n    line one of it\n    line two\n", "    line one of it\n    line two\n"),
        ("token = 'q7RtXv2LmZp9KcWd4HsY", "q7RtXv2LmZp9KcWd4HsY"),
        ("login(user='amy', password='XJdFDYbHBD')", "XJdFDYbHBD"),
        ("connect(pw:IhqSb1Gg)", "IhqSb1Gg"),
        ("twilio_auth_token=" + HEX[:32], HEX[:32]),
        ('asana_token: "3020946286985216"', "3020946286985216"),
        ("secret_file_path = '/" + B62[:40] + "'", "/" + B62[:40]),
    ],
)
def test_a_key_and_its_value_in_every_notation(text, value):
    assert found("key_value", text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "password: ${PASSWORD}",
        "password=<your password>",
        'password = ""',
        "password = get_password()",
        "secret = settings.SECRET",
        "the token is invalid",
        "the key to success",
        "my password is correct",
        "token: null",
        "session: 0cff2691-3a45-4988-a243-8cb8c508aa25",
        "key: 9ac73818a528f9f1a3f1067bc358e549",
        "--token --verbose",
        "password: [hidden]",
        "key_size=2048",
        "token_count: 17",
        "keyboard: qwerty",
        'cache_key = "q7RtXv2LmZp9KcWd4HsY"',
        "secret_handler_function = build_the_secret_handler_function",
        "pass",
        "x->key",
        "auth: basic",
    ],
)
def test_a_key_without_a_secret(text):
    assert found("key_value", text) == []


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("command_password", "curl -u elastic:P@ssw0rd$1 https://localhost", "P@ssw0rd$1"),
        ("command_password", "sshpass -p 'fHub9BqC@O' ssh ops@host", "fHub9BqC@O"),
        ("command_password", "mysql -u root -p3mb3rDelta99$ orders", "3mb3rDelta99$"),
        ("command_password", "sqlcmd -S h -U sa -P 'indigoRaven8$'", "indigoRaven8$"),
        ("command_password", "CREATE USER x IDENTIFIED BY 'SqLpa5sW0rD';", "SqLpa5sW0rD"),
        ("compared_secret", 'if ("n3ct4rMaple96$" != passwd) {', "n3ct4rMaple96$"),
        ("xml_value", "<a><dbPassword>Qv7#mK2!rT9x</dbPassword></a>", "Qv7#mK2!rT9x"),
        ("cookie", "Cookie: PHPSESSID=q7rtxv2lmzp9; lang=en", "q7rtxv2lmzp9"),
        ("cookie", "curl -b 'connect.sid=q7rtxv2lmzp9' https://x", "q7rtxv2lmzp9"),
        ("basic_auth", "Authorization: Basic c3ZjOnR1bmRyNExhZ29vbjc1JA==", "c3ZjOnR1bmRyNExhZ29vbjc1JA=="),
        ("bearer_token", "Authorization: token 12c46dcf-da56-4a37-b1ee-724ffc79e12e", "12c46dcf-da56-4a37-b1ee-724ffc79e12e"),
        ("url_password", "postgresql://app:h0Loi%23D@db.internal:5432/orders", "h0Loi%23D"),
        ("url_token", "https://q7RtXv2LmZp9KcWd4HsYb6Nf@api.example.com/x", "q7RtXv2LmZp9KcWd4HsYb6Nf"),
        ("signed_query", "https://s3/x?X-Amz-Signature=86c4f0aa12&X-Amz-Date=20261130T101500Z", "86c4f0aa12"),
        ("path_token", "https://www.example.com/reset/OTI2KvX3McK6ATQ2Mk1SIzBD", "OTI2KvX3McK6ATQ2Mk1SIzBD"),
        ("jwk_key", '{"kty":"oct","k":"WrMwEzzZjXCeFG0nOzMRHU1a"}', "WrMwEzzZjXCeFG0nOzMRHU1a"),
        ("mysql_password_hash", "AS '*92FD05ADCA2EC9D1E10C096DEB1618BC2470E409'", "*92FD05ADCA2EC9D1E10C096DEB1618BC2470E409"),
        ("phone", "call me at 0121 496 0123.", "0121 496 0123"),
        ("phone", "reach us: (415) 555-2671!", "(415) 555-2671"),
        ("phone", "+49 1512 3417456 office", "+49 1512 3417456"),
        ("phone", "0121 235 7406 mobile", "0121 235 7406"),
        ("national_id", "customer TFN number 346026129 verified", "346026129"),
        ("national_id", "passport number E09005022", "E09005022"),
        ("national_id", "ID: 9803134575107", "9803134575107"),
        ("national_id", "il codice RSSMRA85T10A562S qui", "RSSMRA85T10A562S"),
        ("national_id", "national_id: XUQPE8475P", "XUQPE8475P"),
        ("birth_date", "she was born on 27.10.1998 there", "27.10.1998"),
        ("coordinates", "lat/lon 33.266509, 87.450237", "33.266509, 87.450237"),
        ("crypto_wallet", "send to 1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"),
        ("iban", "Wire it to GB82 WEST 1234 5698 7654 32.", "GB82 WEST 1234 5698 7654 32"),
        ("credit_card", "card 3782-822463-10005 lost", "3782-822463-10005"),
        ("email", "mail ada@example.org:", "ada@example.org"),
    ],
)
def test_each_detector_cuts_out_its_value(name, text, value):
    assert found(name, text) == [value]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("credit_card", "card 4111 1111 1111 1112"),
        ("credit_card", "1111111111111111"),
        ("iban", "GB82 WEST 1234 5698 7654 33"),
        ("iban", "GB82 WEST 1234 5698"),
        ("crypto_wallet", "1BoatSLRHtKNngkdXEeobR76b53LETtpyX"),
        ("phone", "order 0121 496 0123"),
        ("phone", "call me on 2026-11-30"),
        ("phone", "on 30.11.2026"),
        ("phone", "(415 555-2671"),
        ("national_id", "order ID: 9803134575107"),
        ("national_id", "ID: 9803134575108"),
        ("national_id", "RSSMRA85T10A562X"),
        ("national_id", "RFC 2822"),
        ("email", "user@localhost"),
        ("email", "a..b@example.org"),
        ("email", "icon@2x.png"),
        ("email", "x@aaaa.invalid"),
        ("bearer_token", "bearer of good news"),
        ("basic_auth", "basic understanding"),
        ("basic_auth", "basic !!!"),
        ("url_password", "http://localhost:8080/a@b"),
        ("signed_query", "https://x/?key=value&token=abc"),
        ("cookie", "cookie: lang=en; a=<none>"),
        ("compared_secret", '"a" == token'),
        ("command_password", "mysql -u root -pword"),
        ("jwt", "eyJhbGciOiJIUzI1NiJ9"),
        ("mailgun_key", "key-9f3c"),
    ],
)
def test_near_misses_are_left_alone(name, text):
    assert found(name, text) == []


def test_checksums():
    assert luhn("79927398713")
    assert not luhn("79927398710")
    assert mod97(IBAN)
    assert not mod97("GB82WEST1234569876543!")
    assert is_iban(IBAN)
    assert not is_iban(IBAN + "0")
    assert is_card("378282246310005")
    assert not is_card("0000000000000000")
    assert codice_fiscale("RSSMRA85T10A562S")
    assert base58check("1BoatSLRHtKNngkdXEeobR76b53LETtpyT")
    assert not base58check("1Boat0")
    assert not base58check("z" * 40)


def test_urls_lose_only_their_secret_parts_in_json_with_escaped_slashes():
    text = '{"u": "https:\\/\\/bob:hunter2x@db.example.com\\/x"}'
    assert READY.text(text) == '{"u": "https://bob:[REDACTED:secret]@db.example.com/x"}'


def test_server_sent_events_in_one_text_are_judged_joined():
    token = SECRETS["github"]
    lines = [json.dumps({"delta": token[n : n + 9]}) for n in range(0, len(token), 9)]
    text = "".join(f"data: {line}\n\n" for line in lines) + "data: [DONE]\n\n"
    done = READY.text(text)
    assert done.startswith('data: {"delta": "[REDACTED:secret]"}\n\ndata: {"delta": ""}\n\n')
    assert done.endswith("data: [DONE]\n\n")
    assert READY.text(done) == done


def test_a_dirty_history_that_grows_is_redacted_alike_each_time():
    """A list that continues a known one is not read again, and comes out as if it were."""
    members, ready = [], redactor()
    for n in range(12):
        content = f"turn {n}: é " + (SECRETS["github"] if n % 3 == 0 else "nothing new here") + " x" * 60
        members.append({"role": "user", "parts": [{"type": "text", "content": content}]})
        text = json.dumps(members, ensure_ascii=n % 2 == 0)
        done = ready.text(text)
        assert SECRETS["github"] not in done
        assert done == text.replace(SECRETS["github"], "[REDACTED:secret]")
        assert ready.text(text) == done
        assert ready.text(text + " ") == done + " "


@pytest.mark.parametrize(
    "text", ['[{"a": "%s"}]', '[{"role": "x", "c": "%s"}, {"b": 1}]', '[{"role": "x", "c": "%s"}', "[{role: %s}]"]
)
def test_lists_that_are_no_messages_are_read_as_json_or_text(text):
    text = text % (SECRETS["github"] + " " + "y" * 600)
    assert READY.text(text) == text.replace(SECRETS["github"], "[REDACTED:secret]")


def test_the_memory_is_bounded_and_forgets_the_oldest():
    from otelreplay.redaction.memory import Memory

    memory = Memory(entries=3, characters=1000)
    for n in range(20):
        memory.put(f"k{n}", n)
    assert memory.get("k19") == 19
    assert memory.get("k0") is None
    assert len(memory.young) <= 3
    memory.put("x" * 500, 1)
    assert memory.get("x" * 500) is None
    assert [memory.get(f"k{n}") for n in (16, 17, 18, 19)].count(None) < 4


@pytest.mark.parametrize(
    "text",
    [
        "a" * 50_000,
        "ey" * 30_000,
        "1 " * 30_000,
        "sk-" * 20_000,
        '"' * 50_000,
        "\\" * 50_000,
        "%41" * 20_000,
        "{" * 50_000,
        "[{" * 30_000,
        '{"a":' * 20_000,
        "a@b." * 20_000,
        "http://a:b" * 10_000,
        "cookie: a=b;" * 5_000,
        "key=" * 8_000,
        "<a>" * 20_000,
        "<token x " * 8_000,
        "-----BEGIN PRIVATE KEY-----" * 2_000,
        "QUJD" * 20_000,
        "a" * 30_000 + "://x:y@z",
        "curl " * 10_000,
        "'x' == " * 8_000,
        "GB82 " * 10_000,
    ],
    ids=lambda t: t[:12],
)
def test_hostile_text_is_read_in_bounded_time(text):
    """No search goes back over the same text again and again: the sizes here would take minutes if one did."""
    import time

    start = time.process_time()
    READY.text(text)
    assert time.process_time() - start < 10


def test_members_that_are_alike_or_quoted_in_another_are_each_redacted_where_they_stand():
    member = {"role": "user", "content": SECRETS["github"] + " x" * 200}
    clean = {"role": "user", "content": "fine"}
    text = json.dumps([clean, member, clean, member, {"role": "tool", "content": [member, clean]}, member])
    assert redactor().text(text) == text.replace(SECRETS["github"], "[REDACTED:secret]")
