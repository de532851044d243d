"""Keys on disk: the one signing key of this user, the public keys it trusts, and one pseudonym key for each tenant.

    <folder>/signing/<key id>.key         32 raw bytes, base64, one line     mode 0600
    <folder>/signing/current              the id of the key that signs now
    <folder>/trusted/<key id>.pub         "otelreplay-public-key-1 <base64>", one line
    <folder>/pseudonym/<tenant digest>.<epoch>.key    32 raw bytes, base64

Every file is made whole or not at all: written under a hidden name in the same folder, flushed, and given its name by a hard
link, which fails if the name is taken. So processes that make the same key at once all end with the one that won: whoever
loses reads the winner's. Nothing here puts a key into an error text.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import secrets
import stat
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from otelreplay.cassette.keys import Signer, TrustStore, is_public_key, key_id
from otelreplay.errors import KeyringError

ENVIRONMENT = "OTELREPLAY_KEYS"
PUBLIC_PREFIX = "otelreplay-public-key-1 "
_KEY_BYTES = 32
_NAME = re.compile(r"[0-9a-f]{32}")
_POSIX = os.name == "posix"


def default_folder(environ: Mapping[str, str], home: Path) -> Path:
    """``$OTELREPLAY_KEYS``, else ``otelreplay/keys`` in the user's config folder of this platform."""
    if chosen := environ.get(ENVIRONMENT):
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        chosen = environ.get("XDG_CONFIG_HOME", "")
        base = Path(chosen) if chosen.startswith("/") else home / ".config"
    return base / "otelreplay" / "keys"


class Keyring:
    """The keys in one folder. Reading a key that is not there makes it; nothing is made before it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    # --- signing ------------------------------------------------------------------------------------------------------

    def signer(self) -> Signer:
        """The key that seals; made at the first call. Raises KeyringError."""
        folder = self._folder("signing")
        current = folder / "current"
        if not current.exists():
            self._first_signing_key(current)
        name = self._read(current).decode("ascii", "replace").strip()
        if not _NAME.fullmatch(name):
            raise self._corrupt(current, "it names no key")
        signer = Signer(self._key(folder / f"{name}.key"))
        if signer.key_id != name:
            raise self._corrupt(folder / f"{name}.key", "it is not the key that its name says")
        return signer

    def rotate(self) -> Signer:
        """Seal with a new key from now on. The old one stays trusted, so what it sealed still verifies."""
        self.signer()
        current = self._folder("signing") / "current"
        self._replace(current, self._new_signing_key().encode() + b"\n")
        return self.signer()

    def _first_signing_key(self, current: Path) -> None:
        made = self._new_signing_key()
        self._publish(current, made.encode() + b"\n")
        if self._read(current).strip() != made.encode():  # another process was first, and this key never signed
            (current.parent / f"{made}.key").unlink(missing_ok=True)

    def _new_signing_key(self) -> str:
        private = secrets.token_bytes(_KEY_BYTES)
        name = Signer(private).key_id
        self._publish(self._folder("signing") / f"{name}.key", base64.b64encode(private) + b"\n")
        return name

    # --- trust --------------------------------------------------------------------------------------------------------

    def export(self) -> str:
        """The public key as one line of text, for ``trust`` elsewhere."""
        return public_text(self.signer().public)

    def trust(self, text: str) -> str:
        """Trust the public key that another keyring's :meth:`export` gave; returns its id."""
        public = parse_public(text)
        path = self._folder("trusted") / f"{key_id(public)}.pub"
        self._publish(path, public_text(public).encode() + b"\n")
        return key_id(public)

    def trust_store(self) -> TrustStore:
        """Own keys, also rotated ones, and trusted ones."""
        publics = [self.signer().public]
        for path in sorted(self._folder("signing").glob("[0-9a-f]*.key")):
            publics.append(Signer(self._key(path)).public)
        for path in sorted(self._folder("trusted").glob("[0-9a-f]*.pub")):
            try:
                public = parse_public(self._read(path).decode("ascii", "replace"))
            except KeyringError:
                raise self._corrupt(path, "it holds no public key") from None
            if key_id(public) != path.stem:
                raise self._corrupt(path, "it is not the key that its name says")
            publics.append(public)
        return TrustStore(publics)

    # --- pseudonyms ---------------------------------------------------------------------------------------------------

    def pseudonym_key(self, tenant: str = "", *, make: bool = True) -> tuple[int, bytes]:
        """(epoch, 32 bytes) of a tenant's newest key; made with epoch 1 at the first call unless ``make`` is False."""
        folder = self._folder("pseudonym")
        epochs = self.pseudonym_epochs(tenant)
        if not epochs and not make:
            raise KeyringError(
                "there is no pseudonym key for this tenant", code="keyring.no_pseudonym_key", where=str(folder),
                next_step="point OTELREPLAY_KEYS to the folder that holds it",
            )  # fmt: skip
        epoch = epochs[-1] if epochs else 1
        path = self._pseudonym_path(tenant, epoch)
        if not epochs:
            self._publish(path, base64.b64encode(secrets.token_bytes(_KEY_BYTES)) + b"\n")
        return epoch, self._key(path)

    def pseudonym_key_of(self, epoch: int, tenant: str = "") -> bytes:
        """The key of an epoch that :meth:`pseudonym_epochs` gives."""
        return self._key(self._pseudonym_path(tenant, epoch))

    def pseudonym_epochs(self, tenant: str = "") -> tuple[int, ...]:
        """Epochs of which a key is here, rising."""
        name = _tenant(tenant)
        found = self._folder("pseudonym").glob(f"{name}.*.key")
        return tuple(sorted(int(text) for path in found if (text := path.name.split(".")[1]).isdecimal() and text.isascii()))

    def rotate_pseudonym_key(self, tenant: str = "") -> tuple[int, bytes]:
        """Begin the next epoch. Pseudonyms of the same value differ between epochs."""
        epoch, _ = self.pseudonym_key(tenant)
        self._publish(self._pseudonym_path(tenant, epoch + 1), base64.b64encode(secrets.token_bytes(_KEY_BYTES)) + b"\n")
        return self.pseudonym_key(tenant)

    def _pseudonym_path(self, tenant: str, epoch: int) -> Path:
        return self._folder("pseudonym") / f"{_tenant(tenant)}.{epoch}.key"

    # --- files --------------------------------------------------------------------------------------------------------

    def _folder(self, name: str) -> Path:
        path = self.folder / name
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.mkdir(mode=0o700, exist_ok=True)
            self._check_mode(self.folder, self.folder.stat(), others=0o022)
            self._check_mode(path, path.stat())
        except OSError as error:
            raise self._unusable(path, error) from None
        return path

    def _read(self, path: Path) -> bytes:
        try:
            with path.open("rb") as file:
                self._check_mode(path, os.fstat(file.fileno()))
                return file.read(4096)
        except OSError as error:
            raise self._unusable(path, error) from None

    def _key(self, path: Path) -> bytes:
        try:
            key = base64.b64decode(self._read(path).removesuffix(b"\n"), validate=True)
        except binascii.Error:
            key = b""
        if len(key) != _KEY_BYTES:
            raise self._corrupt(path, "it holds no key")
        return key

    def _publish(self, path: Path, content: bytes) -> None:
        """Give ``path`` this content unless it has one already."""
        temporary = self._temporary(path, content)
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
        except OSError as error:
            raise self._unusable(path, error) from None
        finally:
            temporary.unlink(missing_ok=True)

    def _replace(self, path: Path, content: bytes) -> None:
        temporary = self._temporary(path, content)
        try:
            temporary.replace(path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise self._unusable(path, error) from None

    def _temporary(self, path: Path, content: bytes) -> Path:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        try:
            number = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(number, "wb") as file:  # noqa: PTH123 - of a descriptor
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise self._unusable(path, error) from None
        return temporary

    def _check_mode(self, path: Path, status: os.stat_result, others: int = 0o077) -> None:
        if not _POSIX:
            return
        if status.st_uid not in self._owners():
            raise KeyringError(
                "it belongs to another user", code="keyring.foreign", where=str(path), next_step="use a folder of your own"
            )
        if stat.S_IMODE(status.st_mode) & others:
            mode = "700" if stat.S_ISDIR(status.st_mode) else "600"
            raise KeyringError(
                "others may read or change it", code="keyring.permissions", where=str(path), next_step=f"run chmod {mode} on it"
            )

    def _owners(self) -> set[int]:
        return {os.geteuid(), 0}

    def _unusable(self, path: Path, error: OSError) -> KeyringError:
        return KeyringError(
            f"the keyring cannot be used ({error.strerror})", code="keyring.unusable", where=str(path),
            next_step=f"make it readable and writable for you, or set {ENVIRONMENT}",
        )  # fmt: skip

    def _corrupt(self, path: Path, why: str) -> KeyringError:
        return KeyringError(
            f"the key file is damaged: {why}", code="keyring.corrupt", where=str(path), next_step="restore it from a backup"
        )


def _tenant(tenant: str) -> str:
    """Tenants are named by whoever runs the receiver: a digest keeps the name out of file names."""
    return sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def public_text(public: bytes) -> str:
    """A public key as one line."""
    return PUBLIC_PREFIX + base64.b64encode(public).decode()


def parse_public(text: str) -> bytes:
    """Inverse of :func:`public_text`; raises KeyringError."""
    try:
        public = base64.b64decode(text.strip().removeprefix(PUBLIC_PREFIX), validate=True)
    except ValueError:
        public = b""
    if not is_public_key(public) or public_text(public) != text.strip():
        raise KeyringError(
            "this is not a public key of otelreplay", code="keyring.not_a_public_key",
            next_step="give the one line that `otelreplay keys export` prints",
        )  # fmt: skip
    return public
