# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries of the role agent through ansible-playbook on localhost, which stands for a recorded node."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.unit.action.ansible_run import environment
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.agent import agents

SNAPSHOTS = Path(__file__).parents[1] / "fixtures" / "snapshots"
ALIGNED = "bookworm-v1-aligned"
PROGRAMS = "programs"
"""Of a test's folder: what lies there is found before the machine's own."""


@dataclass(frozen=True)
class Played:
    """``changed`` are the names of the tasks that changed something."""

    code: int
    output: str

    @property
    def changed(self) -> list[str]:
        """Names of the tasks, without that of the role."""
        name, found = "", []
        for line in self.output.splitlines():
            if line.startswith("TASK ["):
                name = line.partition("[")[2].partition("]")[0].partition(" : ")[2]
            elif line.startswith("changed: "):
                found.append(name)
        return found


def play(folder: Path, *entries: str, check: bool = False, probe: dict[str, Any] | None = None, **given: Any) -> Played:
    """The entries' tasks one after the other, for n1 as the snapshot and the probe have it."""
    (folder / "ansible.cfg").touch()
    probed = {"probe": {**agents.probe("n1"), **(probe or {})}}
    host = {"ansible_connection": "local", "agent_probed": probed}
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": {"n1": host}}}), encoding="utf-8")
    look = {"name": "Look", "volcano.colocation.node_facts": {"snapshot": str(SNAPSHOTS / f"{ALIGNED}.json")}}
    roles = [
        {"name": each, "ansible.builtin.include_role": {"name": "volcano.colocation.agent", "tasks_from": each}}
        for each in entries
    ]
    tasks = [{"hosts": "all", "gather_facts": False, "tasks": [look, *roles]}]
    (folder / "agent.yml").write_text(json.dumps(tasks), encoding="utf-8")
    variables = {"ansible_python_interpreter": sys.executable, "ansible_become": False, **given}
    words = ["-i", "hosts.json", "-e", json.dumps(variables), "--diff", *(["--check"] if check else [])]
    known = environment(folder)
    done = subprocess.run(
        [sys.executable, "-m", "ansible", "playbook", "agent.yml", *words],
        cwd=folder,
        env={**known, "PATH": f"{folder / PROGRAMS}:{known['PATH']}"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return Played(done.returncode, done.stdout + done.stderr)
