"""Check digits. Each function takes the value without separators and says whether it checks."""

from __future__ import annotations

import hashlib

_B58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def luhn(digits: str) -> bool:
    """ISO/IEC 7812: doubled every second digit from the right, sum divisible by ten."""
    total = 0
    for n, c in enumerate(reversed(digits)):
        d = ord(c) - 48
        total += d if n % 2 == 0 else d * 2 - 9 * (d > 4)
    return total % 10 == 0


def mod97(iban: str) -> bool:
    """ISO 13616: country and check digits moved to the end, letters as 10 to 35, remainder 1."""
    try:
        return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1
    except ValueError:
        return False


_CF_ODD = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (
            1,
            0,
            5,
            7,
            9,
            13,
            15,
            17,
            19,
            21,
            1,
            0,
            5,
            7,
            9,
            13,
            15,
            17,
            19,
            21,
            2,
            4,
            18,
            20,
            11,
            3,
            6,
            8,
            12,
            14,
            16,
            10,
            22,
            25,
            24,
            23,
        ),
        strict=True,
    )
)


def codice_fiscale(code: str) -> bool:
    """Italian tax code: odd places by table, even places by rank, sum modulo 26 gives the last letter."""
    total = sum(_CF_ODD[c] if n % 2 == 0 else int(c, 36) - (10 if c.isalpha() else 0) for n, c in enumerate(code[:15]))
    return chr(65 + total % 26) == code[15]


def base58check(text: str) -> bool:
    """A Bitcoin address: version byte, 20 bytes, four bytes of a double SHA-256."""
    number = 0
    for c in text:
        at = _B58.find(c)
        if at < 0:
            return False
        number = number * 58 + at
    raw = number.to_bytes(25, "big") if number.bit_length() <= 200 else b""
    return bool(raw) and hashlib.sha256(hashlib.sha256(raw[:21]).digest()).digest()[:4] == raw[21:]
