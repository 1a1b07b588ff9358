# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choosing KVM where it works, and emulation elsewhere.

A machine may have ``/dev/kvm`` and create a VM and its CPU, but fail to run guest code (``KVM internal error.
Suberror: 1`` under a nested hypervisor). The probe therefore boots a kernel until its first line.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import IO

from .requirements import QEMU, need

PROBE_SECONDS = 10.0
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Accelerator(str, Enum):
    KVM = "kvm"
    TCG = "tcg"

    @property
    def arguments(self) -> tuple[str, ...]:
        """QEMU's arguments.

        Emulation in QEMU 7.2 corrupts flags in ``cmpxchg16b``, which makes Debian's kernels panic; a CPU without that
        instruction boots them. Newer models have AVX, slower under emulation than the code of Go and glibc without it.

        All CPUs of an emulated node share one thread. With one thread for each CPU, a CPU sometimes never woke up
        again, mostly at boot, and two nodes on two CPUs took longer.
        """
        if self is Accelerator.KVM:
            return ("-accel", "kvm", "-cpu", "host")
        return ("-accel", "tcg,thread=single,tb-size=512", "-cpu", "Nehalem,-cx16,+rdrand")


def choose(cache: Path, kernel: Path, device: Path = Path("/dev/kvm")) -> Accelerator:
    """The accelerator for this boot of the host and this kernel; the result of the probe is stored in ``cache``."""
    if not has_device(device):
        return Accelerator.TCG
    engine_name = remember(cache, kernel, lambda: (Accelerator.KVM if _boots(kernel) else Accelerator.TCG).value)
    return Accelerator(engine_name) if engine_name in set(Accelerator) else Accelerator.TCG


def has_device(device: Path = Path("/dev/kvm")) -> bool:
    """True when this user can open the KVM device."""
    return os.access(device, os.R_OK | os.W_OK)


def remember(cache: Path, kernel: Path, probe: Callable[[], str]) -> str:
    """The result of ``probe`` for a kernel on this boot of the host; the probe runs once for each kernel."""
    status = kernel.stat()
    key = f"{kernel} {status.st_size} {status.st_mtime_ns}"
    memory = cache / f"engines-{BOOT_ID.read_text().strip()}.json"
    known = _load_memory(memory)
    if key not in known:
        known[key] = probe()
        partial = memory.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        partial.write_text(json.dumps(known) + "\n")
        partial.rename(memory)
    return known[key]


def _load_memory(memory: Path) -> dict[str, str]:
    """Kernel to probe result; empty when the file is missing or malformed."""
    try:
        known = json.loads(memory.read_text())
        return {str(key): str(value) for key, value in known.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def speaks(argv: Sequence[str], words: tuple[bytes, ...], environment: Mapping[str, str] | None = None) -> bool:
    """True when a kernel started with ``argv`` prints the first of ``words`` before another one or the timeout."""
    with subprocess.Popen(
        argv,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
        start_new_session=True,
    ) as kernel:
        try:
            assert kernel.stdout is not None
            return words[0] in _read_until(kernel.stdout, words)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(kernel.pid, signal.SIGKILL)


def _boots(kernel: Path) -> bool:
    argv = [need(QEMU), *Accelerator.KVM.arguments, "-m", "256", "-nodefaults", "-display", "none", "-no-reboot"]
    argv += ["-serial", "stdio", "-kernel", str(kernel), "-append", "console=ttyS0 panic=-1"]
    return speaks(argv, (b"Linux version", b"KVM internal error"))


def _read_until(stream: IO[bytes], words: tuple[bytes, ...]) -> bytes:
    """The program's output until one of ``words``, its end, or the timeout."""
    output = b""
    deadline = time.monotonic() + PROBE_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while not any(word in output for word in words):
            if not selector.select(max(0.0, deadline - time.monotonic())):
                break
            block = stream.read(4096)
            if not block:
                break
            output += block
    return output
