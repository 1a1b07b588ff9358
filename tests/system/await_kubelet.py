# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""await_kubelet.py DRIVER, on a node: wait until kubelet has written the values of its QoS classes, as each minute.

It changes one value by hand and waits until kubelet restores it: pkg/kubelet/cm/qos_container_manager_linux.go,
UpdateCgroups writes the CPU weight of burstable pods, in kubelet 1.35 every periodicQOSCgroupUpdateInterval of a minute
and whenever a pod's cgroup is made or its containers are killed.
"""

from __future__ import annotations

import os
import sys
import time

PATIENCE = 120.0
CGROUPS = {"systemd": "kubepods.slice/kubepods-burstable.slice", "cgroupfs": "kubepods/burstable"}
FILES = ("/sys/fs/cgroup/{}/cpu.weight", "/sys/fs/cgroup/cpu/{}/cpu.shares")


def read(path: str) -> int:
    with open(path, encoding="utf-8") as file:
        return int(file.read())


def main(driver: str) -> None:
    (path,) = filter(os.path.exists, (name.format(CGROUPS[driver]) for name in FILES))
    own = read(path)
    changed = own + 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(str(changed))
    began = time.monotonic()
    while read(path) == changed:
        if time.monotonic() > began + PATIENCE:
            sys.exit(f"{path} is {changed} after {PATIENCE:.0f} s: kubelet has not written its own value again")
        time.sleep(0.2)
    print(f"{path}: {own}, by hand {changed}, then {read(path)} after {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1])
