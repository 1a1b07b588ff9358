# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on a node: prints everything that a transaction may change as one JSON document."""

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

DIRECTORIES = ("/etc", "/var/lib/kubelet")
LEFT_OUT = ("/var/lib/kubelet/pods",)
"""Volumes and logs, which each new pod creates again."""

HALF_WRITTEN = re.compile(r"/var/lib/kubelet/[.][0-9]+")
"""A checkpoint that kubelet was writing when it stopped. kubelet does not read these (util/store/filestore.go)."""

CHECKPOINTS = ("cpu_manager_state", "memory_manager_state")
STATE = "/var/lib/volcano-colocation"
ENDS = ("committed", "rolled-back", "rollback-failed")
SERVICES = ("kubelet.service", "containerd.service")
PROPERTIES = ("LoadState", "ActiveState", "SubState", "UnitFileState")
UNIT_DIRECTORIES = ("/etc/systemd", "/run/systemd/system", "/run/systemd/transient")
AT_WORK = "active,activating,deactivating,reloading,failed"
CONTAINER = re.compile(r"[0-9a-f]{64}")


def described(path: str) -> str:
    """Return type, mode, owner, and the target of a link or hash of a file."""
    status = os.lstat(path)
    what = ""
    if stat.S_ISLNK(status.st_mode):
        what = os.readlink(path)
    elif stat.S_ISREG(status.st_mode):
        with open(path, "rb") as stream:
            what = hashlib.sha256(stream.read()).hexdigest()
    return f"{stat.filemode(status.st_mode)} {status.st_uid}:{status.st_gid} {what}".rstrip()


def tree() -> dict[str, str]:
    entries = {}
    for top in DIRECTORIES:
        for directory, directories, names in os.walk(top):
            directories[:] = [name for name in directories if os.path.join(directory, name) not in LEFT_OUT]
            for name in (*directories, *names):
                path = os.path.join(directory, name)
                if HALF_WRITTEN.fullmatch(path):
                    continue
                try:
                    entries[path] = described(path)
                except FileNotFoundError:
                    continue
    return entries


def checkpoints() -> dict[str, str]:
    """Return the policy in each of kubelet's checkpoints."""
    policies = {}
    for name in CHECKPOINTS:
        try:
            with open(f"/var/lib/kubelet/{name}") as stream:
                policies[name] = json.load(stream).get("policyName", "")
        except (FileNotFoundError, ValueError):
            continue
    return policies


def systemctl(*arguments: str) -> list[str]:
    done = subprocess.run(["systemctl", *arguments], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.split("\n")


def units() -> dict[str, str]:
    """Return the state of the services, and the failed units."""
    states = {
        unit: " ".join(line for line in systemctl("show", "--property", ",".join(PROPERTIES), unit) if line)
        for unit in SERVICES
    }
    failed = systemctl("list-units", "--plain", "--no-legend", "--failed")
    states["failed units"] = " ".join(sorted(line.split()[0] for line in failed if line.split()))
    return states


def pods() -> list[str]:
    """Return the cgroup path of each container, without ids."""
    paths: set[str] = set()
    for path in glob.glob("/proc/[0-9]*/cgroup"):
        try:
            with open(path) as stream:
                lines = stream.read().splitlines()
        except OSError:
            continue
        paths.update(line.split(":", 2)[2] for line in lines if CONTAINER.search(line))
    # Sandbox and container of a pod give equal paths, and count as two.
    return sorted(CONTAINER.sub("ID", path) for path in paths)


def managed_units() -> list[str]:
    """Return units of the collection that are in systemd's directories or run."""
    files = [
        os.path.join(directory, name)
        for top in UNIT_DIRECTORIES
        for directory, directories, names in os.walk(top)
        for name in (*directories, *names)
        if name.startswith("volcano-colocation")
    ]
    # systemd still lists a unit that ran at boot, as inactive, without its file.
    running = systemctl("list-units", "--plain", "--no-legend", f"--state={AT_WORK}", "volcano-colocation-*")
    return sorted({*files, *(line.split()[0] for line in running if line.split())})


def journals() -> list[dict[str, Any]]:
    documents = []
    for path in sorted(glob.glob(f"{STATE}/transactions/*/journal.json")):
        with open(path) as stream:
            documents.append(json.load(stream))
    return documents


def main() -> None:
    known = journals()
    committed = [journal for journal in known if journal["state"] == "committed"]
    planned = committed[-1]["plan"]["files"] if committed else []
    document = {
        "files": tree(),
        "checkpoints": checkpoints(),
        "units": units(),
        "pods": pods(),
        "ours": managed_units(),
        "unfinished": [journal["id"] for journal in known if journal["state"] not in ENDS],
        "planned": {file["path"]: file.get("after_sha256") for file in planned},
    }
    sys.stdout.write(json.dumps(document))


if __name__ == "__main__":
    main()
