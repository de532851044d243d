"""Tokens of code hosts, registries, build and work tools."""

from __future__ import annotations

from otelreplay.redaction.detectors.tokens import HEX, URLSAFE, WORD, shaped, token

DETECTORS = (
    token("github_token", r"gh[pousr]_", WORD, 20, sure=True),
    token("github_fine_grained_token", r"github_[a-z]{3}_", r"[A-Za-z0-9_]", 22),
    token("gitlab_token", r"gl(?:pat|ptt|dt|rt|cbt|ft|imt|agent|oas|soat|ffct)-", r"[A-Za-z0-9_.=-]", 8),
    token("gitlab_runner_token", r"GR[0-9]{7}", URLSAFE, 20),
    shaped("gitlab_session", r"_gitlab_session=", r"_gitlab_session=(?P<secret>[0-9a-z]{16,})", group="secret"),
    token("bitbucket_token", r"(?:ATATT|ATCTT|ATATU|ATBB|ATOA|BBDC-)", r"[A-Za-z0-9+/_=-]", 20),
    token("npm_token", r"npm_", WORD, 20),
    token("pypi_token", r"pypi-", URLSAFE, 50),
    token("rubygems_key", r"rubygems_", HEX, 32, sure=True),
    token("crates_token", r"cio", WORD, 32, 32),
    token("nuget_key", r"oy2", r"[a-z0-9]", 40, 50),
    token("clojars_token", r"CLOJARS_", r"[A-Za-z0-9]", 40, sure=True),
    token("jfrog_token", r"(?:AKCp[0-9A-Za-z]|cmVmdGtu)", WORD, 50),
    shaped("artifactory_key", r"AKC[A-Za-z0-9]|AP[0-9A-F][a-z0-9]", r"(?:AKC[a-zA-Z0-9]{10,}|AP[0-9A-F][a-z0-9]{10,})"),
    token("sonarqube_token", r"sq[uap]_", HEX, 32, sure=True),
    token("postman_key", r"PMA[KT]-", r"[A-Za-z0-9-]", 20),
    token("linear_key", r"lin_(?:api|oauth)_", WORD, 20),
    token("notion_token", r"(?:ntn_|secret_)", WORD, 40, 50),
    token("figma_token", r"fig[dorup]{1,2}_", URLSAFE, 20),
    token("airtable_token", r"pat[A-Za-z0-9]{14}\.", HEX, 32),
    token("asana_token", r"[0-9]/[0-9]{10,}(?:/[0-9]{10,})?:", HEX, 32, 32),
    token("atlassian_token", r"ATC?TT3x", r"[A-Za-z0-9_=-]", 40),
    token("readme_key", r"rdme_", r"[a-z0-9]", 60, sure=True),
    token("prefect_key", r"pnu_", r"[a-zA-Z0-9]", 30),
    token("infracost_key", r"ico-", WORD, 30),
    token("cosmo_key", r"cosmo_", HEX, 32, sure=True),
    token("settlemint_token", r"sm_(?:pat|sat|aat)_", r"[A-Za-z0-9]", 12),
    shaped(
        "launchdarkly_key", r"(?:sdk|mob)-[0-9a-f]", r"(?:sdk|mob)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    ),
    token("buildkite_token", r"bk[a-z]{2}_", WORD, 30),
    token("circleci_token", r"CCI(?:PAT|PRJ)_", r"[A-Za-z0-9_]", 30),
)
