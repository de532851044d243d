"""Keys of clouds, hosts, and infrastructure."""

from __future__ import annotations

import base64

from otelreplay.redaction.detectors.base import LEFT, RIGHT, by_pattern
from otelreplay.redaction.detectors.tokens import HEX, URLSAFE, WORD, shaped, token


def _says(encoded: str) -> bool:
    """Whether base64 of 64 bytes is a text that was encoded, and no key."""
    try:
        plain = base64.b64decode(encoded[-88:], validate=True)
    except ValueError:
        return False
    return plain.isascii() and all(c >= 32 or c in b"\t\n\r" for c in plain)


DETECTORS = (
    shaped(
        "aws_access_key_id",
        r"(?:AKIA|ASIA|ABIA|ACCA|A3T|AROA|AIDA|AGPA|ANPA|AIPA)[A-Z0-9]",
        r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9]|AROA|AIDA|AGPA|ANPA|AIPA)[A-Z0-9]{16}",
    ),
    token(
        "aws_session_token",
        r"(?:IQoJb3JpZ2luX2Vj|FwoGZXIvYXdz|FQoGZXIvYXdz)",
        r"[A-Za-z0-9+/%_-]",
        20,
        tail=r"={0,2}",
        sure=True,
    ),
    token("aws_appsync_key", r"da2-", r"[a-z0-9]", 26, 26, sure=True),
    shaped("aws_mws_token", r"amzn\.mws\.", r"amzn\.mws\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    token("google_oauth_token", r"ya29\.", URLSAFE, 20),
    token("google_oauth_secret", r"GOCSPX-", URLSAFE, 20, sure=True),
    token("google_refresh_token", r"1//0[A-Za-z0-9]", URLSAFE, 30),
    shaped("google_client_id", r"[0-9]{6}-[0-9a-z]", r"[0-9]{6,20}-[0-9a-z]{32}\.[a-z.]{4,40}"),
    shaped("azure_client_secret", r"[0-9]Q~", r"[A-Za-z0-9_.~-]{3}[0-9]Q~[A-Za-z0-9_.~-]{30,40}"),
    token("digitalocean_token", r"do[opr]_v1_", HEX, 40, sure=True),
    token("databricks_token", r"dapi", r"[0-9a-f]", 32, 32, tail=r"(?:-[0-9]{1,2})?", sure=True),
    token("vault_token", r"hv[sbr]\.", URLSAFE, 20),
    token("vault_legacy_token", r"[sb]\.", WORD, 24, 24, gate=r"[sb]\.[A-Za-z0-9]{16}"),
    token("terraform_token", r"[A-Za-z0-9]{14}\.atlasv1\.", r"[A-Za-z0-9=_-]", 40, gate=r"\.atlasv1\."),
    token("alibaba_key", r"LTAI", WORD, 12, 24),
    token("alibaba_secret", r"AKCp", WORD, 10),
    token("tencent_key", r"AKID", WORD, 32),
    token("planetscale_token", r"pscale_(?:tkn|pw|oauth)_", r"[A-Za-z0-9=._-]", 20),
    token("netlify_token", r"nf[pcoub]_", WORD, 30),
    token("vercel_token", r"vc[pikar]_", WORD, 20),
    token("supabase_token", r"sb(?:p|_secret|_publishable)_", r"[A-Za-z0-9_-]", 20),
    token("cloudflare_token", r"cf(?:ut|at|k)_", WORD, 30),
    token("cloudflare_origin_key", r"v1\.0-", r"[0-9a-f-]", 100),
    token("heroku_key", r"HRKU-", URLSAFE, 30),
    token("fly_token", r"(?:FlyV1 fm[12][ar]?_|fm[12][ar]?_|fo1_)", r"[A-Za-z0-9+/=,_-]", 30),
    token("render_key", r"rnd_", WORD, 24),
    token("pulumi_token", r"pul-", HEX, 40, sure=True),
    token("openshift_token", r"sha256~", URLSAFE, 40),
    token("tailscale_key", r"tskey-[a-z]+-", r"[A-Za-z0-9-]", 12),
    token("onepassword_token", r"ops_", r"[A-Za-z0-9+/_-]", 100, tail=r"={0,2}", sure=True),
    shaped(
        "onepassword_secret_key",
        r"A3-[A-Z0-9]",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
    ),
    token(
        "age_key", r"AGE-(?:SECRET-KEY-1|[A-Z0-9]{6}-[A-Z0-9]{3}-[A-Z0-9])", r"[A-Z0-9]", 40, sure=True, gate=r"AGE-[A-Z0-9]"
    ),
    token("docker_token", r"dckr_[a-z]{3}_", r"[A-Za-z0-9_-]", 16),
    token("docker_swarm_token", r"SWMKEY-[0-9]-", r"[A-Za-z0-9+/]", 30),
    token("docker_join_token", r"SWMTKN-[0-9]-", r"[A-Za-z0-9-]", 30),
    token("dynatrace_token", r"dt0[a-z][0-9]{2}\.", r"[A-Z0-9.]", 60, sure=True),
    token("newrelic_key", r"(?:NRAK|NRII|NRIQ|NRRA|NRJS|NRSP)-", URLSAFE, 16),
    shaped("newrelic_license", r"NRAL|eu01[A-Za-z0-9]", r"(?:[A-Za-z0-9]{20,36}(?:FFFF)?NRAL|eu01[A-Za-z0-9]{36})"),
    token("grafana_token", r"(?:glsa|glc)_", r"[A-Za-z0-9+/_=]", 20),
    token("doppler_token", r"dp\.[a-z]{2,4}\.(?:[a-z0-9_-]{2,35}\.)?", WORD, 40, gate=r"dp\.[a-z]"),
    token("sentry_token", r"sntr[yu]{1,2}[su]?_", r"[A-Za-z0-9+/=_-]", 32),
    token("posthog_key", r"ph[csxra]_", WORD, 32),
    token("scaleway_key", r"SCW[A-Z0-9]", r"[A-Z0-9]", 16, 16),
    token("confluent_key", r"cflt", r"[A-Za-z0-9+/]", 40),
    token("snowflake_key", r"dnkey-", r"[A-Z0-9-]", 40, sure=True),
    token("yandex_token", r"t1\.", r"[A-Za-z0-9_-]", 20, tail=r"={0,2}\.[A-Za-z0-9_-]{20,}={0,2}"),
    token("yandex_key", r"AQVN", URLSAFE, 30),
    token("yandex_secret", r"YC[A-Za-z0-9]", URLSAFE, 37, 40),
    token(
        "harness_token", r"(?:pat|sat)\.[A-Za-z0-9_-]{20,26}\.[0-9a-z]{20,28}\.", WORD, 18, 24, gate=r"[ps]at\.[A-Za-z0-9_-]"
    ),
    by_pattern(
        "azure_storage_key",
        "secrets",
        "secret",
        gate=r"[A-Za-z0-9+/]==",
        exact=LEFT + r"(?<!sha512-)(?<!sha512:)[A-Za-z0-9+/]{86}==(?<!\.)" + RIGHT,
        check=lambda m: not _says(m[0]),
    ),
)
