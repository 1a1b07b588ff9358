# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs tasks in a play: ansible-playbook on localhost, whose registered results come back as a dict."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import Done, playbook

Task = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """Results by the registered name of each task, recorded texts, and the whole output."""

    results: dict[str, Any]
    output: str


def task(register: str, module: str, **arguments: Any) -> Task:
    """A task of the collection whose failure does not end the play."""
    name = f"volcano.colocation.{module}"
    return {"name": register, name: arguments, "register": register, "ignore_errors": True, "diff": True}


def checked(one: Task) -> Task:
    """The same task in check mode."""
    return {**one, "check_mode": True}


def record_text(register: str, path: Path) -> Task:
    """Return a task that records a file's text at this point of the play."""
    text = "{{ lookup('ansible.builtin.file', '" + str(path) + "', rstrip=false) }}"
    return {"name": f"record {register}", "ansible.builtin.set_fact": {register: text}}


def _registered(tasks: Sequence[Task]) -> Iterator[str]:
    for item in tasks:
        yield from [item["register"]] if "register" in item else item.get("ansible.builtin.set_fact", ())


def run(directory: Path, tasks: Sequence[Task], playbook: Callable[..., Done] = playbook) -> Run:
    """Run the tasks in one play with the local connection; Ansible writes only to the directory.

    ``playbook`` may be ``started_playbook``, to start every process as a user does.
    """
    results = directory / "results.json"
    names = ", ".join(f"'{name}': {name}" for name in _registered(tasks))
    play = {
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "vars": {"ansible_python_interpreter": sys.executable},
        "tasks": [
            *tasks,
            {
                "name": "Results",
                "ansible.builtin.copy": {
                    "content": "{{ {" + names + "} | to_json }}",
                    "dest": str(results),
                    "mode": "0600",
                },
                "diff": False,
            },
        ],
    }
    (directory / "play.yml").write_text(json.dumps([play]), encoding="utf-8")
    done = playbook(directory, "-i", "localhost,", "play.yml")
    assert done.status == 0, done.output
    return Run(json.loads(results.read_text(encoding="utf-8")), done.output)
