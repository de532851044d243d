"""Nothing that an API can express is lost between a body and the GenAI form, in either direction."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.providers import CODECS
from tests.providers.strategies import APIS, requests, responses

BRIEF = settings(max_examples=40, deadline=None)


def assumed_apart(decoded, assumed):
    """A decoded response without the extra fields that the encoder assumed."""
    extra = {k: v for k, v in decoded.get("extra", {}).items() if k not in assumed}
    return {k: v for k, v in decoded.items() if k != "extra"} | ({"extra": extra} if extra else {})


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
@BRIEF
def test_a_request_is_the_same_after_encoding_and_decoding(api, data):
    request = data.draw(requests(APIS[api]))
    assert CODECS[api].decode_request(CODECS[api].encode_request(request)) == request


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
@BRIEF
def test_a_response_is_the_same_after_encoding_and_decoding(api, data):
    response = data.draw(responses(APIS[api]))
    body, assumed = CODECS[api].encode_response(response)
    decoded = assumed_apart(CODECS[api].decode_response(body), assumed)
    assert decoded == response


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
@BRIEF
def test_a_written_request_body_is_the_same_after_decoding_and_encoding(api, data):
    body = CODECS[api].encode_request(data.draw(requests(APIS[api])))
    assert CODECS[api].encode_request(CODECS[api].decode_request(body)) == body


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
@BRIEF
def test_a_written_response_body_is_the_same_after_decoding_and_encoding(api, data):
    body, _ = CODECS[api].encode_response(data.draw(responses(APIS[api])))
    again, _ = CODECS[api].encode_response(CODECS[api].decode_response(body))
    assert again == body
