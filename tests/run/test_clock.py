"""The wall clock of a program can follow the recording; nothing else of time does."""

import os
import subprocess
import sys

import pytest

from otelreplay.run.following import Told
from tests.run.far import STARTUP

YEAR_2001 = 1_000_000_000 * 10**9  # 2001-09-09T01:46:40Z


@pytest.fixture
def told(tmp_path):
    """The host's end, at a moment of the year 2001."""
    made = Told(tmp_path / "clock", YEAR_2001)
    yield made
    made.close()


def run(tmp_path, text, **more):
    """What a program prints whose clock follows."""
    ours = {
        "PYTHONPATH": str(STARTUP),
        "OTELREPLAY_RUN_STUB": "http://127.0.0.1:9/x",
        "OTELREPLAY_RUN_CLOCK": str(tmp_path / "clock"),
        "TZ": "UTC",
    }
    env = {**os.environ, **ours, **more}
    done = subprocess.run([sys.executable, "-c", text], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


READERS = {
    "time.time": "import time; print(time.gmtime(time.time()).tm_year)",
    "a name for it": "from time import time_ns; print(time_ns() // 10**18)",
    "datetime.now": "from datetime import datetime; print(datetime.now().year)",
    "in a zone": "from datetime import *; print(datetime.now(timezone(timedelta(hours=2))).strftime('%Y-%m-%dT%H'))",
    "utcnow": "import datetime, warnings; warnings.simplefilter('ignore'); print(datetime.datetime.utcnow().year)",
    "datetime.today": "from datetime import datetime; print(datetime.today().year)",
    "date.today": "from datetime import date; print(date.today())",
    "localtime": "import time; print(time.localtime().tm_year, time.gmtime().tm_year, time.ctime()[-4:], time.strftime('%Y'))",
    "clock_gettime": "import time; print(int(time.clock_gettime(time.CLOCK_REALTIME)) // 10**9)",
    "a log record": "import logging; print(logging.makeLogRecord({}).created // 10**9)",
    "a thread": """
import threading, time
thread = threading.Thread(target=lambda: print(int(time.time()) // 10**9))
thread.start()
thread.join()
""",
    "a child": """
import subprocess, sys
print(subprocess.check_output([sys.executable, '-c', 'import time; print(int(time.time()) // 10**9)'], text=True))
""",
}  # fmt: skip
SHOWN = {"in a zone": "2001-09-09T03", "date.today": "2001-09-09", "localtime": "2001 2001 2001 2001", "a log record": "1.0"}
ONES = {"a name for it", "clock_gettime", "a thread", "a child"}


@pytest.mark.parametrize("name", READERS)
def test_whatever_reads_the_wall_clock_reads_the_recorded_one(tmp_path, told, name):
    """The recording's time, and the time since."""
    assert run(tmp_path, READERS[name]) == SHOWN.get(name, "1" if name in ONES else "2001")


def test_the_clock_goes_on_and_follows_what_is_served(tmp_path, told):
    """Real time passes; a later event sets it, an earlier one never turns it back."""
    told.served(YEAR_2001 + 3600 * 10**9)
    told.served(YEAR_2001 + 60 * 10**9)
    text = "import time; a = time.time(); time.sleep(0.01); b = time.time(); print(int(a - 1e9) // 3600, b - a > 0.009)"
    assert run(tmp_path, text) == "1 True"


def test_monotonic_time_and_sleeps_are_the_machine_s(tmp_path, told):
    """Nothing waits longer or shorter."""
    text = (
        "import time; a = time.monotonic(); time.sleep(0.02); print(0.019 < time.monotonic() - a, time.perf_counter() < 10**9)"
    )
    assert run(tmp_path, text) == "True True"


def test_types_stay_what_they_are(tmp_path, told):
    """A moment is a datetime, of the very class that C code makes too; subclasses get instances of their own."""
    text = """
import datetime, json, pickle
from datetime import datetime as D, date
class Mine(D): pass
now = D.now()
print(type(now) is D, type(pickle.loads(pickle.dumps(now))) is D, isinstance(now, date), type(Mine.now()) is Mine,
      type(D.fromisoformat("2020-01-01")) is D, D.__module__, datetime.datetime is D, D.now.__name__, now.tzinfo)
"""
    assert run(tmp_path, text) == "True True True True True datetime True now None"


def test_without_the_option_time_is_the_machine_s(tmp_path):
    """The control."""
    assert int(run(tmp_path, READERS["datetime.now"], OTELREPLAY_RUN_CLOCK="")) >= 2026
