"""What a figure was measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def describe() -> str:
    """Processor, cores, memory, system and Python in one line; nothing that names the machine."""
    return (
        f"{_processor()}, {os.cpu_count()} cores, {_memory():.0f} GiB, {platform.system()} {platform.release().split('-')[0]},"
        f" {platform.python_implementation()} {platform.python_version()}"
    )


def load() -> str:
    """The load averages. Above the number of cores, wall-clock figures say little; processor time still does."""
    return " ".join(f"{each:.1f}" for each in os.getloadavg())


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory() -> float:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30)
