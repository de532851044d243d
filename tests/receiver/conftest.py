"""Keys of its own for every test, and a receiver for those that change nothing about it."""

import pytest

from tests.receiver.posts import served


@pytest.fixture(autouse=True)
def own_keys(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("OTELREPLAY_KEYS", str(tmp_path_factory.mktemp("keys")))


@pytest.fixture
def post(tmp_path):
    with served(tmp_path / "store") as found:
        yield found
