# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image in the agent's place, which says what it was given and answers that it is well; and what it said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ..lab import oci
from .node import ROOT, Node

IMAGE = "docker.io/volcanosh/vc-agent:v1.14.0"
APPLETS = ("cat", "env", "httpd", "id", "ls", "sed", "sh")

AGENT = """\
#!/bin/sh
for word; do
    echo "argument $word"
    case $word in --healthz-port=*) port=${word#*=};; esac
done
echo "user $(id -u)"
env | sed 's/^/environment /'
sed 's/^/mount /' /proc/self/mountinfo
case $CGROUP_DRIVER in systemd) tree=kubepods.slice/kubepods-besteffort.slice;; *) tree=kubepods/besteffort;; esac
for root in "$SYS_FS_PATH/cgroup/cpu" "$SYS_FS_PATH/cgroup"; do
    for pod in "$root/$tree"/*pod*; do [ -d "$pod" ] && echo "pod $pod"; done
done
sed 's/^/kubelet /' "$KUBELET_ROOT_DIR/config.yaml"
trap 'exit 0' TERM
httpd -f -p "$port" -h /www &
wait
"""

INSTALL = """\
#!/bin/sh
echo "user $(id -u)"
ls -d /host/proc/sys/vm && ls -ld /var/log/volcano/agent
"""


def archive(node: Node, path: Path) -> None:
    """Write the image, with the busybox that every node of the lab has."""
    files = (
        oci.File("bin/busybox", _fetched(node, "/usr/bin/busybox")),
        oci.File("vc-agent", AGENT.encode()),
        oci.File("usr/local/bin/install.sh", INSTALL.encode()),
        oci.File("www/healthz", b"ok\n", 0o644),
    )
    links = tuple(oci.Link(f"bin/{applet}", "busybox") for applet in APPLETS)
    path.write_bytes(oci.archive([oci.Image((IMAGE,), files, ("/vc-agent",), links)]))


def _fetched(node: Node, path: str) -> bytes:
    argv = [sys.executable, str(ROOT / "tests" / "lab"), "ssh", node.name, "--", f"cat {path}"]
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout


def said(node: Node, container: str) -> dict[str, list[str]]:
    """{word: what followed it on each line} of a container of the agent's pod, from the runtime's own log."""
    lines = node.shell(f"cat /var/log/pods/volcano-system_volcano-agent-*/{container}/*.log").splitlines()
    found: dict[str, list[str]] = {}
    for line in lines:
        # TIME STREAM TAG TEXT: kubernetes design-proposals/node/kubelet-cri-logging.md
        word, _blank, rest = line.split(" ", 3)[3].partition(" ")
        found.setdefault(word, []).append(rest)
    return found
