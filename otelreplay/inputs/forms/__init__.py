"""The forms a trace file can have. To add one: write a module with a ``Form``, and put it into ``FORMS`` before ``FOREIGN``."""

from __future__ import annotations

from otelreplay.inputs.forms.base import Form, Head, Reading
from otelreplay.inputs.forms.foreign import FOREIGN
from otelreplay.inputs.forms.json_document import JSON_DOCUMENT
from otelreplay.inputs.forms.json_lines import JSON_LINES
from otelreplay.inputs.forms.protobuf import PROTOBUF, PROTOBUF_FIXED, PROTOBUF_VARINT

__all__ = ["FORMS", "Form", "Head", "Reading"]

FORMS: tuple[Form, ...] = (PROTOBUF, PROTOBUF_FIXED, PROTOBUF_VARINT, *FOREIGN, JSON_LINES, JSON_DOCUMENT)
"""In the order in which they are asked; the first that knows the content reads it."""
