"""Makes the shipped trace anew: ``python examples/capture/capture.py`` in an environment with requirements.txt installed.

Starts the scripted provider and the OTLP sink on loopback, runs the support desk against them, and writes what it exported to
``examples/traces/support-desk.jsonl`` and ``.pb``. Needs no key and no network.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import provider
from sink import Sink

HERE = Path(__file__).parent
TRACES = HERE.parent / "traces"


def main() -> None:
    """Run the agent once and keep its telemetry."""
    sink = Sink()
    environment = os.environ | {
        "OPENAI_BASE_URL": f"http://127.0.0.1:{provider.start()}/v1",
        "OPENAI_API_KEY": "none-needed",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{sink.port}",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "span_only",
        "NO_PROXY": "127.0.0.1",
    }
    subprocess.run([sys.executable, str(HERE / "desk.py")], env=environment, check=True, timeout=120)
    (TRACES / "support-desk.jsonl").write_text(sink.json_lines(), encoding="utf-8")
    (TRACES / "support-desk.pb").write_bytes(sink.protobuf())


if __name__ == "__main__":
    main()
