"""The forms a trace file can have. To add one: write a module with a ``Form``, and put it into ``FORMS`` before ``FOREIGN``."""

from __future__ import annotations

from otelreplay.inputs.forms.base import Form, Head, Reading
from otelreplay.inputs.forms.collector_zstd import COLLECTOR_ZSTD
from otelreplay.inputs.forms.foreign import FOREIGN
from otelreplay.inputs.forms.jaeger import JAEGER
from otelreplay.inputs.forms.json_document import JSON_DOCUMENT
from otelreplay.inputs.forms.json_lines import JSON_LINES
from otelreplay.inputs.forms.langfuse import LANGFUSE
from otelreplay.inputs.forms.openinference_list import OPENINFERENCE_LIST
from otelreplay.inputs.forms.protobuf import PROTOBUF, PROTOBUF_FIXED, PROTOBUF_VARINT
from otelreplay.inputs.forms.sdk_json import SDK_JSON
from otelreplay.inputs.forms.span_list import SPAN_LIST
from otelreplay.inputs.forms.wrapped import JAEGER_V3, TEMPO
from otelreplay.inputs.forms.zipkin import ZIPKIN

__all__ = ["FORMS", "Form", "Head", "Reading"]

FORMS: tuple[Form, ...] = (
    *(PROTOBUF, PROTOBUF_FIXED, PROTOBUF_VARINT, COLLECTOR_ZSTD),
    *(JAEGER, JAEGER_V3, TEMPO, LANGFUSE, ZIPKIN, OPENINFERENCE_LIST, SDK_JSON, SPAN_LIST),
    *FOREIGN,
    *(JSON_LINES, JSON_DOCUMENT),
)
"""In the order in which they are asked; the first that knows the content reads it."""
