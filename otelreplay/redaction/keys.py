"""What a key says about its value: the vocabulary of dict keys, attribute names, headers, variables and options.

A key is cut into words (``clientSecret``, ``client-secret`` and ``CLIENT_SECRET`` are the same two words). Its last words
decide: ``api_key`` names a secret, ``api_key_name`` does not, ``input_tokens`` counts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, get_args

from otelreplay.redaction.placeholders import PLACEHOLDER

Kind = Literal["cookie", "national_id", "phone", "credit_card", "iban", "birth_date", "email", "coordinates"]
"""Detectors whose find a key can announce."""
Sense = Literal[
    "", "faint", "weak", "strong", "cookie", "national_id", "phone", "credit_card", "iban", "birth_date", "email", "coordinates"
]  # fmt: skip
"""Nothing; a secret if the value cannot be anything else; if it looks like one; whatever it looks like; or a detector's
find."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(pair.split("-")) for pair in text.split())


_CUT: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\x00-\x7f]+")

_STRONG: Final = _words("""
    password passwd pasword passwort keypasswd passphrase passcode pwd pw passwords secret secrets apikey apikeys authorization
    credentials privatekey accesskey secretkey authtoken accesstoken refreshtoken sessiontoken clientsecret connectionstring
    signature secrete psk pswd userpass mysqlpass dbpass dbpassword contrasena
""")
_STRONG_TAILS: Final = ("password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "secretkey")
_STRONG_PAIRS: Final = _pairs("""
    api-key api-keys access-key private-key secret-key account-key auth-key shared-key encryption-key signing-key master-key
    activation-key license-key storage-key subscription-key service-key ssh-key app-key admin-key client-key host-key key-value
    auth-token access-token refresh-token session-token bearer-token api-token secret-token id-token bot-token oauth-token
    security-token csrf-token xsrf-token token-value client-secret webhook-secret auth-secret api-secret app-secret secret-value
    connection-string pass-phrase access-signature user-pass db-pass mysql-pass
""")
_PASSWORDS: Final = _words("password passwd passphrase")
_WEAK: Final = _words("""
    token key auth pass credential sig salt sid session jwt bearer pkey srt pin cvv cvc otp csrf xsrf login sessionid sessid
    phpsessid jsessionid dsn oauth
""")
VAGUE: Final = _words("key session salt login srt credential")
"""Last words of weak keys whose value is as often an id: hexadecimal under them is left alone."""
_PLACES: Final = _words("public vault cache")
"""``public_key``, ``key_vault``, ``cache_key``: no secret."""
_PLAIN_LAST: Final = _words("""
    name names id ids count counts limit limits size length len type types path file filename dir url uri urls endpoint expiry
    expires expiration ttl hint policy version algorithm alg algo field fields header headers budget usage used total max min
    per rate label env var status required enabled format prefix suffix regex pattern description error errors provider manager
    index idx position offset source ref created updated at date time seconds ms mode method scheme schema group store storage
    param parameter parameters arg argument placeholder title text message model tokens words keys pages page next usages config
    settings service server host port user username email role roles scope scopes object table column map list set dict spec
    info data metadata attempts number no num flow grant test tests check checks condition code codes
""")
_PII: Final[tuple[tuple[Kind, frozenset[str], frozenset[tuple[str, ...]]], ...]] = (
    ("cookie", _words("cookie cookies"), _pairs("set-cookie")),
    (
        "national_id",
        _words("ssn nationalid passport itin aadhaar cpf bsn nino taxid dni pesel nric"),
        _pairs("""national-id tax-id social-security security-number passport-number passport-no license-number identity-number
            insurance-number personal-number"""),
    ),
    (
        "phone",
        _words("phone phones tel telephone mobile fax cellphone msisdn whatsapp"),
        _pairs("phone-number mobile-number telephone-number mobile-phone cell-phone"),
    ),
    ("credit_card", _words("pan ccnumber cardnumber creditcard"), _pairs("card-number credit-card")),
    ("iban", _words("iban ibans"), _pairs("account-iban")),
    ("birth_date", _words("dob birthdate birthday"), _pairs("of-birth birth-date")),
    ("email", _words("email emails mail"), _pairs("email-address")),
    ("coordinates", _words("location coordinates geo gps latlon position"), frozenset()),
)
SECRET: Final = ("faint", "weak", "strong")
"""The senses that mean a secret."""
KINDS: Final = get_args(Kind)
VENDORS: Final = re.compile(
    r"(?i)adafruit|adobe|airtable|algolia|alibaba|aws|amazon|anthropic|asana|atlassian|azure|beamer|bitbucket|bittrex|cohere"
    r"|coinbase|confluent|contentful|cloudflare|codecov|databricks|datadog|dropbox|elastic|facebook|fastly|figma|finicity|finnhub|flickr"
    r"|freshbooks|github|gitlab|gitter|google|grafana|groq|harness|heroku|hubspot|huggingface|intercom|jfrog|artifactory|kraken|kucoin"
    r"|launchdarkly|linear|linkedin|lob|mailchimp|mailgun|mapbox|mattermost|meraki|messagebird|mistral|netlify|new-?relic|notion|npm"
    r"|nytimes|okta|openai|openrouter|pinecone|plaid|planetscale|postman|privateai|pulumi|rapidapi|sendbird|sendgrid|sendinblue|sentry"
    r"|serpapi|shippo|shopify|slack|snyk|sonar|sourcegraph|spotify|square|squarespace|stripe|sumo|supabase|tavily|telegram|together"
    r"|travisci|trello|twilio|twitch|twitter|typeform|vercel|yandex|zendesk"
)
"""Services whose name before ``token`` or ``key`` makes a credential of what follows."""


@lru_cache(maxsize=8192)
def words(key: str) -> tuple[str, ...]:
    """The words of a key, in lower case."""
    return tuple(w.lower() for w in _CUT.findall(key[-128:]))


def is_code_word(key: str) -> bool:
    """Keys whose secrets are short numbers: ``pin``, ``cvv``, ``otp``."""
    return words(key)[-1:] in (("pin",), ("cvv",), ("cvc",), ("otp",))


@lru_cache(maxsize=8192)
def sense(key: str) -> Sense:
    """What the key says about its value. A key that holds a placeholder says nothing."""
    if PLACEHOLDER.search(key) is not None:
        return ""
    parts = words(key.rsplit(".", 1)[-1] if "." in key and not key.endswith(".") else key)
    parts = tuple(p for p in parts if not p.isdigit()) or parts
    if not parts or not _PLACES.isdisjoint(parts):
        return ""
    last, pair = parts[-1], parts[-2:]
    if pair in _STRONG_PAIRS:
        return "strong"
    for kind, single, double in _PII:
        if last in single or pair in double:
            return kind
    if last in _STRONG or last.endswith(_STRONG_TAILS):
        return "strong"
    return _secret_inside(parts)


def _secret_inside(parts: tuple[str, ...]) -> Sense:
    """For keys whose last word alone does not decide."""
    last = parts[-1]
    passwords = not _PASSWORDS.isdisjoint(parts)
    if last in _WEAK:
        return "weak"
    if last in _PLAIN_LAST:
        return "faint" if passwords or parts[0] in _STRONG else ""
    if passwords:
        return "strong"
    inside = not _STRONG.isdisjoint(parts) or any(two in _STRONG_PAIRS for two in pairwise(parts))
    return "weak" if inside or parts[0] in ("token", "secret", "key", "api") else ""
