"""Items of a list are not pieces of one text only because joining them would look like something."""

import base64

import pytest

from otelreplay.canonical import dumps, loads
from otelreplay.redaction import PseudonymKey, compile_policy, default_policy

REDACTOR = compile_policy(default_policy(), key=PseudonymKey(secret=b"k" * 32))
TOKEN = "sk-" + "proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3"


@pytest.mark.parametrize(
    ("items", "private"),
    [
        (["ada@example.com", "bob", "carl"], 0),
        (["write to ada@example.com", "net", "org"], 0),
        (["call 415-555-2671", "99"], 0),
        ([TOKEN, "next", "word"], 0),
        (["0b6b6ae0-1d8a-4e0c-9d6a-0f8f6f6b7a01", "1790000000000", "ada@example.com", "7"], 2),
        (["order", "A-1", "ada@example.com", "Berlin"], 2),
    ],
)
def test_what_stands_beside_a_find_stays_byte_for_byte(items, private):
    for rows in (items, [{"value": item} for item in items], [[n, item] for n, item in enumerate(items)]):
        after = REDACTOR.value(rows, "x")
        texts = [row if isinstance(row, str) else row["value"] if isinstance(row, dict) else row[1] for row in after]
        assert items[:private] + items[private + 1 :] == texts[:private] + texts[private + 1 :]
        assert items[private] != texts[private]
        assert REDACTOR.value(after, "x") == after


def test_rows_that_differ_only_beside_a_find_are_still_two():
    one, other = REDACTOR.value([["ada@example.com", "bob"], ["ada@example.com", "joe"]], "x")
    assert one != other


def test_the_rest_of_a_token_that_was_cut_off_is_taken_out_too():
    assert TOKEN[30:] not in "".join(REDACTOR.value([TOKEN[:30], TOKEN[30:]], "x"))
    assert "lace@" not in "".join(REDACTOR.value(["ada.love", "lace@example", ".com"], "x"))


@pytest.mark.parametrize("size", range(30, 45))
def test_bytes_of_text_stay_bytes_whatever_their_length(size):
    text = dumps([b"x" * size + b" ada@example.com" + b"y" * 12]).decode()
    (after,) = loads(REDACTOR.text(text))
    assert isinstance(after, bytes)
    assert b"ada@" not in after
    assert after.startswith(b"x" * size)


def test_a_key_of_64_random_bytes_is_still_one():
    key = base64.b64encode(bytes(range(100, 228, 2))).decode()
    assert key not in REDACTOR.text(f"AccountKey {key}")


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_text_in_bytes_is_judged_in_whatever_unicode_it_is(codec):
    said = "write to jane.roe@example.com, please"
    (coded,) = loads(REDACTOR.text(dumps([said.encode(codec)]).decode()))
    for after in (coded, REDACTOR.value(said.encode(codec), "x")):
        assert after.decode(codec).startswith("write to ")
        assert after.decode(codec).endswith(".invalid, please")
        assert after.startswith(said.encode(codec)[:4])


@pytest.mark.parametrize("rest", ["-2024-01-01.txt", "--", "-7", "-"])
def test_an_address_in_the_name_of_a_file_is_found(rest):
    assert "jane" not in REDACTOR.text(f"backup of jane.roe@example.com{rest}")
    assert "jane" not in REDACTOR.text(f"/data/jane.roe@example.com{rest}/x")


@pytest.mark.parametrize("release", ["left-pad@1.2.beta-2", "actions/checkout@v4.rc-1", "pkg@10.0.next-20240101"])
def test_the_name_of_a_release_is_no_address(release):
    assert release == REDACTOR.text(release)
