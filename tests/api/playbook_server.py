# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that has imported ansible-playbook and forks for each run of it: most of a short run are the imports.

Standard input: one JSON object per run, {"arguments": [...], "folder": "...", "log": "..."}. Output: its exit status.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from typing import Any, NoReturn

from ansible.cli.playbook import main as ansible_playbook


def serve() -> None:
    """Run one playbook after the other until standard input ends."""
    # Each run that asks an API server imports it.
    importlib.import_module("kubernetes.config")
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _run(json.loads(line))
        _pid, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(request: dict[str, Any]) -> NoReturn:
    """In the child: what a shell does for the program, then the program."""
    code = 1
    try:
        os.chdir(request["folder"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for stream in (1, 2):
            os.dup2(log, stream)
        ansible_playbook(["ansible-playbook", *request["arguments"]])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Not sys.exit: Ansible's exit handlers delete a temporary folder that later runs share.
        os._exit(code)


if __name__ == "__main__":
    serve()
