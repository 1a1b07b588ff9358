# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay that new nodes copy: that of a node that has booted once and imported its container images."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

from .. import process
from ..cache import Cache, Recipe
from ..errors import LabError
from ..initrd import node_part
from ..kernel_line import COMMON
from ..machine import INITRD, PID, SERIAL_LOG, Machine
from ..progress import Progress
from ..store import gateway
from . import machine as uml

UNIT = "systemd.unit=lab-seed.service"
COMPLETE = "lab: the seed is complete"
SUBNET = 250
"""No node uses this subnet; machines have separate networks."""

TIMEOUT = 300.0


def obtain(cache: Cache, kernel: Path, initial: Path, base: Path) -> Path:
    """The overlay of ``base``, made by one boot without kubelet unless the cache has it."""
    # The overlay identifies its base by path and time.
    parts = (str(kernel), str(initial), str(base), str(base.stat().st_mtime_ns), UNIT)
    progress = Progress(f"{base.parent.name} seed")

    def build(directory: Path, _log: Path) -> None:
        identity = str(uuid.uuid4())
        seed = Machine("seed", identity, directory, kernel, " ".join([*COMMON, UNIT]), base, SUBNET, 2, 2048, 1)
        hardware = f"ADDRESS={seed.address}\nGATEWAY={gateway(SUBNET)}\nDEVICE={uml.DEVICE}\nCARD={uml.CARD}\n"
        (directory / INITRD).write_bytes(initial.read_bytes() + node_part(hardware, {"/etc/hostname": "seed\n"}, {}))
        _boot(seed)
        for path in directory.iterdir():
            if path.name != uml.DISK:
                path.unlink()

    return cache.obtain(Recipe("seed", base.parent.name, parts), build, progress) / uml.DISK


def _boot(seed: Machine) -> None:
    """Boot the machine until it ends; LabError with the end of its log when that does not report success."""
    log = seed.directory / SERIAL_LOG
    uml.start(seed)
    deadline = time.monotonic() + TIMEOUT
    try:
        pid = int((seed.directory / PID).read_text())
        while process.is_machine(pid, seed.uuid) and time.monotonic() < deadline:
            time.sleep(0.2)
    finally:
        uml.end(seed.directory, seed.uuid)
    output = log.read_text(errors="replace")
    if COMPLETE not in output:
        raise LabError(f"the seed node did not import its container images: {output[-1000:].strip()}")
