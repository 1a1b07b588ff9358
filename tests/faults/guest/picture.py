# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on a node: all that a transaction may change, as one JSON document."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import stat
import subprocess
import sys
from typing import Any

FOLDERS = ("/etc", "/var/lib/kubelet")
LEFT_OUT = ("/var/lib/kubelet/pods",)
"""Volumes and logs, made anew with each pod."""

HALF_WRITTEN = re.compile(r"/var/lib/kubelet/[.][0-9]+")
"""A checkpoint that kubelet was writing when it was stopped. It reads no such file (util/store/filestore.go)."""

CHECKPOINTS = ("cpu_manager_state", "memory_manager_state")
STATE = "/var/lib/volcano-colocation"
ENDS = ("committed", "rolled-back", "rollback-failed")
SERVICES = ("kubelet.service", "containerd.service")
PROPERTIES = ("LoadState", "ActiveState", "SubState", "UnitFileState")
UNIT_FOLDERS = ("/etc/systemd", "/run/systemd/system", "/run/systemd/transient")
AT_WORK = "active,activating,deactivating,reloading,failed"
CONTAINER = re.compile(r"[0-9a-f]{64}")


def described(path: str) -> str:
    """Type, mode, owner, and what a link or a file holds."""
    found = os.lstat(path)
    what = ""
    if stat.S_ISLNK(found.st_mode):
        what = os.readlink(path)
    elif stat.S_ISREG(found.st_mode):
        with open(path, "rb") as stream:
            what = hashlib.sha256(stream.read()).hexdigest()
    return f"{stat.filemode(found.st_mode)} {found.st_uid}:{found.st_gid} {what}".rstrip()


def tree() -> dict[str, str]:
    found = {}
    for top in FOLDERS:
        for folder, folders, names in os.walk(top):
            folders[:] = [name for name in folders if os.path.join(folder, name) not in LEFT_OUT]
            for name in (*folders, *names):
                path = os.path.join(folder, name)
                if HALF_WRITTEN.fullmatch(path):
                    continue
                try:
                    found[path] = described(path)
                except FileNotFoundError:
                    continue
    return found


def checkpoints() -> dict[str, str]:
    """Policy that each of kubelet's checkpoints names."""
    found = {}
    for name in CHECKPOINTS:
        try:
            with open(f"/var/lib/kubelet/{name}") as stream:
                found[name] = json.load(stream).get("policyName", "")
        except (FileNotFoundError, ValueError):
            continue
    return found


def systemctl(*arguments: str) -> list[str]:
    done = subprocess.run(["systemctl", *arguments], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.split("\n")


def units() -> dict[str, str]:
    """State of the services, and what has failed."""
    found = {
        unit: " ".join(line for line in systemctl("show", "--property", ",".join(PROPERTIES), unit) if line)
        for unit in SERVICES
    }
    failed = systemctl("list-units", "--plain", "--no-legend", "--failed")
    found["failed units"] = " ".join(sorted(line.split()[0] for line in failed if line.split()))
    return found


def pods() -> list[str]:
    """Cgroup path of each container's first process, with its id left out."""
    found: set[str] = set()
    for path in glob.glob("/proc/[0-9]*/cgroup"):
        try:
            with open(path) as stream:
                lines = stream.read().splitlines()
        except OSError:
            continue
        found.update(line.split(":", 2)[2] for line in lines if CONTAINER.search(line))
    # Sandbox and container of a pod come out alike, and count as two.
    return sorted(CONTAINER.sub("ID", path) for path in found)


def ours() -> list[str]:
    """What of the collection's is in systemd's folders or runs."""
    found = [
        os.path.join(folder, name)
        for top in UNIT_FOLDERS
        for folder, folders, names in os.walk(top)
        for name in (*folders, *names)
        if name.startswith("volcano-colocation")
    ]
    # One that ran at boot stays known to systemd, as inactive, without its file.
    running = systemctl("list-units", "--plain", "--no-legend", f"--state={AT_WORK}", "volcano-colocation-*")
    return sorted({*found, *(line.split()[0] for line in running if line.split())})


def journals() -> list[dict[str, Any]]:
    found = []
    for path in sorted(glob.glob(f"{STATE}/transactions/*/journal.json")):
        with open(path) as stream:
            found.append(json.load(stream))
    return found


def main() -> None:
    known = journals()
    committed = [journal for journal in known if journal["state"] == "committed"]
    planned = committed[-1]["plan"]["files"] if committed else []
    document = {
        "files": tree(),
        "checkpoints": checkpoints(),
        "units": units(),
        "pods": pods(),
        "ours": ours(),
        "unfinished": [journal["id"] for journal in known if journal["state"] not in ENDS],
        "planned": {each["path"]: each.get("after_sha256") for each in planned},
    }
    sys.stdout.write(json.dumps(document))


if __name__ == "__main__":
    main()
