# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs plays over local hosts with the callback fleet."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection
from pathlib import Path

from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import Done, started_playbook

HOSTS = [f"n{number}" for number in range(1, 13)]
SETTINGS = "[defaults]\nstdout_callback = volcano.colocation.fleet\nforks = 12\n"


def run(directory: Path, plays: str, *arguments: str, settings: str = "", hosts: Collection[str] = HOSTS) -> Done:
    """Run the text of a playbook in a directory. ``settings`` are added to the section ``defaults``."""
    directory.mkdir(exist_ok=True)
    (directory / "play.yml").write_text(plays, encoding="utf-8")
    (directory / "included.yml").write_text("- ansible.builtin.debug: {msg: included}\n", encoding="utf-8")
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    (directory / "hosts.json").write_text(json.dumps({"all": {"hosts": dict.fromkeys(hosts, local)}}), encoding="utf-8")
    (directory / "ansible.cfg").write_text(SETTINGS + settings, encoding="utf-8")
    done = started_playbook(directory, "-i", "hosts.json", "play.yml", *arguments)
    assert "Traceback" not in done.output
    return done


def without_times(text: str) -> str:
    """The output without times, which differ between runs."""
    return re.sub(r",? (?:\d+ min )?\d+ s\b", "", text)
