# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that imports Ansible once and then forks: a process for each ansible-playbook.

It runs Ansible's command line completely. Only the start of Python and the imports are saved, which take most of the
time of a short play.

With --fork-modules each module also runs in a fork, from the wrapper that Ansible sends; modules that are already
imported are not packed into the wrapper. Modules that need another Python, machine or user are started as usual. Use
it only for plays that do not reach other machines.

Reads requests from standard input, a JSON object a line, and answers each with its exit status.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import pkgutil
import shlex
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NoReturn

FORK_MODULES = "--fork-modules"
COLLECTION = "ansible_collections.volcano.colocation.plugins"
ANSIBLE = (
    "ansible.cli.playbook",
    "ansible.executor.playbook_executor",
    "ansible.executor.task_queue_manager",
    "ansible.modules.command",
    "ansible.modules.copy",
    "ansible.modules.file",
    "ansible.modules.stat",
)
"""Modules that all or many plays need."""
PLUGINS = {
    "action_loader": ("command", "copy", "debug", "fail", "include_role", "set_fact"),
    "cache_loader": ("memory",),
    "connection_loader": ("local", "ssh"),
    "inventory_loader": ("host_list", "script", "auto", "yaml", "ini", "toml", "advanced_host_list"),
    "shell_loader": ("sh",),
    "strategy_loader": ("linear",),
}
"""For each loader, the plugins that plays use. Loading one reads its documentation, which defines its options."""


def main() -> None:
    # Do not import modules from the directory of this file.
    sys.path.pop(0)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    _import_all()
    fork_modules = FORK_MODULES in sys.argv
    # A wrapper treats any argument as a command for its debugger.
    sys.argv = [""]
    if fork_modules:
        _pack_nothing()
        _start_modules_by_fork()
    for line in sys.stdin:
        request = json.loads(line)
        status = _forked(partial(_playbook, request), request["stdout"], request["stderr"])
        print(status, file=answers, flush=True)


def _import_all() -> None:
    for name in ANSIBLE:
        importlib.import_module(name)
    from ansible.plugins import loader

    loader.init_plugin_loader()
    for kind, names in PLUGINS.items():
        for name in names:
            getattr(loader, kind).get(name, class_only=True)
    for plugins in (loader.filter_loader, loader.test_loader):
        list(plugins.all())
    list(loader.callback_loader.all(class_only=True))
    for name in _names(COLLECTION):
        # A module that fails here is imported again when a play needs it, and that play reports the error.
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _names(package: str) -> Iterator[str]:
    for kind in ("action", "plugin_utils", "module_utils", "filter", "test", "lookup"):
        try:
            parent = importlib.import_module(f"{package}.{kind}")
        except ImportError:
            continue
        yield from (found_module.name for found_module in pkgutil.walk_packages(parent.__path__, f"{parent.__name__}."))


def _playbook(request: Mapping[str, Any]) -> None:
    from ansible.cli.playbook import PlaybookCLI

    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    # It was configured before the fork.
    warnings.filterwarnings("ignore", "AnsibleCollectionFinder has already been configured")
    PlaybookCLI.cli_executor(["ansible-playbook", *request["arguments"]])


def _pack_nothing() -> None:
    from ansible.executor.module_common import ModuleDepFinder

    ModuleDepFinder.visit = lambda _self, _tree: None


def _start_modules_by_fork() -> None:
    from ansible.plugins.action import ActionBase

    started = ActionBase._low_level_execute_command

    def execute(self: Any, cmd: str, *arguments: Any, in_data: bytes | None = None, **options: Any) -> dict[str, Any]:
        is_local = self._connection.transport == "local" and not self._connection.become
        if in_data is None or not is_local or shlex.split(cmd) != [sys.executable]:
            result: dict[str, Any] = started(self, cmd, *arguments, in_data=in_data, **options)
            return result
        return _module(in_data)

    ActionBase._low_level_execute_command = execute


def _module(wrapper: bytes) -> dict[str, Any]:
    """Run the wrapper of a module, which contains its arguments; return status and output."""
    with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as error:
        run = partial(exec, compile(wrapper, "<stdin>", "exec"), {"__name__": "__main__"})
        status = _forked(run, out.name, error.name)
        stdout, stderr = (file.read().decode("utf-8", "surrogateescape") for file in (out, error))
    return {
        "rc": status,
        "stdout": stdout,
        "stdout_lines": stdout.splitlines(),
        "stderr": stderr,
        "stderr_lines": stderr.splitlines(),
    }


def _forked(run: Callable[[], object], stdout: str, stderr: str) -> int:
    """Run a function in a fork with its output in these files; return the exit status."""
    child = os.fork()
    if child == 0:
        _redirect(stdout, stderr)
        _end_with(run)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _end_with(run: Callable[[], object]) -> NoReturn:
    """End this process as Python would after a program."""
    # Exit handlers of the parent run only in the parent.
    atexit._clear()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    status = 1
    try:
        run()
        status = 0
    except SystemExit as end:
        status = _code(end)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(status)


def _redirect(stdout: str, stderr: str) -> None:
    written = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    for number, path, flags in ((0, os.devnull, os.O_RDONLY), (1, stdout, written), (2, stderr, written)):
        opened = os.open(path, flags, 0o600)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
    os.closerange(3, 1024)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115


def _code(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return int(end.code or 0)
    print(end.code, file=sys.stderr)
    return 1


if __name__ == "__main__":
    main()
