# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""moments.py NODE DRIVER DIRECTORY MOMENT: bring a lab node to a moment and write its record to DIRECTORY.

``aligned``: no action. ``disturbed``: after actions that reset settings which only the kernel's files have.
``rebooted``: after a reboot. What runs on the node comes by ssh as one program each time: a task of Ansible takes an
emulated node five seconds of CPU time, most of them to start Python and to import what modules need.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
LAB = PROJECT / "tests" / "lab"
RECORD = Path(__file__).with_name("record.py")
AWAIT_KUBELET = PROJECT / "tests" / "system" / "await_kubelet.py"
SLICES = {"systemd": ("system.slice", "kubepods.slice"), "cgroupfs": ("system.slice",)}
"""Slices for which systemd has settings."""


def lab(*arguments: str, text: str | None = None) -> str:
    """A lab command's output; its progress goes to standard error, ``text`` to its input."""
    return subprocess.run(
        [sys.executable, str(LAB), *arguments], check=True, stdout=subprocess.PIPE, text=True, input=text
    ).stdout


def disturb(node: str, driver: str) -> None:
    """Reload systemd, set another property of its slices, let kubelet write its QoS classes, restart kubelet."""
    commands = [
        "systemctl daemon-reload",
        *(f"systemctl set-property --runtime {name} TasksMax=20000" for name in SLICES[driver]),
        f"python3 - {driver}",
        "systemctl restart kubelet",
    ]
    print(lab("ssh", node, "--", " && ".join(commands), text=AWAIT_KUBELET.read_text()), end="")


def main(node: str, driver: str, directory: str, moment: str) -> None:
    done = json.loads((Path(directory) / f"done-{node}.json").read_text())
    if moment == "disturbed":
        disturb(node, driver)
    if moment == "rebooted":
        lab("reboot", node)
    files = " ".join(entry["after_header"] for entry in done["diff"])
    when = "now" if moment == "aligned" else "stable"
    record = json.loads(lab("ssh", node, "--", f"python3 - {when} {files}", text=RECORD.read_text()))
    path = Path(directory) / f"evidence-{moment}.json"
    path.write_text(json.dumps({"node": node, "driver": driver, **record}))


if __name__ == "__main__":
    main(*sys.argv[1:])
