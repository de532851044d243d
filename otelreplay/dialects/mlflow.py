"""MLflow tracing: ``mlflow.spanType`` tells it; every attribute is JSON text, texts too.

``mlflow.spanInputs`` is the request body, or a function's arguments by name; ``mlflow.spanOutputs`` the response body, or what
it returned. Of a stream the outputs lack tool calls and say that it stopped: the chunks, one span event each, tell the whole.

Source: MLflow's documentation of tracing, and what mlflow-skinny 3 exports over OTLP.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.wire import json_of, request_fields, response_fields
from otelreplay.providers import assemble

TYPE: Final = "mlflow.spanType"
INPUTS: Final = "mlflow.spanInputs"
OUTPUTS: Final = "mlflow.spanOutputs"
_CHUNK: Final = "mlflow.chunk.item."
_KINDS: Final = {
    "LLM": "model",
    "CHAT_MODEL": "model",
    "TOOL": "tool",
    "AGENT": "agent",
    "RETRIEVER": "retrieval",
    "EMBEDDING": "embeddings",
}
_REMEDY: Final = "record inputs and outputs: no span processor of MLflow may remove them where the agent runs"


class MLflow:
    """The singleton of this module is :data:`DIALECT`."""

    name = "mlflow"
    attribute_fields: Mapping[str, str] = {"mlflow.llm.model": "response.model", "mlflow.chat.tools": "request.tools"}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        said = json_of(view.span.attributes.get(TYPE))
        kind = _KINDS.get(said) if isinstance(said, str) else None
        if kind is None:
            return None
        reader = _Reader(view, kind, intern, remedy=_REMEDY)
        reader.taken.add(TYPE)
        getattr(reader, kind)()
        function = json_of(view.span.attributes.get("mlflow.spanFunctionName")) if kind == "tool" else None
        name = reader.fields.get("request.model") if kind == "model" else function
        return reader.reading(self.name, str(name or view.span.name or kind))


DIALECT = MLflow()


class _Reader(SpanReader):
    """Collects the fields of one span."""

    def model(self) -> None:
        there, value = self.payload(INPUTS, "request.messages", is_json=True)
        got = request_fields(json_of(value), self.intern) if there else {}
        if got:
            self.taken.add(INPUTS)
            self.give(got)
        there, value = self.payload(OUTPUTS, "response.messages", is_json=True)
        got = self.answered(self.streamed() or json_of(value)) if there else {}
        if got:
            self.taken.add(OUTPUTS)
            self.give(got)
        self.facts()

    def answered(self, body: Any) -> dict[str, Any]:
        """A response body; or, beside a request that was read, bare texts."""
        texts = [body] if isinstance(body, str) else body
        if "request.messages" in self.fields and isinstance(texts, list) and texts and all(isinstance(t, str) for t in texts):
            said = [{"role": "assistant", "parts": [{"type": "text", "content": text}]} for text in texts]
            return {"response.messages": [self.intern.message(m) for m in said]}
        return response_fields(body, self.intern)

    def streamed(self) -> Any:
        """The response body that the chunks of a stream make; None where there are none."""
        chunks = sorted(
            (
                (int(e.name.removeprefix(_CHUNK)), json_of(e.attributes.get("mlflow.chunk.value")))
                for e in self.view.span.events
                if e.name.startswith(_CHUNK) and e.name.removeprefix(_CHUNK).isdecimal()
            ),
            key=lambda chunk: chunk[0],
        )
        whole = assemble([chunk for _, chunk in chunks])
        return whole[1] if whole else None

    def facts(self) -> None:
        model = json_of(self.attributes.get("mlflow.llm.model"))
        if isinstance(model, str):
            self.taken.add("mlflow.llm.model")
            self.give({"response.model": model})
        usage = json_of(self.attributes.get("mlflow.chat.tokenUsage"))
        if isinstance(usage, dict):
            self.give({"response.usage": {k: v for k, v in usage.items() if k in ("input_tokens", "output_tokens")}})

    def tool(self) -> None:
        self.value(INPUTS, "request.arguments", is_json=True)
        if not self.failed:
            self.value(OUTPUTS, "response.result", is_json=True)

    def agent(self) -> None:
        self.value(INPUTS, "request.input", is_json=True)
        self.value(OUTPUTS, "response.output", is_json=True)

    def retrieval(self) -> None:
        self.value(INPUTS, "request.query", is_json=True)
        self.value(OUTPUTS, "response.result", is_json=True)

    def embeddings(self) -> None:
        self.value(INPUTS, "request.inputs", is_json=True)
        self.facts()
