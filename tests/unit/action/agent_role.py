# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entry points of the role agent, run by ansible-playbook on localhost, which represents a recorded node."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ansible_collections.volcano.colocation.tests.support.clusters import agent_clusters
from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import playbook

SNAPSHOTS = Path(__file__).parents[1] / "fixtures" / "snapshots"
ALIGNED = "bookworm-v1-aligned"
REMARK = "  # has to be the driver of the container runtime"
"""The comment after the driver of every recorded node, which prevents that agents detect the driver."""
PROGRAMS = "programs"
"""Subdirectory of a test's directory; its programs take precedence over those of the machine."""
TASK = re.compile(r"^TASK \[(.*)\] \**$", re.MULTILINE)


class Task(Protocol):
    """One task of the play, whose name is ``step NAME``."""

    def task(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Step:
    """An entry point of the role. If it fails, later steps still run."""

    name: str
    entry: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    check: bool = False

    def task(self) -> dict[str, Any]:
        role = {"name": "volcano.colocation.agent", "tasks_from": self.entry, "apply": {"check_mode": self.check}}
        include = {"name": f"step {self.name}", "ansible.builtin.include_role": role, "vars": dict(self.variables)}
        return {"block": [include], "rescue": [{"name": "Go on", "ansible.builtin.debug": {"msg": "next"}}]}


@dataclass(frozen=True)
class Look:
    """A check whether a file exists at this point."""

    name: str
    path: Path

    def task(self) -> dict[str, Any]:
        message = "{{ 'there' if '" + str(self.path) + "' is file else 'gone' }}"
        return {"name": f"step {self.name}", "ansible.builtin.debug": {"msg": message}}


@dataclass(frozen=True)
class Played:
    """The output of each step."""

    output: str
    steps: Mapping[str, tuple[tuple[str, str], ...]]

    def changed(self, step: str) -> list[str]:
        """Names of the tasks that changed something, without the role's name. No task must have failed."""
        assert not self.failed(step), self.output
        return [name.partition(" : ")[2] for name, text in self.steps[step] if "\nchanged: " in text]

    def failed(self, step: str) -> str:
        """The output of the failed task; empty if no task failed."""
        return next((text for _name, text in self.steps[step] if "\nfatal: " in text), "")

    def output_of(self, step: str) -> str:
        return "".join(text for _name, text in self.steps[step])


def play(directory: Path, *steps: Task, probe: Mapping[str, Any] | None = None, **variables: Any) -> Played:
    """Run the steps in order, for the host n1 with the recorded snapshot and the probe."""
    recorded = (SNAPSHOTS / f"{ALIGNED}.json").read_text(encoding="utf-8")
    (directory / "node.json").write_text(recorded.replace(REMARK, ""), encoding="utf-8")
    probed = {"host": {**agent_clusters.probe("n1"), **(probe or {})}}
    host = {"ansible_connection": "local", "agent_host_info": probed}
    (directory / "hosts.json").write_text(json.dumps({"all": {"hosts": {"n1": host}}}), encoding="utf-8")
    look = {"name": "Look", "volcano.colocation.node_facts": {"snapshot": str(directory / "node.json")}}
    tasks = [{"hosts": "all", "gather_facts": False, "tasks": [look, *(item.task() for item in steps)]}]
    (directory / "agent.yml").write_text(json.dumps(tasks), encoding="utf-8")
    extra_variables = {"ansible_python_interpreter": sys.executable, "ansible_become": False, **variables}
    arguments = ("agent.yml", "-i", "hosts.json", "-e", json.dumps(extra_variables))
    done = playbook(directory, *arguments, path=f"{directory / PROGRAMS}:{os.environ['PATH']}")
    assert done.status == 0, done.output
    return Played(done.output, dict(_sections(done.stdout)))


def _sections(output: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Pairs of task and output by step."""
    _head, *parts = TASK.split(output)
    sections: dict[str, tuple[tuple[str, str], ...]] = {}
    step = ""
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        step = name.removeprefix("step ") if name.startswith("step ") else step
        sections[step] = (*sections.get(step, ()), (name, text))
    return sections
