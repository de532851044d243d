"""LangSmith's OpenTelemetry mode: ``langsmith.span.kind``, content in ``gen_ai.prompt`` and ``gen_ai.completion``.

Both hold LangChain's own serialisation: ``{"messages": [[…]]}`` and ``{"generations": [[{"message": …}]]}`` of a model, the
arguments and ``{"output": {a tool message}}`` of a tool. Some versions send the text as bytes. Model, usage and tools stand in
GenAI attributes and are read by their dialect. Source: what langsmith 0.4 to 0.15 write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.langchain import reply_of, request_of
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.toolio import result_of
from otelreplay.dialects.wire import json_of

KIND: Final = "langsmith.span.kind"
_KINDS: Final = {"llm": "model", "tool": "tool", "retriever": "retrieval", "embedding": "embeddings"}
_PARAMS: Final = {"langsmith.metadata.ls_max_tokens": "max_tokens", "langsmith.metadata.ls_temperature": "temperature"}
_REMEDY: Final = "unset LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS where the agent runs"


class LangSmith:
    """The singleton of this module is :data:`DIALECT`."""

    name = "langsmith"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        said = view.span.attributes.get(KIND)
        if not isinstance(said, str):
            return None
        kind = _KINDS.get(said)
        if kind is None:
            return None
        reader = _Reader(view, kind, intern, remedy=_REMEDY)
        reader.taken.add(KIND)
        getattr(reader, kind)()
        at = {"model": sc.REQUEST_MODEL, "tool": sc.TOOL_NAME}.get(kind, "")
        return reader.reading(self.name, str(reader.attributes.get(at) or view.span.name or kind))


DIALECT = LangSmith()


class _Reader(SpanReader):
    """Collects the fields of one span."""

    def body(self, attribute: str, field: str) -> Any:
        value = self.attributes.get(attribute)
        if isinstance(value, bytes):
            return json_of(value.decode("utf-8", "replace"))
        there, value = self.payload(attribute, field, is_json=True)
        return json_of(value) if there else None

    def model(self) -> None:
        asked = request_of(self.body(sc.LEGACY_PROMPT, "request.messages"), self.intern)
        if asked:
            self.taken.add(sc.LEGACY_PROMPT)
            self.fields.update(asked)
        said = reply_of(self.body(sc.LEGACY_COMPLETION, "response.messages"), self.intern)
        if said:
            self.taken.add(sc.LEGACY_COMPLETION)
            self.fields.update(said)
        sent = {name: self.attributes[a] for a, name in _PARAMS.items() if self.attributes.get(a) is not None}
        if sent:
            self.taken |= _PARAMS.keys() & self.attributes.keys()
            self.fields["request.params"] = sent

    def tool(self) -> None:
        given = self.body(sc.LEGACY_PROMPT, "request.arguments")
        if given is not None:
            self.taken.add(sc.LEGACY_PROMPT)
            self.fields["request.arguments"] = given
        got = self.body(sc.LEGACY_COMPLETION, "response.result")
        call, out = result_of(got)
        if call:
            self.fields["request.call_id"] = call
        elif isinstance(out, dict) and "output" in out:
            out = out["output"]
        if got is not None and not (self.failed and not out):
            self.taken.add(sc.LEGACY_COMPLETION)
            self.fields["response.result"] = out

    def retrieval(self) -> None:
        given, got = self.body(sc.LEGACY_PROMPT, "request.query"), self.body(sc.LEGACY_COMPLETION, "response.result")
        for attribute, field, value in (
            (sc.LEGACY_PROMPT, "request.query", given.get("query", given) if isinstance(given, dict) else given),
            (sc.LEGACY_COMPLETION, "response.result", got.get("documents", got) if isinstance(got, dict) else got),
        ):
            if value is not None:
                self.taken.add(attribute)
                self.fields[field] = value

    def embeddings(self) -> None:
        given = self.body(sc.LEGACY_PROMPT, "request.inputs")
        if given is not None:
            self.taken.add(sc.LEGACY_PROMPT)
            self.fields["request.inputs"] = given
