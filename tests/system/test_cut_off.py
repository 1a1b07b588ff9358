# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was cut off for good is undone by an engine in a unit of its own, whatever becomes of the run that wanted it."""

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
    """What it says as soon as it says anything."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        time.sleep(0.5)
    raise AssertionError(why())


def journals(node: Node) -> list[dict[str, Any]]:
    """The newest last, as their ids tell the time."""
    each = f"for each in {STATE}/transactions/*/journal.json; do [ -e $each ] && tr -d '\\n' < $each && echo; done"
    return [json.loads(line) for line in node.shell(f"{each}; true").splitlines()]


def engine(node: Node, command: str) -> str:
    """Pid of the engine that does this."""
    return node.shell(f"pgrep -f '{ENGINE}{command}' || true").strip()


STARTED = f"grep -ls 'start runtime' {STATE}/transactions/*/journal.json | wc -l"
"""How many transactions have come as far as that."""


def progress(log: Path) -> list[str]:
    """What a run has shown of the transaction that it waits for."""
    return [line for line in log.read_text().splitlines() if "applying, " in line]


def half_way(node: Node, before: int) -> str:
    """Files are written, services are down: the engine is stopped there."""
    waited = f"for i in $(seq 600); do [ $({STARTED}) -gt {before} ] && break; sleep 0.1; done"
    node.shell(f"{waited}; pkill -STOP -f '{ENGINE}run '")
    return engine(node, "run ")


def test_an_undo_goes_on_without_the_run_that_asked_for_it(
    node: Node, tmp_path_factory: pytest.TempPathFactory
) -> None:
    second = tmp_path_factory.mktemp("second")
    before, pods, started = node.tree(), len(node.containers()), int(node.shell(STARTED))
    with begun(PLAYBOOK, node.folder, "-i", node.inventory, **OTHER_DRIVER) as log:
        assert half_way(node, started), log.read_text()
    # A module that still waits on the node would start another engine, and so would systemd.
    node.shell("pkill -KILL -f '^[^ ]*python[^ ]* .*AnsiballZ_node_transaction' || true")
    node.shell(f"systemctl kill --signal=KILL '{UNIT}'; systemctl stop '{UNIT}'; sleep 2")
    assert not engine(node, "")
    journal = journals(node)[-1]
    assert journal["state"] == "applying"
    assert node.tree() != before

    with begun(PLAYBOOK, node.folder, "-i", node.inventory, **OTHER_DRIVER) as log:
        pid = until(lambda: engine(node, "undo "), log.read_text)
        node.shell(f"kill -STOP {pid}")
        shown = until(lambda: progress(log), log.read_text)
        unit = f"volcano-colocation-{journal['id']}.service"
        assert node.shell(f"systemctl show -p MainPID --value {unit}").strip() == pid
        # A second run waits for it, and starts none beside it.
        with begun(PLAYBOOK, second, "-i", node.inventory, **OTHER_DRIVER) as another:
            until(lambda: progress(another), another.read_text)
            assert engine(node, "undo ") == pid
    print("\n".join(shown))
    assert journals(node)[-1]["state"] in ("applying", "rolling-back")
    node.shell(f"kill -CONT {pid}")

    until(lambda: not engine(node, "undo "), lambda: json.dumps(journals(node)))
    journal = journals(node)[-1]
    assert journal["state"] == "rolled-back", journal
    assert node.tree() == before
    until(lambda: len(node.containers()) >= pods, lambda: str(node.containers()))
