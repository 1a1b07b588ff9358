# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The callback fleet and results that need attention: warnings, differences, lost hosts; and its options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks.fleet_run import HOSTS, run, without_times
from ansible_collections.volcano.colocation.tests.support.tasks.limit_option import limited_hosts

ACTION = """
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        if "lost" in self._task.args:
            raise AnsibleConnectionFailure(self._task.args["lost"])
        return {**super().run(tmp, task_vars), **self._task.args}
"""
"""An action that returns its arguments as result."""

TASKS = """
- name: Results
  hosts: all
  gather_facts: false
  tasks:
    - name: Warn
      answer: {changed: false, warnings: ["{{ inventory_hostname }} is odd"]}
      when: inventory_hostname in ['n1', 'n2']
    - name: Edit
      answer: {changed: true, diff: {before: "a\\n", after: "{{ 'b' if inventory_hostname == 'n1' else 'c' }}\\n"}}
      diff: true
    - name: Edit items
      answer: {changed: true, diff: {before: "", after: "item {{ item }}\\n"}}
      loop: [1]
      diff: true
      when: inventory_hostname == 'n3'
    - name: Reach
      answer: {lost: "{{ inventory_hostname }} is down"}
      when: inventory_hostname in ['n4', 'n5']
    - name: Reach or not
      answer: {lost: never mind}
      ignore_unreachable: true
      when: inventory_hostname == 'n6'
    - name: Hide
      answer: {failed: true, msg: secret-word}
      no_log: true
      when: inventory_hostname == 'n7'
    - name: Count
      ansible.builtin.set_stats: {data: {counted: 7}}
      run_once: true

- name: End
  hosts: n8,n9,n10,n11,n12
  gather_facts: false
  max_fail_percentage: 0
  tasks:
    - name: Fail on all
      ansible.builtin.fail: {msg: the end}
    - name: Never run
      ansible.builtin.debug: {msg: never}
"""


def results(directory: Path, *arguments: str, settings: str = "") -> str:
    (directory / "action_plugins").mkdir(parents=True)
    (directory / "action_plugins" / "answer.py").write_text(ACTION, encoding="utf-8")
    done = run(directory, TASKS, *arguments, settings=settings)
    return done.output


@pytest.fixture(name="output", scope="module")
def _output(tmp_path_factory: pytest.TempPathFactory) -> str:
    return without_times(results(tmp_path_factory.mktemp("results"), settings="show_custom_stats = true\n"))


def test_warnings_are_grouped(output: str) -> None:
    assert "Warn: 2 ok, 10 skipped\n  2 hosts warning: HOST is odd\n    --limit n1,n2\n" in output


def test_a_difference_is_shown_once_for_its_hosts(output: str) -> None:
    others = ",".join(HOSTS[1:])
    assert f"Edit: 12 changed\n11 hosts, --limit {others}\n--- before\n+++ after\n@@ -1 +1 @@\n-a\n+c\n" in output
    assert "1 host, --limit n1\n" in output
    assert output.count("+c\n") == 1
    assert "1 host, --limit n3\n--- before\n+++ after\n@@ -0,0 +1 @@\n+item 1\n" in output


def test_lost_hosts_are_grouped_and_named(output: str) -> None:
    assert "Reach: 2 unreachable, 10 skipped\n  2 hosts unreachable: " in output
    assert "HOST is down" in output
    assert "\n    --limit n4,n5\n" in output
    assert "Reach or not: 1 failed and ignored" in output


def test_a_hidden_result_stays_hidden(output: str) -> None:
    assert "n7 failed: the output has been hidden" in output
    assert "secret-word" not in output


def test_the_end_of_all_hosts_is_shown_once(output: str) -> None:
    assert output.count("NO MORE HOSTS LEFT") == 1
    assert "never\n" not in output


def test_custom_statistics_follow_the_recap(output: str) -> None:
    assert output.index("CUSTOM STATS") > output.index(" unreachable : ")
    assert '"counted": 7' in output


def test_hidden_ok_results_and_failures_on_stderr(tmp_path: Path) -> None:
    settings = "display_ok_hosts = false\ndisplay_failed_stderr = true\n"
    (tmp_path / "action_plugins").mkdir()
    (tmp_path / "action_plugins" / "answer.py").write_text(ACTION, encoding="utf-8")
    done = run(tmp_path, TASKS, settings=settings)
    assert "Count" not in done.output
    assert "the end" in done.stderr
    assert "the end" not in done.stdout
    assert "Edit: 12 changed" in done.stdout


def test_every_host_is_shown_with_v_and_where_the_option_allows_it(tmp_path: Path) -> None:
    for name, arguments, settings in (("v", ["-v"], ""), ("few", [], "[callback_fleet]\ndetailed_hosts = 12\n")):
        output = results(tmp_path / name, *arguments, settings=settings)
        assert output.count("changed: [n") == 13
        assert "n12                        : ok=" in output


UNLIKE = [f"{number * 7919 % 104729:x}" for number in range(60)]


PARTLY = """
- hosts: all
  gather_facts: false
  tasks:
    - name: Fail partly
      ansible.builtin.fail: {msg: bad}
      when: inventory_hostname is match('[1-9]')
"""


def test_a_long_list_of_hosts_is_written_to_a_file(tmp_path: Path) -> None:
    done = run(tmp_path, PARTLY, hosts=UNLIKE)
    path = "colocation-reports/limits/failed-fail-partly-1"
    assert f"    --limit @{path}\n" in done.stdout
    failed = {name for name in UNLIKE if name[0] in "123456789"}
    assert limited_hosts(f"--limit @{tmp_path / path}", UNLIKE) == failed
    assert re.search(
        r"^ *\d+ hosts failed      : .* --limit @colocation-reports/limits/failed-hosts$", done.stdout, re.MULTILINE
    )
