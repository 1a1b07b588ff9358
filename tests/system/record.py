# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records hosts of ``tests/unit/fixtures/hosts`` on lab nodes, one at a time, as ``origins.yml`` says; all or some.

Run: python -m ansible_collections.volcano.colocation.tests.system.record [NAME ...]

It uses the collection that is installed in ``.cache/collections``. Then run ``write_golden`` and check the diff.
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
"""Replaces directories of the machine that the node ran on; user-mode Linux has some on its command line."""


class NotRecorded(Exception):
    """The snapshot could not be recorded."""


def main(names: Sequence[str]) -> None:
    """Record the named hosts, all when none is named."""
    known = origins()
    if unknown := set(names) - set(known):
        raise SystemExit(f"not recorded on a node: {', '.join(sorted(unknown))}; there are: {' '.join(known)}")
    for name in names or known:
        with tempfile.TemporaryDirectory() as directory:
            text = without_machine(json.dumps(_take_snapshot(known[name], Path(directory)), indent=1) + "\n")
        (HOSTS / f"{name}{SUFFIX}").write_text(text, encoding="utf-8")
        print(f"{name}: {len(text)} bytes", flush=True)


def _take_snapshot(origin: Origin, directory: Path) -> dict[str, Any]:
    """Start the node, return the snapshot that `assess` writes, and delete the node."""
    lab("down", origin.node)
    try:
        lab("up", origin.node, *origin.lab)
        node = Node(origin.node, lab("inventory", origin.node).strip(), directory)
        for command in (origin.shell, origin.script and (ROOT / origin.script).read_text(encoding="utf-8")):
            if command:
                node.shell(command)
        if origin.profile is not None:
            _run_playbook(node, "provision", **origin.profile)
        _run_playbook(node, "assess", colocation_snapshot_directory=str(directory))
        return load(directory / f"{origin.node}{SUFFIX}")
    finally:
        lab("down", origin.node)


def _run_playbook(node: Node, playbook: str, **variables: Any) -> Run:
    run = ansible(
        f"volcano.colocation.{playbook}",
        node.directory,
        "-i",
        node.inventory,
        colocation_report_directory="",
        **variables,
    )
    if run.code:
        raise NotRecorded(f"{playbook} of {node.name}:\n{run.output[-4000:]}")
    return run


def without_machine(text: str) -> str:
    """Return the text without directories of this machine; NotRecorded if it still names the machine."""
    for directory in sorted(map(str, (cache_root(), state_root(), control_root(), ROOT)), key=len, reverse=True):
        text = text.replace(f"{directory}/", f"{PLACE}/")
    names = (socket.gethostname(), str(cache_root()), str(state_root()), str(control_root()), str(ROOT))
    # A machine called vm is not that of /proc/sys/vm/swappiness or vm.swappiness.
    if matches := [name for name in names if re.search(rf"(?<![\w/-]){re.escape(name)}(?![\w./-])", text)]:
        raise NotRecorded(f"the snapshot has {', '.join(matches)}")
    return text


if __name__ == "__main__":
    main(sys.argv[1:])
