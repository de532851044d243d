"""The variables by which a program finds its model provider: all of them point at the stub. Pure.

Every SDK is told in its own spelling; one that reads none (a base URL written in the code) runs into the guard, which names
it. A dummy key is set only where none is, and only for providers that the recording names: some programs choose a provider by
the key that is there. Variables that choose another way than the provider's own API (a cloud's, a proxy) are taken out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from otelreplay.run.environment import NO_CREDENTIAL

_BASES: Final[Mapping[str, tuple[str, ...]]] = {
    "/openai/v1": (
        "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_BASE_URL", "OPENROUTER_API_BASE", "OPENROUTER_BASE_URL",
        "DEEPSEEK_API_BASE", "DEEPSEEK_BASE_URL", "MISTRAL_API_BASE", "XAI_API_BASE", "TOGETHER_BASE_URL",
        "TOGETHERAI_API_BASE",
        "FIREWORKS_API_BASE", "FIREWORKS_BASE_URL", "PERPLEXITYAI_API_BASE", "GROQ_API_BASE", "LITELLM_PROXY_API_BASE",
    ),
    "/groq": ("GROQ_BASE_URL",),
    "/azure": ("AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE"),
    "/anthropic": ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE", "ANTHROPIC_API_URL"),
    "/gemini": ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_BASE"),
}  # fmt: skip
"""By what stands behind the stub's base URL: as much of the path as the variable's readers expect to find in it."""
_KEYS: Final = {
    "openai": ("OPENAI_API_KEY",),
    "azure": ("AZURE_OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
}
_SIGNS: Final = {"gemini": "google", "gcp": "google", "vertex": "google", "claude": "anthropic", "x_ai": "xai", "gpt": "openai"}
_USUAL: Final = ("openai", "anthropic", "google")
_ELSEWHERE: Final = frozenset({
    "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_FOUNDRY_BASE_URL",
    "GOOGLE_VERTEX_BASE_URL", "OPENAI_PROXY", "OPENAI_API_TYPE", "LITELLM_PROXY_API_KEY",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "WSS_PROXY",
})  # fmt: skip
"""In upper case; lower-case spellings are taken out too."""


_HOSTS: Final = {
    "api.openai.com": "OPENAI_BASE_URL",
    ".openai.azure.com": "AZURE_OPENAI_ENDPOINT",
    "api.anthropic.com": "ANTHROPIC_BASE_URL",
    "generativelanguage.googleapis.com": "GOOGLE_GEMINI_BASE_URL",
    "openrouter.ai": "OPENROUTER_BASE_URL",
    "api.deepseek.com": "DEEPSEEK_BASE_URL",
    "api.groq.com": "GROQ_BASE_URL",
    "api.together.xyz": "TOGETHER_BASE_URL",
}


def remedy(target: str) -> str:
    """What to do about a blocked attempt of a program that runs by its environment. ``target``: host, with or without port."""
    host = target.rpartition(":")[0] or target
    variable = next((name for known, name in _HOSTS.items() if host == known or (known[0] == "." and host.endswith(known))), "")
    if variable:
        return f"the program does not take its provider's address from {variable}: let it, and its requests are answered"
    return "name the Python function that makes this call: --tool NAME=module:function; or leave the call out"


def without_detours(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that do not choose another way to a model."""
    return {name: value for name, value in environ.items() if name.upper() not in _ELSEWHERE}


def towards(base: str, *, providers: Collection[str] = (), environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables that lead to the stub at ``base``. ``providers``: as the recording names them; ``environ``: what is set."""
    found = {name: f"{base}{path}" for path, names in _BASES.items() for name in names}
    kept = environ or {}
    families = {family for provider in providers for family in _families(provider)} or {*_USUAL}
    for family in sorted(families):
        names = _KEYS[family]
        if not any(kept.get(name) for name in names):
            found |= dict.fromkeys(names[:1], NO_CREDENTIAL)
    return found


def _families(provider: str) -> set[str]:
    said = provider.lower()
    found = {family for family in _KEYS if family in said} | {family for sign, family in _SIGNS.items() if sign in said}
    return found - {"openai"} if "azure" in found else found
