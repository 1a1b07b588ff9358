# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""KVM where it truly works, emulation elsewhere.

A machine may have ``/dev/kvm``, let a VM and its CPU be created, and still not run guest code (``KVM internal error.
Suberror: 1`` was seen under a nested hypervisor). So the probe boots a kernel until its first line.
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

        QEMU 7.2 corrupts flags in ``cmpxchg16b`` when it emulates, and Debian's kernels panic on it; a CPU without that
        instruction boots them. AVX, which newer models have, is slower than what Go and glibc do without it.

        All CPUs of an emulated node share a thread. With one each a CPU now and then never woke up again, at boot above
        all, and two nodes beside each other on two CPUs took longer, not less.
        """
        if self is Accelerator.KVM:
            return ("-accel", "kvm", "-cpu", "host")
        return ("-accel", "tcg,thread=single,tb-size=512", "-cpu", "Nehalem,-cx16,+rdrand")


def choose(cache: Path, kernel: Path, device: Path = Path("/dev/kvm")) -> Accelerator:
    """The accelerator for this boot of the host and this kernel; what the probe finds is kept in ``cache``."""
    if not has_device(device):
        return Accelerator.TCG
    engine_name = remember(cache, kernel, lambda: (Accelerator.KVM if _boots(kernel) else Accelerator.TCG).value)
    return Accelerator(engine_name) if engine_name in set(Accelerator) else Accelerator.TCG


def has_device(device: Path = Path("/dev/kvm")) -> bool:
    """Whether KVM is worth a probe."""
    return os.access(device, os.R_OK | os.W_OK)


def remember(cache: Path, kernel: Path, probe: Callable[[], str]) -> str:
    """What ``probe`` found of a kernel on this boot of the host; it runs once for each."""
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
    """Kernel to finding; empty when nothing sensible is remembered."""
    try:
        known = json.loads(memory.read_text())
        return {str(key): str(value) for key, value in known.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def speaks(argv: Sequence[str], words: tuple[bytes, ...], environment: Mapping[str, str] | None = None) -> bool:
    """Whether a kernel that is started so prints the first of ``words`` before another one or the end of patience."""
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
    """What the program says until one of ``words``, its end, or the end of patience."""
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
