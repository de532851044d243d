"""Keys that know their hash say the one that anybody would find."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay import canonical
from otelreplay.cassette.forms import hash_of
from otelreplay.matching import StampedKeys, request_hash


@given(st.dictionaries(st.text(max_size=8), st.text("0123456789abcdef", max_size=8), max_size=5))
@settings(max_examples=100)
def test_stamped_keys_know_the_hash_that_is_found_without_them(keys: dict[str, str]) -> None:
    stamped = StampedKeys(keys)
    assert stamped == keys
    assert stamped.whole == (request_hash(keys) if keys else None)
    assert hash_of(stamped) == hash_of(dict(keys)) == canonical.digest_value(keys)
