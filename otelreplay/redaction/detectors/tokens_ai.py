"""Keys of model providers and of the tools around them."""

from __future__ import annotations

from otelreplay.redaction.detectors.tokens import BASE64, HEX, URLSAFE, WORD, shaped, token

DETECTORS = (
    token("anthropic_key", r"sk-ant-[a-z0-9]{2,12}-", URLSAFE, 16),
    token("openai_key", r"sk-(?:proj|svcacct|admin|service|None|live|test)-", URLSAFE, 16),
    shaped("openai_legacy_key", r"T3BlbkFJ", rf"sk-{URLSAFE}{{8,200}}T3BlbkFJ{URLSAFE}{{8,200}}"),
    token("openrouter_key", r"sk-or-(?:v[0-9]-)?", URLSAFE, 16),
    token("langfuse_key", r"sk-lf-", URLSAFE, 16),
    token("litellm_key", r"sk-", r"[A-Za-z0-9_-]", 20, gate=r"sk-[A-Za-z0-9_-]{16}"),
    token("huggingface_token", r"(?:hf_|api_org_)", WORD, 20, sure=True),
    token("groq_key", r"gsk_", WORD, 20),
    shaped(
        "half_masked_key",
        r"[sp]k-[A-Za-z0-9_-]*\*",
        r"(?P<secret>[sp]k-[A-Za-z0-9_-]{2,24}\*{3,}[A-Za-z0-9_-]{0,12})",
        group="secret",
    ),
    token("xai_key", r"xai-", WORD, 20),
    token("perplexity_key", r"pplx-", WORD, 20),
    token("replicate_token", r"r8_", WORD, 20),
    token("fireworks_key", r"fw_", WORD, 16),
    token("together_key", r"tgp_[a-z0-9]{2}_", URLSAFE, 20),
    token("pinecone_key", r"pcsk_", r"[A-Za-z0-9_]", 20),
    token("tavily_key", r"tvly-(?:dev-|prod-)?", WORD, 16),
    token("langsmith_key", r"(?:lsv2_(?:sk|pt)|ls__)_?", r"[A-Za-z0-9_]", 16),
    token("llamaindex_key", r"llx-", URLSAFE, 20),
    token("elevenlabs_key", r"sk_", HEX, 40, 64),
    token("nvidia_key", r"nvapi-", URLSAFE, 20),
    token("cerebras_key", r"csk-", WORD, 20),
    token("jina_key", r"jina_", URLSAFE, 20),
    token("voyage_key", r"(?:pa|al)-", URLSAFE, 40, 48, gate=r"(?:pa|al)-[A-Za-z0-9_-]{16}"),
    token("wandb_key", r"wandb_v[0-9]_", r"[A-Za-z0-9_]", 20),
    token("cohere_key", r"co_", WORD, 36, gate=r"co_[A-Za-z0-9]{16}"),
    token("firecrawl_key", r"fc-", HEX, 32, 32),
    token("e2b_key", r"e2b_", HEX, 32),
    token("bedrock_key", r"ABSK", BASE64, 40, tail=r"={0,2}", sure=True),
    token("bedrock_short_key", r"bedrock-api-key-", r"[A-Za-z0-9+/_-]", 20, tail=r"={0,2}"),
    token("google_api_key", r"AIza", URLSAFE, 30, 40, sure=True),
    shaped("azure_openai_key", r"JQQJ99", r"[A-Za-z0-9]{40,60}JQQJ99[A-Za-z0-9]{20,40}"),
)
