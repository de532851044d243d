"""What a key says about its value: the vocabulary of dict keys, attribute names, headers, variables and options.

A key is cut into words (``clientSecret``, ``client-secret`` and ``CLIENT_SECRET`` are the same two words). Its last words
decide: ``api_key`` names a secret, ``api_key_name`` does not, ``input_tokens`` counts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

Sense = Literal["", "faint", "weak", "strong", "cookie", "national_id", "phone", "credit_card", "iban", "birth_date", "email", "coordinates"]
"""Nothing; a secret if the value cannot be anything else; a secret if the value looks like one; a secret whatever it looks like; a detector whose kind the value is."""

_CUT: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\x00-\x7f]+")

_STRONG: Final = frozenset(
    "password passwd pasword passwort keypasswd passphrase passcode pwd pw passwords secret secrets apikey apikeys authorization credentials "
    "privatekey accesskey secretkey authtoken accesstoken refreshtoken sessiontoken clientsecret connectionstring signature secrete psk pswd userpass mysqlpass dbpass dbpassword contrasena".split()
)
_STRONG_PAIRS: Final = frozenset(
    {
        ("api", "key"), ("api", "keys"), ("access", "key"), ("private", "key"), ("secret", "key"), ("account", "key"), ("auth", "key"), ("shared", "key"),
        ("encryption", "key"), ("signing", "key"), ("master", "key"), ("activation", "key"), ("license", "key"), ("storage", "key"), ("auth", "token"),
        ("access", "token"), ("refresh", "token"), ("session", "token"), ("bearer", "token"), ("api", "token"), ("secret", "token"), ("id", "token"),
        ("bot", "token"), ("oauth", "token"), ("security", "token"), ("csrf", "token"), ("xsrf", "token"), ("client", "secret"), ("webhook", "secret"), ("connection", "string"),
        ("secret", "value"), ("token", "value"), ("key", "value"), ("subscription", "key"), ("service", "key"), ("ssh", "key"), ("pass", "phrase"), ("app", "key"), ("admin", "key"),
        ("access", "signature"), ("auth", "secret"), ("api", "secret"), ("app", "secret"), ("user", "pass"), ("db", "pass"), ("mysql", "pass"), ("client", "key"), ("host", "key"),
    }
)  # fmt: skip
_STRONG_TAILS: Final = ("password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "secretkey")
_PASSWORDS: Final = frozenset(("password", "passwd", "passphrase"))
_WEAK: Final = frozenset(
    "token key auth pass credential sig salt sid session jwt bearer pkey srt pin cvv cvc otp csrf xsrf login sessionid sessid phpsessid jsessionid dsn oauth k".split()
)
_PLAIN_LAST: Final = frozenset(
    "name names id ids count counts limit limits size length len type types path file filename dir url uri urls endpoint expiry expires expiration "
    "ttl hint policy version algorithm alg algo field fields header headers budget usage used total max min per rate label env var status required enabled "
    "format prefix suffix regex pattern description error errors provider manager index idx position offset source ref created updated at date time "
    "seconds ms mode method scheme schema group vault store storage param parameter parameters arg argument placeholder title text message model "
    "tokens words keys pages page next usages config settings service server host port user username email role roles scope scopes object table column "
    "map list set dict spec info data metadata attempts number no num flow grant test tests check checks condition code codes".split()
)
SECRET: Final = ("faint", "weak", "strong")
"""The senses that mean a secret."""
VAGUE: Final = frozenset(("key", "k", "session", "salt", "login", "code", "srt", "credential"))
"""Last words of weak keys whose value is as often an id: a bare digest under them is left alone."""
_PII: Final[dict[str, Sense]] = {
    "ssn": "national_id", "nationalid": "national_id", "passport": "national_id", "itin": "national_id", "aadhaar": "national_id", "cpf": "national_id", "bsn": "national_id",
    "nino": "national_id", "taxid": "national_id", "dni": "national_id", "pesel": "national_id", "nric": "national_id",
    "phone": "phone", "phones": "phone", "tel": "phone", "telephone": "phone", "mobile": "phone", "fax": "phone", "cellphone": "phone", "msisdn": "phone", "whatsapp": "phone",
    "iban": "iban", "ibans": "iban", "dob": "birth_date", "birthdate": "birth_date", "birthday": "birth_date", "email": "email", "emails": "email", "mail": "email",
    "cookie": "cookie", "cookies": "cookie", "location": "coordinates", "coordinates": "coordinates", "geo": "coordinates", "gps": "coordinates", "latlon": "coordinates", "position": "coordinates",
    "pan": "credit_card", "ccnumber": "credit_card", "cardnumber": "credit_card", "creditcard": "credit_card",
}  # fmt: skip
_PII_PAIRS: Final[dict[tuple[str, str], Sense]] = {
    ("national", "id"): "national_id", ("tax", "id"): "national_id", ("social", "security"): "national_id", ("security", "number"): "national_id", ("passport", "number"): "national_id",
    ("passport", "no"): "national_id", ("license", "number"): "national_id", ("identity", "number"): "national_id", ("insurance", "number"): "national_id", ("personal", "number"): "national_id",
    ("phone", "number"): "phone", ("mobile", "number"): "phone", ("telephone", "number"): "phone", ("mobile", "phone"): "phone", ("cell", "phone"): "phone",
    ("card", "number"): "credit_card", ("credit", "card"): "credit_card", ("account", "iban"): "iban", ("of", "birth"): "birth_date", ("birth", "date"): "birth_date",
    ("email", "address"): "email",
}  # fmt: skip
VENDORS: Final = re.compile(
    r"(?i)adafruit|adobe|airtable|algolia|alibaba|aws|amazon|anthropic|asana|atlassian|azure|beamer|bitbucket|bittrex|cohere|coinbase|confluent|contentful|cloudflare|codecov"
    r"|databricks|datadog|dropbox|elastic|facebook|fastly|figma|finicity|finnhub|flickr|freshbooks|github|gitlab|gitter|google|grafana|groq|harness|heroku|hubspot"
    r"|huggingface|intercom|jfrog|artifactory|kraken|kucoin|launchdarkly|linear|linkedin|lob|mailchimp|mailgun|mapbox|mattermost|meraki|messagebird|mistral|netlify|new-?relic"
    r"|notion|npm|nytimes|okta|openai|openrouter|pinecone|plaid|planetscale|postman|privateai|pulumi|rapidapi|sendbird|sendgrid|sendinblue|sentry|serpapi|shippo|shopify|slack|snyk|sonar"
    r"|sourcegraph|spotify|square|squarespace|stripe|sumo|supabase|tavily|telegram|together|travisci|trello|twilio|twitch|twitter|typeform|vercel|yandex|zendesk"
)


@lru_cache(maxsize=8192)
def words(key: str) -> tuple[str, ...]:
    """The words of a key, in lower case."""
    return tuple(w.lower() for w in _CUT.findall(key[-128:]))


@lru_cache(maxsize=8192)
def sense(key: str) -> Sense:
    """What the key says about its value."""
    parts = words(key.rsplit(".", 1)[-1] if "." in key and not key.endswith(".") else key)
    parts = tuple(p for p in parts if not p.isdigit()) or parts
    if not parts:
        return ""
    last, pair = parts[-1], parts[-2:]
    if "public" in parts or "vault" in parts or "cache" in parts:
        return ""
    if len(pair) == 2:
        if pair in _STRONG_PAIRS:
            return "strong"
        if pair in _PII_PAIRS:
            return _PII_PAIRS[pair]
    if last in _STRONG or last.endswith(_STRONG_TAILS):
        return "strong"
    if last in _PII:
        return _PII[last]
    if last in _WEAK:
        return "weak"
    if last in _PLAIN_LAST:
        return "faint" if parts[0] in _STRONG or any(p in _PASSWORDS for p in parts) else ""
    if any(p in _PASSWORDS for p in parts):
        return "strong"
    if any(p in _STRONG for p in parts) or any(two in _STRONG_PAIRS for two in zip(parts, parts[1:], strict=False)):
        return "weak"
    if parts[0] in ("token", "secret", "key", "api"):
        return "weak"
    return ""
