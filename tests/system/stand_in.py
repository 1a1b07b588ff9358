# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image that replaces the agent: it logs its arguments and environment and reports that it is healthy."""

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
    """Write the image, with the busybox of the lab's nodes."""
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


def logged(node: Node, container: str) -> dict[str, list[str]]:
    """Return {first word: rests of its lines} of the log of a container of the agent's pod."""
    lines = node.shell(f"cat /var/log/pods/volcano-system_volcano-agent-*/{container}/*.log").splitlines()
    logged_lines: dict[str, list[str]] = {}
    for line in lines:
        # TIME STREAM TAG TEXT: kubernetes design-proposals/node/kubelet-cri-logging.md
        word, _space, text = line.split(" ", 3)[3].partition(" ")
        logged_lines.setdefault(word, []).append(text)
    return logged_lines
