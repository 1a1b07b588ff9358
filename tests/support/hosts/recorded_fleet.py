# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fleets of local hosts that answer with recorded snapshots, for runs of the playbooks over many hosts.

Ansible starts the Python interpreter of a host and sends it the module. The interpreter of these hosts is a small
program that answers as the module did on the recorded node. Everything else is as with real nodes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import pack
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    DIFFERING,
    NAMES,
    captured,
)

UNREACHABLE = "unreachable"
"""The state of a host whose ssh port is closed."""
BROKEN = "broken"
"""The state of a host whose module fails."""
REFUSING = "refusing"
"""The state of a host that is not aligned and refuses its transaction."""

BROKEN_MESSAGE = "/proc cannot be read: permission denied"
APPLYING = {
    "state": "applying",
    "id": "0",
    "step": "restart kubelet",
    "steps": [{"status": "done"}, {"status": "done"}, {"status": "running"}],
}
REFUSED = {"state": "refused", "id": "0", "error": {"step": "preflight", "message": "no space on the disk"}}
COMMITTED = {"state": "committed", "id": "0", "step": "done", "steps": 3 * [{"status": "done"}]}

_LOCAL = {"ansible_connection": "local", "ansible_become": False}
_CLOSED = {
    "ansible_connection": "ssh",
    "ansible_host": "127.0.0.1",
    "ansible_port": 1,
    "ansible_become": False,
    "ansible_ssh_retries": 0,
}
_PROGRAM = """#!/bin/sh
# Reads the module and its arguments, and answers for one node.
module=$(cat)
case $module in
*'"_ansible_module_name": "volcano.colocation.node_transaction"'*)
    case $module in
    *'"action": "start"'*) cat '{directory}/started.json' ;;
    *'"action": "wait"'*) sleep {seconds}; touch '{directory}/committed'; cat '{directory}/ended.json' ;;
    *) cat '{directory}/checked.json' ;;
    esac ;;
*)
    if [ -e '{directory}/committed' ]; then cat '{directory}/after.json'; else cat '{directory}/before.json'; fi ;;
esac
"""


def write_fleet(directory: Path, states: Mapping[str, str], *, seconds: float = 0.0) -> Path:
    """The inventory of hosts by their state: a recorded snapshot's name, or one of the states above.

    ``seconds`` is how long a transaction takes.
    """
    answers = _write_answers(directory / "answers", set(states.values()))
    hosts: dict[str, Any] = {}
    for name, state in states.items():
        if state == UNREACHABLE:
            hosts[name] = _CLOSED
        else:
            program = _write_node(directory / "nodes" / name, answers, state, seconds)
            hosts[name] = {**_LOCAL, "ansible_python_interpreter": str(program)}
    inventory = directory / "inventory.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts}}), encoding="utf-8")
    return inventory


def numbered(states: Iterable[tuple[str, int]], pattern: str = "node{:03}") -> dict[str, str]:
    """Hosts with numbered names: so many of each state, in this order."""
    flat = [state for state, count in states for _number in range(count)]
    return {pattern.format(number): state for number, state in enumerate(flat, start=1)}


def _write_answers(directory: Path, states: Iterable[str]) -> Path:
    directory.mkdir(parents=True)
    for state in {ALIGNED, *states} & {*NAMES}:
        _write(directory / f"{state}.json", {"changed": False, "snapshot": pack(captured(state))})
    _write(directory / f"{BROKEN}.json", {"failed": True, "msg": BROKEN_MESSAGE})
    _write(directory / f"{REFUSING}.json", {"changed": False, "snapshot": pack(captured(DIFFERING))})
    return directory


def _write_node(directory: Path, answers: Path, state: str, seconds: float) -> Path:
    directory.mkdir(parents=True)
    (directory / "before.json").symlink_to(answers / f"{state}.json")
    (directory / "after.json").symlink_to(answers / f"{ALIGNED}.json")
    is_refused = state == REFUSING
    _write(directory / "checked.json", _transaction(REFUSED if is_refused else {"state": "none"}))
    _write(directory / "started.json", _transaction(REFUSED if is_refused else APPLYING))
    _write(directory / "ended.json", _transaction(COMMITTED))
    program = directory / "interpreter"
    program.write_text(_PROGRAM.format(directory=directory, seconds=seconds), encoding="utf-8")
    program.chmod(0o755)
    return program


def _transaction(transaction: Mapping[str, Any]) -> dict[str, Any]:
    return {"changed": transaction["state"] not in ("none", "refused"), "transaction": transaction}


def _write(path: Path, document: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")
