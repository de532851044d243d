"""An MCP server whose answers come from a cassette, over stdio and streamable HTTP."""

from otelreplay.stubs.mcp.catalogue import Catalogue, catalogue_of
from otelreplay.stubs.mcp.evidence import covered, mcp_tools
from otelreplay.stubs.mcp.http import MOUNT, answering, handle
from otelreplay.stubs.mcp.serving import McpServer

__all__ = ["MOUNT", "Catalogue", "McpServer", "answering", "catalogue_of", "covered", "handle", "mcp_tools"]
