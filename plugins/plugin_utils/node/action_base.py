# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of all action plugins: check variables and arguments, run modules on the node, turn errors into results."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ...module_utils.errors import reason_of
from ...module_utils.safe_text import one_line, printable, printable_result
from ...module_utils.snapshot.record_evidence import BLOCKING
from ..edit.text_errors import MissingLibrary, UneditableFile
from ..facts.interpreter import SnapshotError
from ..profile.argspec import Spec
from ..profile.nearest_name import nearest_name
from ..profile.option_names import PREFIX, option_names
from ..profile.validators import ProfileError, named_cgroups
from ..profile.variable_names import VARIABLES
from ..report.plan_result import progress_line
from .progress import Progress
from .transport import ConnectionLost, Node, NodeFailure


def strip_tags(value: Any) -> Any:
    """The same value with plain str, int, float, bool, list and dict instead of Ansible's subclasses."""
    if isinstance(value, Mapping):
        return {strip_tags(key): strip_tags(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [strip_tags(item) for item in value]
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    return str.__str__(value) if isinstance(value, str) else value


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
"""New names of variables by their names before the first release: docs/names.md."""


class UnknownVariable(ValueError):
    """Variables with this collection's prefix that it does not have."""


def unknown_variables(names: Iterable[object], known: Collection[str] = VARIABLES) -> list[str]:
    """A sentence for each of ``names`` with our prefix that is not in ``known``; it suggests a similar name."""
    unknown = sorted(name for name in names if isinstance(name, str) and name.startswith(PREFIX) and name not in known)
    return [_sentence(name, known) for name in unknown]


def require_known(names: Iterable[object], known: Collection[str] = VARIABLES) -> None:
    """UnknownVariable with the sentences of unknown variables."""
    unknown = unknown_variables(names, known)
    if unknown:
        raise UnknownVariable(
            f"{' '.join(unknown)} The node was not read."
            " Correct the name; names that begin with colocation_ are reserved for this collection."
            " 'ansible-doc -t role volcano.colocation.node' and the other roles list all variables."
        )


def _sentence(name: str, known: Collection[str]) -> str:
    if name in RENAMED:
        return f"Variable {name} has a new name: {RENAMED[name]}."
    nearest = nearest_name(name.removeprefix(PREFIX), [variable.removeprefix(PREFIX) for variable in known])
    return f"Unknown variable {name}: did you mean {PREFIX}{nearest}?" if nearest else f"Unknown variable {name}."


STOP = "stop"
SUCCEEDED = ("committed", "none")
"""States of a transaction that was applied, or in check mode would not be refused."""


class PrintableDisplay:
    """Ansible's display for texts that may contain data from a node."""

    def __init__(self, display: Display) -> None:
        self._display = display

    @property
    def is_verbose(self) -> bool:
        """Whether the run has ``-v`` or more."""
        return bool(self._display.verbosity > 0)

    def display(self, text: str) -> None:
        """Show a text of one or more lines."""
        self._display.display(printable(text))

    def warning(self, text: Any) -> None:
        """Show a warning on one line."""
        self._display.warning(one_line(str(text)))


display = PrintableDisplay(Display())


class ColocationAction(ActionBase):
    """An action with an argument specification; each module implements ``execute``.

    All results and displayed texts pass ``printable``: this is the boundary between nodes and the terminal.
    """

    TRANSFERS_FILES = False
    _supports_check_mode = True
    _supports_diff = True
    _supports_async = False

    ARGUMENTS: ClassVar[Spec]
    host: str
    progress: Progress

    @abstractmethod
    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The module's result for validated arguments, which are plain builtins."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        self.host = str((task_vars or {}).get("inventory_hostname", "node"))
        self._names = option_names(self._load_name.rpartition(".")[2], self.ARGUMENTS)
        try:
            self._require_known_variables(task_vars or {})
        except UnknownVariable as error:
            return {**result, "failed": True, "msg": str(error)}
        self._reported_boots: set[str] = set()
        self.progress = Progress(lambda text: display.display(one_line(text)))
        _checked, options = self.validate_argument_spec(self.ARGUMENTS)
        # Without aliases: their values are also under the option's name.
        arguments = {name: options[name] for name in self.ARGUMENTS if name in options}
        node = Node(
            lambda name, module_arguments: self._on_node(name, module_arguments, task_vars or {}),
            arguments.get("root", "/"),
            named_cgroups(arguments),
            arguments.get("kubeadm_patches"),
            self.host,
        )
        try:
            result.update(self.execute(node, strip_tags(arguments)))
        except NodeFailure as failure:
            result.update(failure.result)
        except ConnectionLost as lost:
            raise lost.cause from None  # Not from lost: Ansible would print the circular chain of causes ten times.
        except ProfileError as error:
            result.update(failed=True, msg=f"{self._names.variable(error.variable)}: {error.message}")
        except (SnapshotError, UneditableFile, MissingLibrary) as error:
            result.update(failed=True, msg=str(error))
        except OSError as error:
            result.update(failed=True, msg=f"{error.filename or 'A file'} on the controller: {reason_of(error)}")
        return printable_result(result if self._of_role() else self._names.with_options(result))

    def _of_role(self) -> bool:
        """Whether a role of this collection called the module: then its user set variables, not options."""
        role = self._task._role
        return role is not None and str(role.get_name()).startswith(COLLECTION)

    def _require_known_variables(self, task_vars: Mapping[str, Any]) -> None:
        """Only for tasks of this collection's roles: users' own tasks pass options, not variables."""
        if self._of_role():
            require_known(task_vars)

    def _on_node(self, name: str, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        try:
            module_result: dict[str, Any] = strip_tags(
                self._execute_module(module_name=name, module_args=arguments, task_vars=task_vars)
            )
        except AnsibleConnectionFailure as error:
            raise ConnectionLost(error) from error
        warnings = module_result.get("warnings")
        for warning in warnings if isinstance(warnings, list) else ():
            display.warning(warning)
        return module_result

    def recover_transaction(
        self, node: Node, snapshot: dict[str, Any], way: str
    ) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Recover interrupted transactions as ``way`` says; (the snapshot, or a new one after that; result or None).

        Check mode recovers nothing, but ``stop`` fails there too. Nothing is recovered while a journal cannot be read,
        because the plan refuses that.
        """
        unfinished = snapshot.get("unfinished_transactions")
        if any(problem["record"] in BLOCKING for problem in snapshot.get("record_problems", ())):
            return snapshot, None
        if not unfinished or (self._task.check_mode and way != STOP):
            return snapshot, None
        recovered = node.recover(way, self.show_progress, unfinished)
        if recovered is None:
            return node.snapshot(), None
        display.warning(f"{self.host}: transaction {recovered['id']} was interrupted, now it is {recovered['state']}")
        return node.snapshot(), recovered

    def run_transaction(self, node: Node, document: Mapping[str, Any]) -> dict[str, Any]:
        """The result of the transaction; in check mode its refusal by the same checks, or the state ``none``."""
        return node.check(document) if self._task.check_mode else node.transact(document, self.show_progress)

    def show_progress(self, transaction: Mapping[str, Any]) -> None:
        """Display the progress of a transaction."""
        self._report_boot_rollback(transaction.get("recovered") or {})
        self.progress(progress_line(self.host, transaction))

    def _report_boot_rollback(self, recovered: Mapping[str, Any]) -> None:
        """Warn once about a rollback at boot, immediately, because this run may be interrupted."""
        if recovered.get("at_boot") and recovered["id"] not in self._reported_boots:
            self._reported_boots.add(recovered["id"])
            unproven = ", ".join(recovered["to_prove"]) or "nothing"
            display.warning(
                f"{self.host}: the node went down during transaction {recovered['id']}, which was undone when it booted"
                f" ({recovered['state']}); not proven since: {unproven}"
            )
