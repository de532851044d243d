"""A policy says what it means, or is refused with the place and what would be allowed."""

import pytest

from otelreplay.errors import PolicyError
from otelreplay.redaction import PseudonymKey, check, compile_policy, default_policy, load_policy, off_policy
from otelreplay.redaction.detectors import ALL, BY_NAME, GROUPS
from otelreplay.spans import Span
from tests.redaction.samples import KEY, redactor, rules

FULL = """\
version: 1
name: shop
tenant: acme
rules:
  - id: order-phone
    path: request.arguments.order_phone
    action: keep
  - id: notes
    attribute: app.notes.*
    action: truncate
    keep: 10
    note: long and of no use
  - id: who
    path: request.arguments.customer
    action: drop
  - id: api
    secret: env:API_KEY
    action: mask
  - id: literal
    secret: hunter2hunter2
    action: mask
  - id: secrets
    detectors: [secrets, email]
    action: mask
"""


def test_a_full_policy_is_read():
    policy = load_policy(FULL, "p.yaml")
    assert [r.id for r in policy.rules] == ["order-phone", "notes", "who", "api", "literal", "secrets"]
    assert policy.tenant == "acme"
    assert not policy.needs_key()


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("version: 1\nname: x\nrulez: []\n", "rulez", 3),
        (
            "version: 1\nname: x\nrules:\n  - id: a\n    detector: email\n    action: mask\n    colour: red\n",
            "allowed fields: id, path",
            7,
        ),
        ("version: 2\nname: x\n", "version", 1),
        ("version: 1\nname: x\nrules:\n  - id: a\n    detector: nope\n    action: mask\n", "allowed: all, secrets, pii", 4),
        (
            "version: 1\nname: x\nrules:\n  - id: a\n    path: request.[x\n    action: mask\n",
            "cannot be read from character",
            5,
        ),
        ("version: 1\nname: x\nrules:\n  - id: a\n    path: foo.bar\n    action: mask\n", "must begin with one of request", 5),
        ("version: 1\nname: x\nrules:\n  - id: a\n    path: ''\n    action: mask\n", "is empty", 5),
        ("version: 1\nname: x\nrules:\n  - id: a\n    attribute: 'a[b'\n    action: mask\n", "unclosed [", 5),
        ("version: 1\nname: x\nrules:\n  - id: a\n    attribute: ' '\n    action: mask\n", "is empty", 5),
        ("version: 1\nname: x\nrules:\n  - id: a\n    action: mask\n", "exactly one of path", 4),
        (
            "version: 1\nname: x\nrules:\n  - id: a\n    path: request\n    detector: email\n    action: mask\n",
            "it has path, detector",
            4,
        ),
        ("version: 1\nname: x\nrules:\n  - id: a\n    detectors: []\n    action: mask\n", "detectors is empty", 4),
        ("version: 1\nname: x\nrules:\n  - id: a\n    detector: email\n    action: explode\n", "action", 6),
        ("version: 1\nname: x\nrules:\n  - id: A b\n    detector: email\n    action: mask\n", "1 to 64 of a-z", 4),
        ("version: 1\nname: x\nrules:\n  - id: unwalkable\n    detector: email\n    action: mask\n", "is reserved", 4),
        ("version: 1\nname: x\nrules:\n  - id: a\n    secret: abc\n    action: mask\n", "at least 4 characters", 5),
        ("version: 1\nname: x\nrules:\n  - id: a\n    detector: email\n    action: mask\n    keep: 3\n", "truncate only", 4),
        (
            "version: 1\nname: x\nrules:\n  - {id: a, detector: email, action: mask}\n"
            "  - {id: a, detector: phone, action: mask}\n",
            "twice",
            None,
        ),
    ],
)
def test_a_fault_names_file_line_field_and_what_is_allowed(text, said, line):
    with pytest.raises(PolicyError) as caught:
        load_policy(text, "shop.yaml")
    assert caught.value.code == "policy.invalid"
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"shop.yaml:{line}: " if line else "shop.yaml: ")


@pytest.mark.parametrize("text", ["- a\n- b\n", "just text", "a: [", "", "x" * (1 << 20) + "y", "a: &a [*a]\n"])
def test_what_is_no_policy_is_refused(text):
    with pytest.raises(PolicyError):
        load_policy(text, "x.yaml")


def test_an_error_never_quotes_a_registered_secret():
    text = "version: 1\nname: x\nrules:\n  - {id: a, secret: 'hunter2hunter2', action: nonsense}\n"
    with pytest.raises(PolicyError) as caught:
        load_policy(text, "x.yaml")
    assert "hunter2" not in str(caught.value)


def test_the_public_form_holds_no_registered_secret_and_names_the_detector_pack():
    public = load_policy(FULL, "p.yaml").public()
    assert "hunter2" not in str(public)
    assert "env:API_KEY" in str(public)
    assert public["detectors"]
    again = load_policy(FULL.replace("hunter2hunter2", "another secret"), "p.yaml")
    assert again.digest() == load_policy(FULL, "q.yaml").digest()
    assert again.digest() != default_policy().digest()


def test_the_shipped_policies_are_valid_and_differ():
    assert [r.id for r in default_policy().rules][:2] == ["secret", "email"]
    assert off_policy().rules == ()
    assert default_policy() is default_policy()


def test_off_changes_nothing():
    span = Span(trace_id="a", span_id="b", attributes={"password": "hunter2hunter2", "m": "ada@example.org"})
    assert compile_policy(off_policy(), key=None).span(span) is span


def test_pseudonyms_need_a_key():
    with pytest.raises(PolicyError) as caught:
        compile_policy(default_policy(), key=None)
    assert caught.value.code == "policy.key_needed"
    assert "email" in str(caught.value)


def test_a_key_that_can_be_guessed_is_refused_and_never_shown():
    with pytest.raises(ValueError, match="at least 16"):
        PseudonymKey(secret=b"short")
    assert "0123456789abcdef" not in repr(KEY)


def test_the_first_rule_for_a_detector_wins():
    text = rules("id: mail, detector: email, action: keep", "id: all, detectors: [all], action: mask")
    assert redactor(text).text("ada@example.org +44 20 7946 0958") == "ada@example.org [REDACTED:all]"


def test_a_registered_secret_is_removed_wherever_and_however_it_stands():
    import base64
    import json

    secret = 'open "sesame"\\now'
    ready = redactor(rules("id: api, secret: 'env:API', action: mask"), env={"API": secret})
    assert ready.text(f"x {secret} y") == "x [REDACTED:api] y"
    assert "sesame" not in ready.text(json.dumps({"a": json.dumps([secret])}))
    assert ready.text(base64.b64encode(f"a {secret}".encode()).decode()) == base64.b64encode(b"a [REDACTED:api]").decode()
    assert redactor(secrets=["a-b-c-d"]).text("use a-b-c-d") == "use [REDACTED:registered-secret]"


def test_a_secret_rule_whose_variable_is_not_set_is_reported():
    assert redactor(rules("id: api, secret: 'env:NOPE', action: mask")).unset == ("NOPE",)
    with pytest.raises(PolicyError) as caught:
        redactor(rules("id: api, secret: 'env:API', action: mask"), env={"API": "abc"})
    assert caught.value.code == "policy.secret_too_short"


def test_attribute_rules_compile_to_event_paths_or_are_refused():
    text = rules(
        "id: a, attribute: gen_ai.input.messages, action: mask",
        "id: b, attribute: 'gen_ai.tool.*', action: drop",
        "id: c, attribute: app.secret, action: mask",
        "id: d, attribute: app.fine, action: keep",
    )
    table = {"gen_ai.input.messages": "request.messages", "gen_ai.tool.call.arguments": "request.arguments"}
    found = check(load_policy(text, "x"), table)
    assert found.compiled == (("a", ("request.messages",)), ("b", ("request.arguments",)))
    assert [rule for rule, _ in found.refused] == ["c"]
    assert not found.ok
    assert check(default_policy(), table).ok


def test_every_detector_has_a_name_of_its_own_and_stands_in_a_group():
    assert len(BY_NAME) == len(ALL)
    assert set(GROUPS["secrets"]) | set(GROUPS["pii"]) == set(GROUPS["all"]) == set(BY_NAME)


def test_a_policy_with_aliases_is_refused_before_they_grow():
    bomb = "a: &a [x, x]\n" + "\n".join(
        f"b{n}: &b{n} [*{'a' if n == 0 else f'b{n - 1}'}, *{'a' if n == 0 else f'b{n - 1}'}]" for n in range(40)
    )
    with pytest.raises(PolicyError, match="aliases"):
        load_policy(bomb, "p.yaml")
