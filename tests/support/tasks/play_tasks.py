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
    """Results by the name each task was registered under, texts that were noted, and all that was printed."""

    results: dict[str, Any]
    output: str


def task(register: str, module: str, **arguments: Any) -> Task:
    """A task of the collection whose failure does not end the play."""
    name = f"volcano.colocation.{module}"
    return {"name": register, name: arguments, "register": register, "ignore_errors": True, "diff": True}


def checked(one: Task) -> Task:
    """The same task in check mode."""
    return {**one, "check_mode": True}


def noted(register: str, path: Path) -> Task:
    """A task that notes a file's text at this point of the play."""
    text = "{{ lookup('ansible.builtin.file', '" + str(path) + "', rstrip=false) }}"
    return {"name": f"note {register}", "ansible.builtin.set_fact": {register: text}}


def _registered(tasks: Sequence[Task]) -> Iterator[str]:
    for each in tasks:
        yield from [each["register"]] if "register" in each else each.get("ansible.builtin.set_fact", ())


def run(folder: Path, tasks: Sequence[Task], playbook: Callable[..., Done] = playbook) -> Run:
    """Run the tasks in one play with connection local; everything Ansible writes stays in the folder.

    ``playbook`` may be ``started_playbook``, for the whole way.
    """
    answer = folder / "answer.json"
    names = ", ".join(f"'{name}': {name}" for name in _registered(tasks))
    play = {
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "vars": {"ansible_python_interpreter": sys.executable},
        "tasks": [
            *tasks,
            {
                "name": "Answer",
                "ansible.builtin.copy": {
                    "content": "{{ {" + names + "} | to_json }}",
                    "dest": str(answer),
                    "mode": "0600",
                },
                "diff": False,
            },
        ],
    }
    (folder / "play.yml").write_text(json.dumps([play]), encoding="utf-8")
    done = playbook(folder, "-i", "localhost,", "play.yml")
    assert done.status == 0, done.output
    return Run(json.loads(answer.read_text(encoding="utf-8")), done.output)
