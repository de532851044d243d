"""Where to listen, and who may send, from what the user wrote."""

from __future__ import annotations

import ssl
from pathlib import Path

from otelreplay.errors import UsageError
from otelreplay.receiver.access import is_loopback, parse_tokens
from otelreplay.receiver.sealer import SECOND, Patience
from otelreplay.receiver.server import Settings
from otelreplay.wiring.files import opened


def tokens_in(file: Path) -> dict[str, str]:
    """Token to tenant, from a file."""
    with opened(str(file)) as stream:
        return parse_tokens(stream.read().decode("utf-8-sig", "replace"), str(file))


def settings_of(
    *,
    grpc: str,
    http: str,
    limit: int,
    periods: tuple[float, float, float],
    tls: tuple[Path | None, Path | None, Path | None],
    guarded: bool,
) -> Settings:
    """The settings of a receiver. ``periods``: quiet, idle and retention in seconds; ``guarded``: not everybody may send.

    Raises UsageError: ``serve.address_form``, ``serve.open``, ``serve.tls``.
    """
    certificate, key, authority = tls
    if (certificate is None) != (key is None) or (authority is not None and certificate is None):
        raise UsageError(
            "a certificate needs its key, and a key its certificate",
            code="serve.tls",
            next_step="name both with --tls-cert and --tls-key",
        )
    for file in (certificate, key, authority):
        if file is not None:
            with opened(str(file)):
                pass
    if certificate is not None and key is not None:
        _require_usable(certificate, key, authority)
    addresses = {option: _address(text, option) for option, text in (("--grpc", grpc), ("--http", http))}
    if not any(addresses.values()):
        raise UsageError("there is nothing to serve", code="serve.nothing", next_step="give --grpc or --http an address")
    for option, address in addresses.items():
        if address is not None and not is_loopback(address[0]) and not (guarded or certificate):
            raise UsageError(
                f"{address[0]} can be reached from other machines, and anybody there could send",
                code="serve.open",
                where=option,
                next_step="name who may send with --tokens, or give a certificate with --tls-cert and --tls-key, "
                "or accept it with --allow-anyone",
            )
    quiet, idle, retention = (int(seconds * SECOND) for seconds in periods)
    return Settings(
        grpc=addresses["--grpc"],
        http=addresses["--http"],
        limit=limit,
        memory=max(4 * limit, 256 << 20),
        patience=Patience(quiet=quiet, idle=max(quiet, idle), retention=retention),
        tls_files=(certificate, key, authority) if certificate is not None and key is not None else None,
    )


def _require_usable(certificate: Path, key: Path, authority: Path | None) -> None:
    """Raise UsageError ``serve.tls`` for files that no server could use; the ways in would say so in words of their own."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    file = certificate
    try:
        context.load_cert_chain(certificate, key, password=lambda: "")  # without this it would ask the terminal
        if authority is not None:
            file = authority
            context.load_verify_locations(authority)
    except (ssl.SSLError, ValueError) as error:
        reason = (getattr(error, "reason", None) or "no PEM").replace("_", " ").lower()
        raise UsageError(
            f"the certificate, its key or the authority cannot be used ({reason})",
            code="serve.tls",
            where=str(file),
            next_step="name PEM files: a certificate chain, the private key that belongs to it, without a password, "
            "and certificates of the authority",
        ) from None


def _address(text: str, option: str) -> tuple[str, int] | None:
    if text == "off":
        return None
    host, _, port = text.rpartition(":")
    bare = ":" in host and not (host.startswith("[") and host.endswith("]"))  # an IPv6 address without its brackets
    if not host or bare or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise UsageError(
            "this is no address",
            code="serve.address_form",
            where=option,
            next_step="write HOST:PORT, as 127.0.0.1:4317 or [::1]:4317",
        )
    return host, int(port)
