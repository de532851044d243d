"""``otelreplay serve`` as a process of its own."""

import contextlib
import os
import re
import signal
import subprocess
import sys

READY = re.compile(r"ready: grpc 127\.0\.0\.1:(\d+) and http 127\.0\.0\.1:(\d+) -> ")


class Served:
    """A serving process; ``grpc`` and ``http`` are its ports."""

    def __init__(self, store, *options, keys, environment=None):
        command = [sys.executable, "-m", "otelreplay", "serve", "--store", str(store)]
        command += ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", *map(str, options)]
        env = {**os.environ, "OTELREPLAY_KEYS": str(keys), **(environment or {})}
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.line = self.child.stdout.readline()
        found = READY.match(self.line)
        assert found, (self.line, self.child.communicate(timeout=30))
        self.grpc, self.http = int(found[1]), int(found[2])

    def end(self, number=signal.SIGTERM):
        """(exit code, stdout, stderr) after a signal."""
        self.child.send_signal(number)
        out, err = self.child.communicate(timeout=120)
        return self.child.returncode, self.line + out, err


@contextlib.contextmanager
def serving_process(store, *options, keys, environment=None):
    """A process that is gone at the end, whatever happens."""
    served = Served(store, *options, keys=keys, environment=environment)
    try:
        yield served
    finally:
        if served.child.poll() is None:
            served.child.kill()
        served.child.communicate()
