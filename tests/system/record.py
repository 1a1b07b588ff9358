# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records hosts of ``tests/unit/fixtures/hosts`` on lab nodes, one at a time, as ``origins.yml`` says; all or some.

Run: python -m ansible_collections.volcano.colocation.tests.system.record [NAME ...]

It takes the collection that is installed in ``.cache/collections``. Then run ``write_golden`` and read the difference.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.lab.paths import cache_root, control_root, state_root
from ansible_collections.volcano.colocation.tests.support.hosts.described_hosts import HOSTS
from ansible_collections.volcano.colocation.tests.support.hosts.recorded_hosts import SUFFIX, Origin, load, origins
from ansible_collections.volcano.colocation.tests.system.node import ROOT, Node, Run, ansible, lab

PLACE = "/lab"
"""Stands for every folder of the machine that the node ran on; user-mode Linux has some on its command line."""


class NotRecorded(Exception):
    """Why there is no snapshot."""


def main(names: Sequence[str]) -> None:
    """Record the named hosts, all when none is named."""
    known = origins()
    if unknown := set(names) - set(known):
        raise SystemExit(f"not recorded on a node: {', '.join(sorted(unknown))}; there are: {' '.join(known)}")
    for name in names or known:
        with tempfile.TemporaryDirectory() as folder:
            text = without_machine(json.dumps(_taken(known[name], Path(folder)), indent=1) + "\n")
        (HOSTS / f"{name}{SUFFIX}").write_text(text, encoding="utf-8")
        print(f"{name}: {len(text)} bytes", flush=True)


def _taken(origin: Origin, folder: Path) -> dict[str, Any]:
    """The snapshot that `assess` keeps of such a node, which is taken down in any case."""
    lab("down", origin.node)
    try:
        lab("up", origin.node, *origin.lab)
        node = Node(origin.node, lab("inventory", origin.node).strip(), folder)
        for command in (origin.shell, origin.script and (ROOT / origin.script).read_text(encoding="utf-8")):
            if command:
                node.shell(command)
        if origin.profile is not None:
            _played(node, "provision", **origin.profile)
        _played(node, "assess", colocation_snapshot_directory=str(folder))
        return load(folder / f"{origin.node}{SUFFIX}")
    finally:
        lab("down", origin.node)


def _played(node: Node, playbook: str, **variables: Any) -> Run:
    run = ansible(
        f"volcano.colocation.{playbook}", node.folder, "-i", node.inventory, colocation_report_directory="", **variables
    )
    if run.code:
        raise NotRecorded(f"{playbook} of {node.name}:\n{run.output[-4000:]}")
    return run


def without_machine(text: str) -> str:
    """The text without folders of this machine; NotRecorded where it has something of it all the same."""
    for folder in sorted(map(str, (cache_root(), state_root(), control_root(), ROOT)), key=len, reverse=True):
        text = text.replace(f"{folder}/", f"{PLACE}/")
    names = (socket.gethostname(), str(cache_root()), str(state_root()), str(control_root()), str(ROOT))
    # A machine called vm is not that of /proc/sys/vm/swappiness or vm.swappiness.
    if found := [name for name in names if re.search(rf"(?<![\w/-]){re.escape(name)}(?![\w./-])", text)]:
        raise NotRecorded(f"the snapshot has {', '.join(found)}")
    return text


if __name__ == "__main__":
    main(sys.argv[1:])
