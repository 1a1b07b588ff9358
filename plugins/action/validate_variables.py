# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""validate_variables, which runs only on the controller: the variables of hosts before the first host is read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ansible.errors import AnsibleError

from ..plugin_utils.node.action_base import ColocationAction, strip_tags, unknown_variables
from ..plugin_utils.node.transport import Node
from ..plugin_utils.node.variable_check import (
    VALIDATE_VARIABLES,
    describe_problems,
    find_misplaced,
    find_variable_problems,
    role_options,
)
from ..plugin_utils.profile.option_names import PREFIX


class ActionModule(ColocationAction):
    ARGUMENTS = VALIDATE_VARIABLES

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        self._task_vars = task_vars or {}
        return super().run(tmp, task_vars)

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        specs = {role: role_options(role) for role in arguments["roles"]}
        of_play = dict(self._of_play())
        problems = {}
        for host in self._in_order(arguments["hosts"]):
            variables = {**dict(self._of_host(host)), **of_play}
            problems[host] = [
                *unknown_variables(variables),
                *find_misplaced(arguments["assess_only"], variables),
                *find_variable_problems(specs, variables),
            ]
        message = describe_problems(problems, specs)
        return {"failed": True, "msg": message} if message else {"changed": False}

    def _in_order(self, hosts: Collection[str]) -> list[str]:
        """The hosts in the order of the inventory; this task's host if there are none."""
        names = set(hosts) or {self.host}
        return [host for host in self._task_vars["hostvars"] if host in names] or sorted(names)

    def _of_host(self, host: str) -> Iterator[tuple[str, Any]]:
        """The host's variables with our prefix; one without a value yet, such as a fact of a later task, is None."""
        # Not hostvars[host], whose templates cannot refer to other hosts.
        variables = {**self._task_vars["hostvars"].raw_get(host), "hostvars": self._task_vars["hostvars"]}
        templar = self._templar.copy_with_new_env(available_variables=variables)
        for name in variables:
            if name.startswith(PREFIX):
                try:
                    yield name, strip_tags(templar.template(variables[name]))
                except AnsibleError:
                    yield name, None

    def _of_play(self) -> Iterator[tuple[str, Any]]:
        """The variables of the play itself: those that import_playbook passes."""
        own = self._task_vars["hostvars"].raw_get(self.host)
        for name, value in self._task_vars.items():
            if name.startswith(PREFIX) and (name not in own or own[name] != value):
                yield name, strip_tags(self._templar.template(value))
