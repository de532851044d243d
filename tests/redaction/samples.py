"""Made-up secrets and personal data. Put together at run time, so that no scanner takes this file for a leak."""

from otelreplay.redaction import PseudonymKey, compile_policy, default_policy, load_policy
from otelreplay.redaction.detectors.checksums import codice_fiscale, luhn

KEY = PseudonymKey(secret=b"0123456789abcdef0123456789abcdef")
OTHER_KEY = PseudonymKey(secret=b"fedcba9876543210fedcba9876543210")
B62 = "q7RtXv2LmZp9KcWd4HsYb6NfGj3TaEu8Vi5Po1Xw0QrSyBzMnDkFhJgClAeUiOt"
HEX = "9f3c1a7be204d85f6c1e0b9a37d24f58c6e1a09b7d3f52481ce6a0b9d7f38241"

SECRETS = {
    "anthropic": "sk-ant-" + "api03-" + B62[:40],
    "openai": "sk-" + "proj-" + B62[:44],
    "openrouter": "sk-or-" + "v1-" + HEX,
    "langfuse": "sk-lf-" + "9f3c1a7b-e204-485f-8c1e-0b9a37d24f58",
    "huggingface": "hf" + "_" + B62[:34],
    "groq": "gsk" + "_" + B62[:52],
    "xai": "xai" + "-" + B62[:60],
    "aws_id": "AKIA" + "Q7RTXV2LMZP9KCWD",
    "google": "AIza" + "Sy" + B62[:33],
    "gocspx": "GOCSPX" + "-" + B62[:28],
    "github": "ghp" + "_" + B62[:36],
    "github_pat": "github" + "_pat_" + B62[:22] + "_" + B62[:59],
    "gitlab": "glpat" + "-" + B62[:20],
    "slack": "xoxb" + "-236972669353-3139033115529-" + B62[:24],
    "stripe": "sk" + "_live_" + B62[:24],
    "sendgrid": "SG" + "." + B62[:22] + "." + B62[:43],
    "npm": "npm" + "_" + B62[:36],
    "pypi": "pypi" + "-AgEIcHlwaS5vcmc" + B62,
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + B62[:43],
    "telegram": "7213569836" + ":" + B62[:35],
    "digitalocean": "dop" + "_v1_" + HEX,
    "databricks": "dapi" + HEX[:32],
    "azure_client": "Ow0" + "8Q~" + B62[:34],
    "vault": "hvs" + "." + B62[:24],
}
"""Credentials that their own form gives away."""

EMAIL = "ada.lovelace" + "@" + "analytical.example.org"
CARD = "4111" + "111111111111"
IBAN = "GB82" + "WEST12345698765432"
SSN = "536" + "-22-" + "1842"
PHONE = "+44 20 " + "7946 0958"
PII = {"email": EMAIL, "card": CARD, "iban": IBAN, "ssn": SSN, "phone": PHONE}

PASSWORD = "Qv7" + "#mK2!rT9x"

assert luhn(CARD)
assert codice_fiscale("RSSMRA85T10A562S")


def redactor(policy=None, *, key=KEY, **options):
    """The default policy, or one given as YAML text, ready."""
    held = default_policy() if policy is None else load_policy(policy, "test policy")
    return compile_policy(held, key=key, **options)


def rules(*lines):
    """YAML of a policy with these rules."""
    return "version: 1\nname: test\nrules:\n" + "".join(f"  - {{{line}}}\n" for line in lines)
