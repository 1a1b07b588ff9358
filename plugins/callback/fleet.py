# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The screen of a run over many hosts: one line for each task, and groups of hosts with the same message."""

from __future__ import annotations

DOCUMENTATION = r"""
name: fleet
type: stdout
short_description: Show one line for each task on many hosts
version_added: 0.1.0
author:
  - The volcano.colocation authors (@volcano-sh)
description:
  - Shows one line with counts for each task instead of one line for each host. Tasks that all hosts skip are omitted,
    and tasks with C(run_once) that change nothing and have no message.
  - Failures, unreachable hosts, warnings, messages of C(debug) and differences are always shown. Hosts with the same
    text are one group, with a pattern for C(--limit).
  - The recap has one group for each result.
  - A play of at most O(detailed_hosts) hosts, and every play with C(-v), is shown as by the callback
    P(ansible.builtin.default#callback).
  - In a play with C(serial) that is not in check mode, each batch has a line with its hosts, its result and the time of
    its longest tasks. The line of each task follows at the end of the play.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
options:
  detailed_hosts:
    description: The largest number of hosts of a play for which each host is shown as by the default callback.
    type: int
    default: 3
    env:
      - name: COLOCATION_DETAILED_HOSTS
    ini:
      - section: callback_fleet
        key: detailed_hosts
  progress_seconds:
    description:
      - Seconds after which a running task is shown, with the number of hosts that have ended and the hosts it runs on.
        Then it is shown again after twice the time.
      - V(0) never shows it.
    type: int
    default: 30
    env:
      - name: COLOCATION_PROGRESS_SECONDS
    ini:
      - section: callback_fleet
        key: progress_seconds
  limit_directory:
    description:
      - The directory for lists of hosts that are too long for a pattern. They are written to C(limits) in it. If the
        directory is missing, it is created with mode 0700 and a C(.gitignore).
      - If it is empty, the first hosts of such a list are shown.
    type: str
    default: colocation-reports
    env:
      - name: COLOCATION_LIMIT_DIRECTORY
    ini:
      - section: callback_fleet
        key: limit_directory
requirements:
  - set as stdout callback in the configuration
"""

EXAMPLES = r"""
# ansible.cfg
# [defaults]
# stdout_callback = volcano.colocation.fleet
#
# or for one run
# ANSIBLE_STDOUT_CALLBACK=volcano.colocation.fleet ansible-playbook -i inventory volcano.colocation.assess
"""

import time
from collections.abc import Iterable, MutableMapping
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.playbook.task_include import TaskInclude
from ansible.plugins.callback.default import CallbackModule as DefaultCallback

from ..plugin_utils.fleet.fleet_play import FleetPlay, PlayScope
from ..plugin_utils.fleet.heartbeat import Heartbeat
from ..plugin_utils.fleet.recap import render_recap
from ..plugin_utils.fleet.result_text import failure_text, message_text
from ..plugin_utils.fleet.task_tally import Line, Outcome, TaskTally
from ..plugin_utils.node.output_files import LimitOptions
from ..plugin_utils.report.readable_numbers import render_count

COLORS = {
    Outcome.UNREACHABLE: constants.COLOR_UNREACHABLE,
    Outcome.FAILED: constants.COLOR_ERROR,
    Outcome.IGNORED: constants.COLOR_WARN,
    Outcome.WARNING: constants.COLOR_WARN,
    Outcome.CHANGED: constants.COLOR_CHANGED,
    Outcome.OK: constants.COLOR_OK,
    Outcome.SKIPPED: constants.COLOR_SKIP,
}
IN_ERROR = (Outcome.UNREACHABLE, Outcome.FAILED)
FREE = ("free", "host_pinned", "ansible.builtin.free", "ansible.builtin.host_pinned")
"""Strategies in which hosts do not wait for each other."""

Result = Any
"""ansible-core's result of a task on a host: TaskResult, since 2.19 CallbackTaskResult."""


class CallbackModule(DefaultCallback):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "volcano.colocation.fleet"

    def __init__(self) -> None:
        super().__init__()
        self._fleet: FleetPlay | None = None
        self._separator = "\n"
        self._groups: dict[str, list[str]] = {}
        self._has_no_hosts_left = False
        self._heartbeat = Heartbeat(0, self._show_running)

    def set_options(self, task_keys: Any = None, var_options: Any = None, direct: Any = None) -> None:
        super().set_options(task_keys=task_keys, var_options=var_options, direct=direct)
        self._heartbeat = Heartbeat(self.get_option("progress_seconds"), self._show_running)

    # Plays and tasks

    def v2_playbook_on_play_start(self, play: Any) -> None:
        if self._fleet and self._fleet.scope.uuid == play._uuid:
            self._show(self._fleet.begin_batch(time.monotonic()))
            return
        self._end_play()
        variables = play.get_variable_manager().get_vars(play=play)
        hosts = len(variables.get("ansible_play_hosts_all", ()))
        # Groups of the first play: later ones may exist only in this run.
        self._groups = self._groups or dict(variables.get("groups", {}))
        if self._is_fleet(hosts):
            self._play = play
            self._fleet = FleetPlay(self._scope(play, hosts, len(variables.get("ansible_play_batch", ()))))
            mark = " [CHECK MODE]" if play.check_mode and self.get_option("check_mode_markers") else ""
            self._display.display(f"{self._separator}PLAY [{play.get_name().strip()}]{mark}, {render_count(hosts)}")
            self._separator = ""
            self._show(self._fleet.begin_batch(time.monotonic()))
        else:
            self._separator = "\n"
            super().v2_playbook_on_play_start(play)

    def _is_fleet(self, hosts: int) -> bool:
        return self._display.verbosity == 0 and hosts > self.get_option("detailed_hosts")

    def _limit(self, hosts: int) -> LimitOptions:
        directory = self.get_option("limit_directory")
        return LimitOptions(self._groups, Path(directory) if directory else None, hosts)

    def _scope(self, play: Any, hosts: int, batch: int) -> PlayScope:
        has_batches = bool(play.serial) and batch < hosts
        return PlayScope(
            uuid=play._uuid,
            hosts=hosts,
            limit=self._limit(hosts),
            in_lockstep=play.strategy not in FREE,
            has_batches=has_batches,
            shows_batches=has_batches and not play.check_mode,
            shows_ok=self.get_option("display_ok_hosts"),
        )

    def _end_play(self) -> None:
        self._heartbeat.stop()
        if self._fleet:
            self._show(self._fleet.end())
        if self._has_no_hosts_left:
            self._show([Line("NO MORE HOSTS LEFT", Outcome.FAILED)])
        self._fleet = None
        self._has_no_hosts_left = False

    def _task_start(self, task: Any, prefix: str | None = None) -> None:
        if not self._fleet:
            super()._task_start(task, prefix)
            return
        self._heartbeat.stop()
        self._begin_task(self._fleet, task, "handler " if prefix == "RUNNING HANDLER" else "")
        self._heartbeat.start()

    def _begin_task(self, fleet: FleetPlay, task: Any, prefix: str = "") -> None:
        # Without the role: task.get_name() would add it.
        name = f"{prefix}{task.name or task.get_name()}".strip()
        tally = TaskTally(name, time.monotonic(), is_once=bool(task.run_once))
        self._show(fleet.begin_task(task._uuid, f"{task.get_path()} {name}", tally, time.monotonic()))

    def _tally(self, fleet: FleetPlay, task: Any) -> TaskTally:
        if not fleet.has_task(task._uuid):
            self._begin_task(fleet, task)
        return fleet.task(task._uuid)

    def v2_playbook_on_include(self, included_file: Any) -> None:
        if not self._fleet:
            super().v2_playbook_on_include(included_file)

    def v2_playbook_on_no_hosts_remaining(self) -> None:
        if self._fleet:
            # Tasks of a rescue can follow, and Ansible can send this twice.
            self._has_no_hosts_left = True
        else:
            super().v2_playbook_on_no_hosts_remaining()

    # Results

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        if self._fleet:
            self._tally(self._fleet, task).start(host.get_name(), time.monotonic())
        else:
            super().v2_runner_on_start(host, task)

    def v2_runner_on_ok(self, result: Result) -> None:
        if not self._fleet:
            super().v2_runner_on_ok(result)
            return
        fields = _fields(result)
        is_include = isinstance(result._task, TaskInclude)
        outcome = Outcome.SKIPPED if is_include else Outcome.CHANGED if fields.get("changed") else Outcome.OK
        self._end_host(self._fleet, result, outcome, self._message(result))

    def v2_runner_on_failed(self, result: Result, ignore_errors: bool = False) -> None:  # noqa: FBT001, FBT002
        if not self._fleet:
            super().v2_runner_on_failed(result, ignore_errors)
            return
        outcome = Outcome.IGNORED if ignore_errors else Outcome.FAILED
        self._end_host(self._fleet, result, outcome, failure_text(_fields(result)))

    def v2_runner_on_unreachable(self, result: Result) -> None:
        if not self._fleet:
            super().v2_runner_on_unreachable(result)
            return
        outcome = Outcome.IGNORED if result._task.ignore_unreachable else Outcome.UNREACHABLE
        self._end_host(self._fleet, result, outcome, failure_text(_fields(result)))

    def v2_runner_on_skipped(self, result: Result) -> None:
        if self._fleet:
            self._end_host(self._fleet, result, Outcome.SKIPPED, "")
        else:
            super().v2_runner_on_skipped(result)

    def v2_runner_item_on_ok(self, result: Result) -> None:
        if self._fleet:
            self._add_item(self._fleet, result, Outcome.OK, self._message(result))
        else:
            super().v2_runner_item_on_ok(result)

    def v2_runner_item_on_failed(self, result: Result) -> None:
        if self._fleet:
            text = f"(item={self._get_item_label(_fields(result))}) {failure_text(_fields(result))}"
            self._add_item(self._fleet, result, Outcome.FAILED, text)
        else:
            super().v2_runner_item_on_failed(result)

    def v2_runner_item_on_skipped(self, result: Result) -> None:
        if not self._fleet:
            super().v2_runner_item_on_skipped(result)

    def v2_runner_retry(self, result: Result) -> None:
        if not self._fleet:
            super().v2_runner_retry(result)

    def v2_on_file_diff(self, result: Result) -> None:
        if not self._fleet:
            super().v2_on_file_diff(result)
            return
        fields = _fields(result)
        for part in fields["results"] if result._task.loop and "results" in fields else [fields]:
            text = self._get_diff(part["diff"]) if part.get("diff") and part.get("changed") else ""
            if text:
                self._tally(self._fleet, result._task).add_diff(result._host.get_name(), text)

    def _end_host(self, fleet: FleetPlay, result: Result, outcome: Outcome, text: str) -> None:
        self._add_item(fleet, result, outcome, text)
        fleet.end_host(self._tally(fleet, result._task), result._host.get_name(), outcome, time.monotonic())

    def _add_item(self, fleet: FleetPlay, result: Result, outcome: Outcome, text: str) -> None:
        tally, host, fields = self._tally(fleet, result._task), result._host.get_name(), _fields(result)
        tally.add_text(host, outcome, text)
        for warning in fields.pop("warnings", None) or ():
            tally.add_text(host, Outcome.WARNING, str(warning))
        # The display shows a deprecation once.
        self._handle_warnings(fields)

    def _message(self, result: Result) -> str:
        """The text of a result that is always shown, such as that of ``debug``."""
        fields = _fields(result)
        if not self._run_is_verbose(result) or "results" in fields:
            return ""
        self._clean_results(fields, result._task.action)
        return message_text(fields) or self._dump_results(fields)

    # Output

    def v2_playbook_on_stats(self, stats: Any) -> None:
        self._end_play()
        if not self._is_fleet(len(stats.processed)):
            super().v2_playbook_on_stats(stats)
            return
        self._display.banner("PLAY RECAP")
        counters = {host: stats.summarize(host) for host in stats.processed}
        self._show(render_recap(counters, self._limit(len(counters))))
        # Statistics of the playbook and the marker of check mode, without hosts.
        if self.get_option("show_custom_stats") or self.get_option("check_mode_markers"):
            super().v2_playbook_on_stats(_NoHosts(stats.custom))

    def _show(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self._separator = "\n"
            is_error = line.outcome in IN_ERROR and self.get_option("display_failed_stderr")
            self._display.display(line.text, color=COLORS[line.outcome], stderr=bool(is_error))

    def _show_running(self) -> None:
        """Called by the thread of the heartbeat."""
        fleet = self._fleet
        for line in fleet.running(time.monotonic()) if fleet else ():
            self._display.display(f"  {line}")


class _NoHosts:
    """Statistics of a run without its hosts."""

    def __init__(self, custom: dict[str, Any]) -> None:
        self.processed: dict[str, int] = {}
        self.custom = custom


def _fields(result: Result) -> MutableMapping[str, Any]:
    """The fields of a result."""
    return result.result if hasattr(result, "result") else result._result
