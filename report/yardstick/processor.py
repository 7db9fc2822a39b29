"""What the processor is called that figures were measured on."""

import platform
from functools import cache
from pathlib import Path


@cache
def processor_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Its name as the system tells it, or its kind where the system tells no name."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "model name" and value.strip():
            return " ".join(value.split())
    return platform.processor() or platform.machine() or "unknown"
