"""Tool definitions: ``{type: "function", name, description?, parameters?}`` whatever the provider called them.

Read by shape, not by provider, since telemetry of one provider often holds the definitions in another's form (or in a
framework's). What is no function (``web_search``, ``namespace``, ``googleSearch``) is kept verbatim under its own type.
"""

from __future__ import annotations

from typing import Any

from otelreplay.canonical import read_json
from otelreplay.providers.parts import generic, is_generic

Tool = dict[str, Any]

SCHEMAS = (
    "parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema",
)  # fmt: skip
"""Names under which a schema of the parameters is sent; the first that is present is read."""

DECLARATIONS = ("functionDeclarations", "function_declarations")


def decode_tool(definition: Any) -> list[Tool]:
    """The tools of one definition: several for Gemini's list of declarations, one for any other. Never raises."""
    if isinstance(definition, str):
        ok, value = read_json(definition)
        return decode_tool(value) if ok and isinstance(value, dict) else [generic(definition)]
    if not isinstance(definition, dict):
        return [generic(definition)]
    for key in DECLARATIONS:
        if isinstance(definition.get(key), list):
            rest = {k: v for k, v in definition.items() if k != key and v is not None}
            return [t for d in definition[key] for t in decode_tool(d)] + [_typed({k: v}) for k, v in rest.items()]
    spec = definition.get("toolSpec")
    if isinstance(spec, dict) and definition.keys() == {"toolSpec"}:  # Bedrock's Converse API
        schema = spec.get("inputSchema")
        inner = schema["json"] if isinstance(schema, dict) and schema.keys() == {"json"} else schema
        return [_single({**spec, "inputSchema": inner} if "inputSchema" in spec else spec)]
    return [_single(definition)]


def _single(definition: Tool) -> Tool:
    kind, nested = definition.get("type", "function"), definition.get("function")
    if kind == "function" and isinstance(nested, dict) and not (definition.keys() & nested.keys()) - {"type"}:
        rest = {k: v for k, v in definition.items() if k not in ("type", "function")}
        return _flat({**nested, **rest}) or _typed(definition)
    if kind in ("function", "custom", None):
        return _flat({k: v for k, v in definition.items() if k != "type"}, custom=kind == "custom") or _typed(definition)
    return _typed(definition)


def _flat(fields: Tool, *, custom: bool = False) -> Tool | None:
    """A function tool, if the fields are those of one. A ``custom`` tool is one where it has a schema (Anthropic)."""
    key = next((k for k in SCHEMAS if k in fields), None)
    if not isinstance(fields.get("name"), str) or (custom and key is None):
        return None
    tool: Tool = {"type": "function", "name": fields["name"]}
    if "description" in fields:
        tool["description"] = fields["description"]
    if key is not None:
        schema = fields[key]
        wrapped = isinstance(schema, dict) and schema.keys() == {"jsonSchema"}  # the AI SDK's schema object
        tool["parameters"] = schema["jsonSchema"] if wrapped else schema
    rest = {k: v for k, v in fields.items() if k not in ("name", "description", key)}
    return tool if not rest else {**tool, **rest, "type": "function"}


def _typed(definition: Tool) -> Tool:
    """The definition as it is; one without a type gets the name of its only key as its type, as Gemini means it."""
    if isinstance(definition.get("type"), str) and definition["type"] != "generic":
        return dict(definition)
    if len(definition) == 1 and (key := next(iter(definition))) not in ("type", "function", "generic", "custom"):
        return {"type": key, **definition}
    return generic(definition)


def function_fields(tool: Any, schema: str = "parameters") -> Tool | None:
    """A function tool without its type and with its schema under that name; None for any other tool."""
    if not isinstance(tool, dict) or tool.get("type") != "function" or "name" not in tool:
        return None
    if schema != "parameters" and schema in tool:
        return None
    return {schema if k == "parameters" else k: v for k, v in tool.items() if k != "type"}


def verbatim_tool(tool: Any) -> Any:
    """The wire's own definition of a tool that is no function."""
    if is_generic(tool):
        return tool["value"]
    if isinstance(tool, dict) and len(tool) == 2 and isinstance(tool.get("type"), str) and tool["type"] in tool:
        return {k: v for k, v in tool.items() if k != "type"}
    return tool
