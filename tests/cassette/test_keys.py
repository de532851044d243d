"""Keys: named, trusted, kept, and never shown."""

import base64
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from otelreplay.cassette.keyring import Keyring, default_folder, parse_public, public_text
from otelreplay.cassette.keys import Signer, TrustStore, key_id, signature_holds
from otelreplay.errors import KeyringError

SEED = bytes(range(32))


@pytest.fixture
def ring(tmp_path):
    return Keyring(tmp_path / "keys")


def files(folder):
    return sorted(p for p in folder.rglob("*") if p.is_file())


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# --- pure ---------------------------------------------------------------------------------------------------------------


def test_a_signature_is_the_one_that_rfc_8032_defines():
    """Test vector 2 of section 7.1."""
    signer = Signer(bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))
    assert signer.public.hex() == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    assert signer.sign(b"\x72").hex() == (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )


def test_a_signature_holds_for_its_key_and_its_bytes_only():
    signer, other = Signer(SEED), Signer(bytes(32))
    made = signer.sign(b"x")
    assert signature_holds(signer.public, b"x", made)
    for public, data, signature in [(other.public, b"x", made), (signer.public, b"y", made), (signer.public, b"x", made[:-1]),
                                    (b"short", b"x", made)]:  # fmt: skip
        assert not signature_holds(public, data, signature)


@pytest.mark.parametrize("sign", [0, 0x80])
@pytest.mark.parametrize("point", ["00" * 32, "01" + "00" * 31, "ec" + "ff" * 30 + "7f", "ee" + "ff" * 30 + "7f"])
def test_a_key_under_which_anybody_can_sign_is_none(point, sign):
    """Points of small order: zeros are a signature under some of them, over any bytes."""
    public = bytearray.fromhex(point)
    public[31] |= sign
    assert not signature_holds(bytes(public), b"x", bytes(64))
    with pytest.raises(KeyringError, match=r"keyring\.not_a_public_key"):
        parse_public(public_text(bytes(public)))


def test_a_signer_shows_its_name_and_not_its_key():
    signer = Signer(SEED)
    assert repr(signer) == f"Signer({key_id(signer.public)})"
    with pytest.raises(ValueError, match="32 bytes"):
        Signer(b"short")


def test_trust_is_in_whole_keys():
    one, other = Signer(SEED).public, Signer(bytes(32)).public
    trust = TrustStore([one])
    assert (one in trust, other in trust, len(trust), trust.ids()) == (True, False, 1, (key_id(one),))
    assert other in trust.adding(other)
    assert other not in trust


# --- the folder ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "environ", "expected"),
    [
        ("linux", {"OTELREPLAY_KEYS": "/k", "XDG_CONFIG_HOME": "/c"}, "/k"),
        ("linux", {"OTELREPLAY_KEYS": "", "XDG_CONFIG_HOME": "/c"}, "/c/otelreplay/keys"),
        ("linux", {"XDG_CONFIG_HOME": "relative"}, "/users/u/.config/otelreplay/keys"),
        ("linux", {}, "/users/u/.config/otelreplay/keys"),
        ("darwin", {}, "/users/u/Library/Application Support/otelreplay/keys"),
        ("win32", {}, "/users/u/AppData/Roaming/otelreplay/keys"),
        ("win32", {"APPDATA": "/roam"}, "/roam/otelreplay/keys"),
    ],
)
def test_the_folder_is_the_one_asked_for_or_the_users(monkeypatch, platform, environ, expected):
    monkeypatch.setattr(sys, "platform", platform)
    assert default_folder(environ, Path("/users/u")) == Path(expected)


def test_nothing_is_made_before_it_is_asked_for(ring):
    assert not ring.folder.exists()


def test_the_signing_key_is_made_once_and_kept(ring):
    assert ring.signer().key_id == ring.signer().key_id == Keyring(ring.folder).signer().key_id


def test_keys_are_for_the_owner_only_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        ring = Keyring(tmp_path / "a" / "keys")
        ring.signer()
        ring.pseudonym_key("t")
    finally:
        os.umask(before)
    assert {mode(path) for path in files(ring.folder)} == {0o600}
    assert {mode(path) for path in (ring.folder, *ring.folder.iterdir())} == {0o700}


def test_the_own_key_is_trusted_from_the_start_and_after_rotation(ring):
    first = ring.signer()
    second = ring.rotate()
    assert first.key_id != second.key_id == ring.signer().key_id
    assert set(ring.trust_store().ids()) == {first.key_id, second.key_id}


def test_an_exported_key_is_trusted_elsewhere(ring, tmp_path):
    elsewhere = Keyring(tmp_path / "other")
    assert ring.signer().public not in elsewhere.trust_store()
    assert elsewhere.trust(ring.export() + "\n") == elsewhere.trust(ring.export()) == ring.signer().key_id
    assert ring.signer().public in elsewhere.trust_store()
    assert elsewhere.signer().public in elsewhere.trust_store()
    assert base64.b64encode(SEED).decode() not in ring.export()


@pytest.mark.parametrize(
    "text", ["", "x", "otelreplay-public-key-1 ", "otelreplay-public-key-1 AAAA", base64.b64encode(SEED).decode(), "é",
             public_text(SEED)[:-2] + "9=", public_text(SEED) + " x"],
)  # fmt: skip
def test_another_text_is_no_public_key(text):
    with pytest.raises(KeyringError, match=r"keyring\.not_a_public_key"):
        parse_public(text)


def test_a_pseudonym_key_belongs_to_a_tenant_and_an_epoch(ring):
    epoch, key = ring.pseudonym_key("one")
    assert (epoch, len(key), ring.pseudonym_key("one")) == (1, 32, (1, key))
    assert ring.pseudonym_key("two")[1] != key
    assert ring.pseudonym_key()[1] != key
    newer = ring.rotate_pseudonym_key("one")
    assert (newer[0], newer == ring.pseudonym_key("one"), newer[1] != key) == (2, True, True)
    assert (ring.pseudonym_epochs("one"), ring.pseudonym_epochs("two")) == ((1, 2), (1,))


def test_a_tenant_is_no_part_of_a_path(ring):
    ring.pseudonym_key("../../etc/\ud83e")
    assert {path.parent for path in files(ring.folder)} == {ring.folder / "pseudonym"}


def test_a_missing_pseudonym_key_is_not_made_where_it_must_be_there(ring):
    with pytest.raises(KeyringError, match=r"keyring\.no_pseudonym_key"):
        ring.pseudonym_key("one", make=False)
    assert ring.pseudonym_key("one") == ring.pseudonym_key("one", make=False)


MAKE = """
import sys
from pathlib import Path
from otelreplay.cassette.keyring import Keyring
ring = Keyring(Path(sys.argv[1]))
sys.stdin.readline()
print(ring.signer().key_id, ring.pseudonym_key("t")[1].hex())
"""


def test_processes_that_make_a_key_at_once_end_with_the_same_one(ring):
    """And no key of the losers stays behind."""
    command = [sys.executable, "-c", MAKE, str(ring.folder)]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    found = {process.communicate()[0] for process in started}
    assert found == {f"{ring.signer().key_id} {ring.pseudonym_key('t')[1].hex()}\n"}
    assert len(files(ring.folder)) == 3


def test_whoever_loses_the_race_takes_the_winners_key(ring, monkeypatch):
    """The other process comes between making the key and making it the current one."""
    made = Keyring._new_signing_key

    def late(self):
        monkeypatch.setattr(Keyring, "_new_signing_key", made)
        name = made(self)
        winners.append(Keyring(ring.folder).signer().key_id)
        return name

    winners = []
    monkeypatch.setattr(Keyring, "_new_signing_key", late)
    assert [ring.signer().key_id] == winners
    assert len(list((ring.folder / "signing").glob("*.key"))) == 1


# --- what can be wrong with it --------------------------------------------------------------------------------------------


def refused(code, call):
    """The error with this code, which shows no key."""
    with pytest.raises(KeyringError) as caught:
        call()
    assert caught.value.code == code
    assert caught.value.where
    return str(caught.value)


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o660])
def test_a_key_that_others_may_read_is_refused(ring, bits):
    ring.signer()
    path = next((ring.folder / "signing").glob("*.key"))
    path.chmod(bits)
    for call in (ring.signer, ring.trust_store, ring.rotate, ring.export):
        assert "chmod 600" in refused("keyring.permissions", call)


@pytest.mark.parametrize("folder", [".", "signing"])
def test_a_folder_that_others_may_change_is_refused(ring, folder):
    ring.signer()
    (ring.folder / folder).chmod(0o777)
    assert "chmod 700" in refused("keyring.permissions", ring.signer)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"not a key", b"A" * 44, base64.b64encode(bytes(31)) + b"\n", base64.b64encode(bytes(33)),
                b"\xff" * 44, b"\n" + base64.b64encode(SEED), base64.b64encode(SEED) + b"\n\n"],
)  # fmt: skip
def test_a_damaged_key_is_refused_and_not_shown(ring, content):
    ring.signer()
    ring.pseudonym_key()
    for path in files(ring.folder):
        if path.suffix == ".key":
            path.write_bytes(content)
    for call in (ring.signer, ring.pseudonym_key, ring.trust_store):
        assert "not a key" not in refused("keyring.corrupt", call)


def test_a_key_under_the_name_of_another_is_refused(ring):
    ring.signer()
    path = next((ring.folder / "signing").glob("*.key"))
    path.write_bytes(base64.b64encode(SEED) + b"\n")
    assert base64.b64encode(SEED).decode() not in refused("keyring.corrupt", ring.signer)


@pytest.mark.parametrize("content", [b"", b"../../x", b"\xff"])
def test_a_damaged_name_of_the_current_key_is_refused(ring, content):
    ring.signer()
    (ring.folder / "signing" / "current").write_bytes(content)
    refused("keyring.corrupt", ring.signer)


def test_a_damaged_trusted_key_is_refused(ring, tmp_path):
    name = ring.trust(Keyring(tmp_path / "other").export())
    path = ring.folder / "trusted" / f"{name}.pub"
    good = path.read_bytes()
    path.write_bytes(b"x")
    refused("keyring.corrupt", ring.trust_store)
    path.write_bytes(good)
    path.rename(path.with_name("0" * 32 + ".pub"))
    refused("keyring.corrupt", ring.trust_store)


def test_a_key_that_is_gone_is_said_to_be_so(ring):
    ring.signer()
    next((ring.folder / "signing").glob("*.key")).unlink()
    refused("keyring.unusable", ring.signer)


def test_a_keyring_where_a_file_is_in_the_way_is_unusable(tmp_path):
    (tmp_path / "file").write_text("")
    assert "OTELREPLAY_KEYS" in refused("keyring.unusable", Keyring(tmp_path / "file").signer)


def test_a_folder_of_another_user_is_refused(ring, monkeypatch):
    ring.signer()
    monkeypatch.setattr(os, "geteuid", lambda: ring.folder.stat().st_uid + 1)
    if ring.folder.stat().st_uid == 0:
        monkeypatch.setattr(Keyring, "_owners", lambda self: {1})
    refused("keyring.foreign", ring.signer)


@pytest.mark.parametrize(("name", "call"), [("link", "signer"), ("fsync", "signer"), ("replace", "rotate")])
def test_a_disk_that_fails_leaves_no_half_key(ring, monkeypatch, name, call):
    ring.signer() if call == "rotate" else None

    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    before = files(ring.folder) if ring.folder.exists() else []
    monkeypatch.setattr(Path if name == "replace" else os, name, fail)
    refused("keyring.unusable", getattr(ring, call))
    monkeypatch.undo()
    assert not [path for path in files(ring.folder) if path.name.endswith(".tmp")]
    assert ring.signer().key_id
    assert set(before) <= set(files(ring.folder))
