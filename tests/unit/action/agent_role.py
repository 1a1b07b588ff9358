# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries of the role agent through one ansible-playbook on localhost, which stands for a recorded node."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.support.clusters import agent_clusters
from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import playbook

SNAPSHOTS = Path(__file__).parents[1] / "fixtures" / "snapshots"
ALIGNED = "bookworm-v1-aligned"
REMARK = "  # has to be the driver of the container runtime"
"""Behind the driver of every recorded node; agents that are not told their driver stumble over it."""
PROGRAMS = "programs"
"""Of a test's folder: what lies there is found before the machine's own."""
TASK = re.compile(r"^TASK \[(.*)\] \**$", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """One entry of the role. Should it fail, the steps behind it are done all the same."""

    name: str
    entry: str
    given: Mapping[str, Any] = field(default_factory=dict)
    check: bool = False

    def task(self) -> dict[str, Any]:
        role = {"name": "volcano.colocation.agent", "tasks_from": self.entry, "apply": {"check_mode": self.check}}
        include = {"name": f"step {self.name}", "ansible.builtin.include_role": role, "vars": dict(self.given)}
        return {"block": [include], "rescue": [{"name": "Go on", "ansible.builtin.debug": {"msg": "next"}}]}


@dataclass(frozen=True)
class Look:
    """Whether a file is there at this point."""

    name: str
    path: Path

    def task(self) -> dict[str, Any]:
        told = "{{ 'there' if '" + str(self.path) + "' is file else 'gone' }}"
        return {"name": f"step {self.name}", "ansible.builtin.debug": {"msg": told}}


@dataclass(frozen=True)
class Played:
    """What each step printed."""

    output: str
    steps: Mapping[str, tuple[tuple[str, str], ...]]

    def changed(self, step: str) -> list[str]:
        """Names of the tasks that changed something, without that of the role; a failure is none of them."""
        assert not self.failed(step), self.output
        return [name.partition(" : ")[2] for name, text in self.steps[step] if "\nchanged: " in text]

    def failed(self, step: str) -> str:
        """What the task said that failed."""
        return next((text for _name, text in self.steps[step] if "\nfatal: " in text), "")

    def said(self, step: str) -> str:
        return "".join(text for _name, text in self.steps[step])


def play(folder: Path, *steps: Step | Look, probe: Mapping[str, Any] | None = None, **variables: Any) -> Played:
    """The steps one after the other, for n1 as the snapshot and the probe have it."""
    recorded = (SNAPSHOTS / f"{ALIGNED}.json").read_text(encoding="utf-8")
    (folder / "node.json").write_text(recorded.replace(REMARK, ""), encoding="utf-8")
    probed = {"host": {**agent_clusters.probe("n1"), **(probe or {})}}
    host = {"ansible_connection": "local", "agent_host_info": probed}
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": {"n1": host}}}), encoding="utf-8")
    look = {"name": "Look", "volcano.colocation.node_facts": {"snapshot": str(folder / "node.json")}}
    tasks = [{"hosts": "all", "gather_facts": False, "tasks": [look, *(each.task() for each in steps)]}]
    (folder / "agent.yml").write_text(json.dumps(tasks), encoding="utf-8")
    given = {"ansible_python_interpreter": sys.executable, "ansible_become": False, **variables}
    arguments = ("agent.yml", "-i", "hosts.json", "-e", json.dumps(given))
    done = playbook(folder, *arguments, path=f"{folder / PROGRAMS}:{os.environ['PATH']}")
    assert done.status == 0, done.output
    return Played(done.output, dict(_sections(done.stdout)))


def _sections(output: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """By step (task, what it printed)."""
    _head, *parts = TASK.split(output)
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    step = ""
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        step = name.removeprefix("step ") if name.startswith("step ") else step
        found[step] = (*found.get(step, ()), (name, text))
    return found
