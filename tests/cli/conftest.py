"""A desk to work at."""

import importlib

import pytest

from tests.cli.command import Desk

for part in (
    "cli.main",
    "wiring.converting",
    "wiring.reading",
    "report.cassette",
    "report.verification",
    "report.event",
    "report.policy",
):
    importlib.import_module(f"otelreplay.{part}")  # once, for all processes that are forked from this one


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)
