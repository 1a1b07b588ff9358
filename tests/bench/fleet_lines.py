# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines that the playbooks print for a fleet of recorded nodes, with each callback."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..support.hosts.captured_nodes import NAMES
from ..support.hosts.recorded_fleet import numbered, write_fleet
from .cost import run_measured
from .places import LOGS, OUTPUT
from .reaches import Target

HOSTS = 200
MOST_LINES = 60
FLEET = OUTPUT / "fleet"
OPTIONS = ("-i", "inventory.json", "--forks", "20", "-e", '{"colocation_system_reserved": {"cpu": "500m"}}')
RUNS: Mapping[str, tuple[str, ...]] = {
    "assess": ("volcano.colocation.assess",),
    "verify": ("volcano.colocation.verify",),
    "provision --check": ("volcano.colocation.provision", "--check"),
}
CALLBACKS: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "default, without ok and skipped hosts": {
        "ANSIBLE_DISPLAY_OK_HOSTS": "false",
        "ANSIBLE_DISPLAY_SKIPPED_HOSTS": "false",
    },
    "volcano.colocation.fleet": {"ANSIBLE_STDOUT_CALLBACK": "volcano.colocation.fleet"},
}
FLEET_CALLBACK = "volcano.colocation.fleet"


class FleetError(Exception):
    """A playbook ended in another way than the recorded nodes cause; the message says how."""


@dataclass(frozen=True)
class FleetLines:
    """The lines of one playbook by callback."""

    run: str
    lines: Mapping[str, int]


def fleet_lines(hosts: int, environment: Mapping[str, str]) -> Iterator[FleetLines]:
    """Run every playbook with every callback over ``hosts`` local hosts that answer as the recorded nodes in turn."""
    shutil.rmtree(FLEET, ignore_errors=True)
    FLEET.mkdir(parents=True)
    try:
        write_fleet(FLEET, numbered([(NAMES[number % len(NAMES)], 1) for number in range(hosts)]))
        for run, arguments in RUNS.items():
            yield FleetLines(run, {name: _count(run, arguments, name, environment) for name in CALLBACKS})
    finally:
        shutil.rmtree(FLEET, ignore_errors=True)


def fleet_targets(measured: Sequence[FleetLines]) -> tuple[Target, ...]:
    return tuple(
        Target(
            f"lines of `{result.run}` with the callback fleet",
            str(result.lines[FLEET_CALLBACK]),
            f"≤ {MOST_LINES}",
            result.lines[FLEET_CALLBACK] <= MOST_LINES,
            counted=True,
        )
        for result in measured
    )


def _count(run: str, arguments: Sequence[str], callback: str, environment: Mapping[str, str]) -> int:
    log = LOGS / f"fleet-{run}-{callback}.log".replace(" ", "-")
    variables = {**environment, **CALLBACKS[callback]}
    status, _cost = run_measured(["ansible-playbook", *arguments, *OPTIONS], log, variables, FLEET)
    # Some of the recorded nodes are not aligned, so verify fails; some have no NRI, so provision refuses them.
    expected = 0 if run == "assess" else 2
    if status != expected:
        raise FleetError(f"{run} ended with {status}, not {expected}; see {log}")
    return count_lines(log)


def count_lines(log: Path) -> int:
    return len(log.read_text(encoding="utf-8").splitlines())
