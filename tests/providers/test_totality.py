"""Whatever a body holds, it is read without an error, nothing in it is changed, and what was read can be written again."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.providers import CODECS, codec_of, decode_message
from tests.providers.strategies import hostile

BRIEF = settings(max_examples=40, deadline=None)
DECODERS = ("decode_request", "decode_response", "decode_message", "decode_part", "decode_tool")
api = pytest.mark.parametrize("api", CODECS)
PLACES = ("messages", "input", "content", "choices", "contents", "candidates", "output", "tools", "system", "usage")
hostile_objects = hostile.map(lambda v: v if isinstance(v, dict) else dict.fromkeys(PLACES, v))


@api
@given(value=hostile)
@BRIEF
def test_no_decoder_raises_or_changes_its_input(api, value):
    before = copy.deepcopy(value)
    for name in DECODERS:
        getattr(CODECS[api], name)(value)
    decode_message(value)
    assert codec_of(value) in CODECS.values()
    assert repr(value) == repr(before)


@api
@given(body=hostile_objects)
@BRIEF
def test_any_request_body_is_the_same_when_read_again_after_writing(api, body):
    """The first reading may put a body into the usual form; from then on nothing changes."""
    codec = CODECS[api]
    decoded = codec.decode_request(codec.encode_request(codec.decode_request(body)))
    assert repr(codec.decode_request(codec.encode_request(decoded))) == repr(decoded)


@api
@given(value=hostile_objects)
@BRIEF
def test_no_encoder_raises_or_changes_its_input(api, value):
    before = copy.deepcopy(value)
    CODECS[api].encode_request(value)
    CODECS[api].encode_response(value)
    assert repr(value) == repr(before)


@api
@given(value=st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2)))
@BRIEF
def test_a_body_that_is_no_object_is_kept_whole(api, value):
    assert CODECS[api].decode_request(value) == {"extra": {"body": value}}
    assert CODECS[api].decode_response(value) == {"extra": {"body": value}}
