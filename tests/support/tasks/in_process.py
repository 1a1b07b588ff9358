# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs tasks in this process, in some milliseconds: the action plugin and the modules that it starts.

``playbook_run`` starts ansible-playbook instead, which takes a second a task. Only the connection is omitted here.
"""

from __future__ import annotations

import importlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

import pytest
from ansible.errors import AnsibleError
from ansible.module_utils import basic
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins.loader import connection_loader
from ansible.template import Templar

PLUGINS = "ansible_collections.volcano.colocation.plugins"
PREFIX = "volcano.colocation."
Result = dict[str, Any]


class WholeMachine(AssertionError):
    """The test would have changed the machine it runs on."""


def module(name: str, arguments: Mapping[str, Any], *, check: bool = False, log: list[str] | None = None) -> Result:
    """Return the result of the module. Its exceptions are not caught: Ansible would not show their message.

    ``log`` receives the messages for the node's log.
    """
    main = importlib.import_module(f"{PLUGINS}.modules.{name.removeprefix(PREFIX)}").main
    # The invocation is not logged: the log is that of the machine the tests run on.
    options = {**arguments, "_ansible_check_mode": check, "_ansible_no_log": log is None}
    printed = io.StringIO()
    with _module_input(options, log), redirect_stdout(printed), pytest.raises(SystemExit):
        main()
    result: Result = json.loads(printed.getvalue().strip().splitlines()[-1])
    assert not result.get("deprecations"), result["deprecations"]
    return result


def action(
    name: str,
    arguments: Mapping[str, Any],
    *,
    check: bool = False,
    recorded: Callable[[str, Mapping[str, Any]], Result] | None = None,
) -> Result:
    """Return the result of the task. Modules that it starts run in this process, below the ``root`` of their arguments.

    ``recorded`` returns their results instead, as recorded on a real node.
    """
    plugin = importlib.import_module(f"{PLUGINS}.action.{name}").ActionModule

    class InProcess(plugin):  # type: ignore[misc,valid-type]
        def _execute_module(self, module_name: str, module_args: Mapping[str, Any], **_options: Any) -> Result:
            if recorded is not None:
                return recorded(module_name, module_args)
            if module_args.get("root", "/") == "/":
                raise WholeMachine(f"{module_name} without a root")
            return module(module_name, module_args, check=self._task.check_mode)

    task = Task()
    task.args, task.check_mode, task.diff = dict(arguments), check, True
    loader = DataLoader()
    connection = connection_loader.get("local", PlayContext(), os.devnull)
    one = InProcess(task, connection, PlayContext(), loader, Templar(loader=loader, variables={}), None)
    one._load_name = name
    try:
        result: Result = one.run(task_vars={"inventory_hostname": "node"})
    except AnsibleError as error:
        return {"failed": True, "msg": str(error)}
    return result


def run(name: str, arguments: Mapping[str, Any], *, check: bool = False) -> Result:
    """Run the action plugin of this name, or the module if there is no such plugin."""
    try:
        importlib.import_module(f"{PLUGINS}.action.{name}")
    except ModuleNotFoundError:
        return module(name, arguments, check=check)
    return action(name, arguments, check=check)


@contextmanager
def _module_input(arguments: Mapping[str, Any], log: list[str] | None) -> Iterator[None]:
    text = json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(basic, "_ANSIBLE_ARGS", text)
        # ansible-core 2.19
        patch.setattr(basic, "_ANSIBLE_PROFILE", "legacy", raising=False)
        if log is not None:
            patch.setattr(basic.AnsibleModule, "log", lambda _self, text, **values: log.append(f"{text} {values}"))
        yield
