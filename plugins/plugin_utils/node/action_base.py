# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of all action plugins: check variables and arguments, reach the node, turn errors into results."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ...module_utils.safe_text import one_line, printable, printable_result
from ...module_utils.snapshot.record_evidence import BLOCKING
from ..edit.text_errors import MissingLibrary, UneditableFile
from ..facts.interpreter import SnapshotError
from ..profile.argspec import Spec
from ..profile.validators import ProfileError, named_cgroups
from ..profile.variable_names import VARIABLES
from ..report.plan_result import progress_line
from .transport import ConnectionLost, Node, NodeFailure


def strip_tags(value: Any) -> Any:
    """The same value made of exact str, int, float, bool, list and dict."""
    if isinstance(value, Mapping):
        return {strip_tags(key): strip_tags(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [strip_tags(each) for each in value]
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    return str.__str__(value) if isinstance(value, str) else value


PREFIX = "colocation_"
COLLECTION = "volcano.colocation."
RENAMED = {
    "colocation_agent_label": "colocation_agent_label_nodes",
    "colocation_agent_probe": "colocation_agent_smoke_test",
    "colocation_kubeadm_configmap": "colocation_kubeadm_edit_configmap",
    "colocation_report_folder": "colocation_report_directory",
    "colocation_rollout": "colocation_rollout_batches",
    "colocation_scheduler_edit": "colocation_scheduler_edit_configmap",
    "colocation_scheduler_key": "colocation_scheduler_configmap_key",
    "colocation_snapshot_folder": "colocation_snapshot_directory",
}
"""Variables by their names of before the first release: docs/names.md."""


class UnknownVariable(ValueError):
    """Names of variables with our prefix that are not ours."""


def require_known(names: Iterable[object], known: Collection[str] = VARIABLES) -> None:
    """UnknownVariable if one of ``names`` begins as ours do and is not in ``known``; names the nearest."""
    unknown = sorted(name for name in names if isinstance(name, str) and name.startswith(PREFIX) and name not in known)
    if unknown:
        raise UnknownVariable(
            f"{' '.join(_sentence(name, known) for name in unknown)} The node was not read."
            " Correct the name; names that begin with colocation_ are reserved for this collection."
            " 'ansible-doc -t role volcano.colocation.node' and the other roles list all variables."
        )


def _sentence(name: str, known: Collection[str]) -> str:
    if name in RENAMED:
        return f"Variable {name} has a new name: {RENAMED[name]}."
    endings = [variable.removeprefix(PREFIX) for variable in known]
    nearest = get_close_matches(name.removeprefix(PREFIX), endings, n=1)
    return f"Unknown variable {name}: did you mean {PREFIX}{nearest[0]}?" if nearest else f"Unknown variable {name}."


STOP = "stop"
SUCCEEDED = ("committed", "none")
"""States of a transaction that was carried out, or in check mode would not be refused."""


class PrintableDisplay:
    """Ansible's display for texts that a node may have had a part in."""

    def __init__(self, display: Display) -> None:
        self._display = display

    def display(self, text: str) -> None:
        """Show a text, of several lines perhaps."""
        self._display.display(printable(text))

    def warning(self, text: Any) -> None:
        """Show a warning of one line."""
        self._display.warning(one_line(str(text)))


display = PrintableDisplay(Display())


class ColocationAction(ActionBase):
    """An action with an argument specification, whose ``work`` is all that differs between modules.

    Whatever it returns or displays passes ``printable``: here is the boundary between nodes and the terminal.
    """

    TRANSFERS_FILES = False
    _supports_check_mode = True
    _supports_diff = True
    _supports_async = False

    ARGUMENTS: ClassVar[Spec]
    host: str

    @abstractmethod
    def work(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The module's result for validated arguments of plain builtins."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        self.host = str((task_vars or {}).get("inventory_hostname", "node"))
        try:
            self._require_known_variables(task_vars or {})
        except UnknownVariable as error:
            return {**result, "failed": True, "msg": str(error)}
        self._told_of_boots: set[str] = set()
        _checked, given = self.validate_argument_spec(self.ARGUMENTS)
        # Without aliases: their values are under the option's name too.
        arguments = {name: given[name] for name in self.ARGUMENTS if name in given}
        node = Node(
            lambda name, given: self._on_node(name, given, task_vars or {}),
            arguments.get("root", "/"),
            named_cgroups(arguments),
            arguments.get("kubeadm_patches"),
            self.host,
        )
        try:
            result.update(self.work(node, strip_tags(arguments)))
        except NodeFailure as failure:
            result.update(failure.result)
        except ConnectionLost as lost:
            raise lost.cause from None  # Not from lost, whose cause it is: Ansible would tell the circle ten times.
        except (ProfileError, SnapshotError, UneditableFile, MissingLibrary) as error:
            result.update(failed=True, msg=str(error))
        return printable_result(result)

    def _require_known_variables(self, task_vars: Mapping[str, Any]) -> None:
        """Variables configure roles and playbooks; a task of the user's own passes options."""
        role = self._task._role
        if role is not None and role.get_name().startswith(COLLECTION):
            require_known(task_vars)

    def _on_node(self, name: str, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = strip_tags(
                self._execute_module(module_name=name, module_args=arguments, task_vars=task_vars)
            )
        except AnsibleConnectionFailure as error:
            raise ConnectionLost(error) from error
        warnings = answer.get("warnings")
        for warning in warnings if isinstance(warnings, list) else ():
            display.warning(warning)
        return answer

    def recover_transaction(
        self, node: Node, snapshot: dict[str, Any], way: str
    ) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """The snapshot, a new one once what was cut off has been settled, and how that ended.

        In check mode nothing is; what is to be left as it is fails there as well. Neither is anything while a journal
        cannot be read: the plan refuses that.
        """
        unfinished = snapshot.get("unfinished_transactions")
        if any(each["record"] in BLOCKING for each in snapshot.get("record_problems", ())):
            return snapshot, None
        if not unfinished or (self._task.check_mode and way != STOP):
            return snapshot, None
        found = node.recover(way, self.show_progress, unfinished)
        if found is None:
            return node.snapshot(), None
        display.warning(f"{self.host}: transaction {found['id']} had been cut off, now it is {found['state']}")
        return node.snapshot(), found

    def run_transaction(self, node: Node, document: Mapping[str, Any]) -> dict[str, Any]:
        """The end of the transaction; in check mode its refusal, by the same checks, or the state ``none``."""
        return node.check(document) if self._task.check_mode else node.transact(document, self.show_progress)

    def show_progress(self, transaction: Mapping[str, Any]) -> None:
        """Where a transaction is, for the person who watches."""
        self._tell_of_boot(transaction.get("recovered") or {})
        display.display(one_line(progress_line(self.host, transaction)))

    def _tell_of_boot(self, found: Mapping[str, Any]) -> None:
        """Once, and as soon as it is known: nobody was there to be told, and this run may break off."""
        if found.get("at_boot") and found["id"] not in self._told_of_boots:
            self._told_of_boots.add(found["id"])
            left = ", ".join(found["to_prove"]) or "nothing"
            display.warning(
                f"{self.host}: the node went down during transaction {found['id']}, which was undone when it booted"
                f" ({found['state']}); not proven since: {left}"
            )
