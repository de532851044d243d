"""A desk to work at."""

import pytest

from tests.cli.command import Desk


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)
