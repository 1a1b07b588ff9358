# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An interrupted transaction is rolled back by an engine in a separate unit, even if the run that started it ends."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.node import PROFILE, Node, begun

OTHER_DRIVER = {**PROFILE, "colocation_cgroup_driver": "cgroupfs"}
STATE = "/var/lib/volcano-colocation"
ENGINE = "^/[^ ]*python[^ ]* -I -B /usr/local/lib/volcano-colocation/[^ ]* "
UNIT = "volcano-colocation-2*.service"
PLAYBOOK = "volcano.colocation.provision"
LIMIT = 300.0


def until(what: Callable[[], Any], why: Callable[[], str]) -> Any:
    """Wait for a value that is not empty, and return it."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        value = what()
        if value:
            return value
        time.sleep(0.5)
    raise AssertionError(why())


def journals(node: Node) -> list[dict[str, Any]]:
    """Return the journals, the newest last: ids begin with the time."""
    command = f"for file in {STATE}/transactions/*/journal.json; do [ -e $file ] && tr -d '\\n' < $file && echo; done"
    return [json.loads(line) for line in node.shell(f"{command}; true").splitlines()]


def engine(node: Node, command: str) -> str:
    """Return the process id of the engine that runs this command."""
    return node.shell(f"pgrep -f '{ENGINE}{command}' || true").strip()


STARTED = f"grep -ls 'start runtime' {STATE}/transactions/*/journal.json | wc -l"
"""Counts transactions that reached that step."""


def progress(log: Path) -> list[str]:
    """Return the progress of the transaction in the log of a run."""
    return [line for line in log.read_text().splitlines() if "applying, " in line]


def half_way(node: Node, before: int) -> str:
    """Stop the engine after the files are written, while the services are down; return its process id."""
    waited = f"for i in $(seq 600); do [ $({STARTED}) -gt {before} ] && break; sleep 0.1; done"
    node.shell(f"{waited}; pkill -STOP -f '{ENGINE}run '")
    return engine(node, "run ")


def test_an_undo_goes_on_without_the_run_that_asked_for_it(
    node: Node, tmp_path_factory: pytest.TempPathFactory
) -> None:
    second = tmp_path_factory.mktemp("second")
    before, pods, started = node.tree(), len(node.containers()), int(node.shell(STARTED))
    with begun(PLAYBOOK, node.directory, "-i", node.inventory, **OTHER_DRIVER) as log:
        assert half_way(node, started), log.read_text()
    # A module that still waits on the node would start another engine, as systemd would.
    node.shell("pkill -KILL -f '^[^ ]*python[^ ]* .*AnsiballZ_node_transaction' || true")
    node.shell(f"systemctl kill --signal=KILL '{UNIT}'; systemctl stop '{UNIT}'; sleep 2")
    assert not engine(node, "")
    journal = journals(node)[-1]
    assert journal["state"] == "applying"
    assert node.tree() != before

    with begun(PLAYBOOK, node.directory, "-i", node.inventory, **OTHER_DRIVER) as log:
        pid = until(lambda: engine(node, "undo "), log.read_text)
        node.shell(f"kill -STOP {pid}")
        shown_lines = until(lambda: progress(log), log.read_text)
        unit = f"volcano-colocation-{journal['id']}.service"
        assert node.shell(f"systemctl show -p MainPID --value {unit}").strip() == pid
        # A second run waits for it, and does not start another engine.
        with begun(PLAYBOOK, second, "-i", node.inventory, **OTHER_DRIVER) as another:
            until(lambda: progress(another), another.read_text)
            assert engine(node, "undo ") == pid
    print("\n".join(shown_lines))
    assert journals(node)[-1]["state"] in ("applying", "rolling-back")
    node.shell(f"kill -CONT {pid}")

    until(lambda: not engine(node, "undo "), lambda: json.dumps(journals(node)))
    journal = journals(node)[-1]
    assert journal["state"] == "rolled-back", journal
    assert node.tree() == before
    until(lambda: len(node.containers()) >= pods, lambda: str(node.containers()))
