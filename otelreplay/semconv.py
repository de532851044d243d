"""Names of the OpenTelemetry semantic conventions that otelreplay reads: GenAI (1.26 to the state of 2026-08), MCP, exceptions.

Source: open-telemetry/semantic-conventions and open-telemetry/semantic-conventions-genai. Detection goes by the attributes
that are present, never by ``schema_url``: packages stamp schema URLs that are older than what they emit.
"""

from __future__ import annotations

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
SYSTEM = "gen_ai.system"
"""The name of ``gen_ai.provider.name`` before 1.37."""

INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
TOOL_DEFINITIONS = "gen_ai.tool.definitions"

REQUEST_PREFIX = "gen_ai.request."
USAGE_PREFIX = "gen_ai.usage."
RESPONSE_ID = "gen_ai.response.id"
RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
REQUEST_MODEL = "gen_ai.request.model"
CONVERSATION_ID = "gen_ai.conversation.id"
OPENAI_API_TYPE = "openai.api.type"

TOOL_NAME = "gen_ai.tool.name"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
AGENT_NAME = "gen_ai.agent.name"
WORKFLOW_NAME = "gen_ai.workflow.name"
DATA_SOURCE_ID = "gen_ai.data_source.id"
RETRIEVAL_QUERY = "gen_ai.retrieval.query.text"
RETRIEVAL_DOCUMENTS = "gen_ai.retrieval.documents"
MEMORY_QUERY = "gen_ai.memory.query.text"
MEMORY_RECORDS = "gen_ai.memory.records"

INFERENCE_DETAILS = "gen_ai.client.inference.operation.details"
LEGACY_PROMPT = "gen_ai.prompt"
LEGACY_COMPLETION = "gen_ai.completion"
LEGACY_PROMPT_EVENT = "gen_ai.content.prompt"
LEGACY_COMPLETION_EVENT = "gen_ai.content.completion"

MCP_METHOD = "mcp.method.name"
ERROR_TYPE = "error.type"
EXCEPTION_EVENT = "exception"
EXCEPTION_TYPE = "exception.type"
EXCEPTION_MESSAGE = "exception.message"
EVENT_NAME = "event.name"

STATUS_ERROR = 2

KIND_OF_OPERATION = {
    "chat": "model",
    "text_completion": "model",
    "chat.completions": "model",
    "text.completions": "model",
    "generate_content": "model",
    "embeddings": "embeddings",
    "retrieval": "retrieval",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "invoke_workflow": "agent",
    "process_thread_run": "agent",
    "plan": "agent",
    "search_memory": "memory",
    "create_memory": "memory",
    "update_memory": "memory",
    "upsert_memory": "memory",
    "delete_memory": "memory",
    "create_memory_store": "memory",
    "delete_memory_store": "memory",
    "create_agent": "context",
    "create_thread": "context",
    "create_message": "context",
    "list_messages": "context",
    "list_run_steps": "context",
    "start_thread_run": "context",
    "get_thread_run": "context",
    "submit_tool_outputs": "context",
    "fetch_response": "context",
}
"""What boundary an operation is. Azure's agents and Semantic Kernel for .NET have operations of their own.

``fetch_response``, ``create_agent`` and the like cross no boundary of a run: no inference happens."""

RENAMED_USAGE = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cache_creation.input_tokens": "cache_write.input_tokens",
}
"""Usage names of older versions, as last segments."""

RENAMED_PARAMS = {
    **dict.fromkeys(("max_completion_tokens", "max_output_tokens", "maxTokens", "maxOutputTokens"), "max_tokens"),
    "topP": "top_p",
    "stopSequences": "stop_sequences",
}
