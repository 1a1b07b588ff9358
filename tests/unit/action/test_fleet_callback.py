# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The callback fleet in separate plays: one line a task, groups of messages, batches, progress.

``test_fleet_playbooks`` has the playbooks of the collection. This file runs on every release of ansible-core.
"""

from __future__ import annotations

import re

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks.fleet_run import run, without_times

PLAYS = """
- name: Tasks
  hosts: all
  gather_facts: false
  tasks:
    - name: Show the same text
      ansible.builtin.debug: {msg: same}
    - name: Show the name
      ansible.builtin.debug: {msg: "this is {{ inventory_hostname }}"}
      when: inventory_hostname in ['n1', 'n2', 'n3']
    - name: Show items
      ansible.builtin.debug: {msg: "{{ item }}"}
      loop: [one, two]
      when: inventory_hostname in ['n1', 'n2'] or item == 'two'
    - name: Show a variable
      ansible.builtin.debug: {var: ansible_connection}
      when: inventory_hostname == 'n4'
    - name: Have no message
      ansible.builtin.assert: {that: true, quiet: true}
    - name: Skip all
      ansible.builtin.assert: {that: false}
      when: false
    - name: Run once
      ansible.builtin.assert: {that: true, quiet: true}
      run_once: true
    - name: Include tasks
      ansible.builtin.include_tasks: included.yml
    - name: Change a group
      ansible.builtin.group_by: {key: later}
      changed_when: inventory_hostname in ['n1', 'n2', 'n3']
    - name: Ignore a failure
      ansible.builtin.fail: {msg: never mind}
      ignore_errors: true
      when: inventory_hostname == 'n5'
    - name: Rescue
      block:
        - name: Fail in a block
          ansible.builtin.fail: {msg: "no space on {{ inventory_hostname }}"}
          when: inventory_hostname in ['n6', 'n7']
      rescue:
        - name: Repair
          ansible.builtin.debug: {msg: repaired}
    - name: Fail for an item
      ansible.builtin.assert: {that: "item != 2", fail_msg: two is bad, quiet: true}
      loop: [1, 2]
      when: inventory_hostname == 'n8'
    - name: Notify
      ansible.builtin.assert: {that: true, quiet: true}
      changed_when: true
      notify: Handle
    - name: Fail with many lines
      ansible.builtin.fail: {msg: "{{ ['cause of ' ~ inventory_hostname, 'a', 'b', 'c', 'd'] | join('\\n') }}"}
      when: inventory_hostname in ['n1', 'n2', 'n3']
  handlers:
    - name: Handle
      ansible.builtin.debug: {msg: handled}

- name: Few hosts
  hosts: n11,n12
  gather_facts: false
  tasks:
    - name: Show in full
      ansible.builtin.debug: {msg: few}

- name: Batches
  hosts: all
  gather_facts: false
  serial: [1, 3, 4]
  tasks:
    - name: Wait
      ansible.builtin.wait_for: {timeout: 4}
      when: inventory_hostname == 'n4'
    - name: Change
      ansible.builtin.assert: {that: true, quiet: true}
      changed_when: true

- name: Without order
  hosts: all
  gather_facts: false
  strategy: free
  tasks:
    - name: First
      ansible.builtin.debug: {msg: a}
    - name: Second
      ansible.builtin.debug: {msg: b}
"""
ALIVE = "n4,n5,n6,n7,n9,n10,n11,n12"


@pytest.fixture(name="output", scope="module")
def _output(tmp_path_factory: pytest.TempPathFactory) -> str:
    done = run(tmp_path_factory.mktemp("fleet"), PLAYS, settings="[callback_fleet]\nprogress_seconds = 3\n")
    assert done.status == 2, done.output
    return done.stdout


@pytest.fixture(name="plays")
def _plays(output: str) -> list[str]:
    """The texts of the plays and of the recap, without lines of progress."""
    lines = [line for line in without_times(output).splitlines() if " ended; running: " not in line]
    return "\n".join(lines).strip().split("\n\nPLAY ")


def test_a_task_is_one_line_and_its_messages_are_grouped(plays: list[str]) -> None:
    assert plays[0].splitlines() == [
        "PLAY [Tasks], 12 hosts",
        "Show the same text: 12 ok",
        "  12 hosts: same",
        "Show the name: 3 ok, 9 skipped",
        "  3 hosts: this is HOST",
        "    --limit n1,n2,n3",
        "Show items: 12 ok",
        "  12 hosts: two",
        "  2 hosts: one",
        "    --limit n1,n2",
        "Show a variable: 1 ok, 11 skipped",
        "  n4: {",
        '        "ansible_connection": "local"',
        "    … 1 more line, which -v shows",
        "Have no message: 12 ok",
        "ansible.builtin.debug: 12 ok",
        "  12 hosts: included",
        "Change a group: 3 changed, 9 ok",
        "Ignore a failure: 1 failed and ignored, 11 skipped",
        "  n5 failed and ignored: never mind",
        "Fail in a block: 2 failed, 10 skipped",
        "  2 hosts failed: no space on HOST",
        "    --limit n6,n7",
        "Repair: 2 ok",
        "  2 hosts: repaired",
        "    --limit n6,n7",
        "Fail for an item: 1 failed, 11 skipped",
        "  n8 failed: (item=2) two is bad",
        "Notify: 11 changed",
        "Fail with many lines: 3 failed, 8 skipped",
        "  3 hosts failed: cause of HOST",
        "    a",
        "    … 3 more lines, which -v shows",
        "    --limit n1,n2,n3",
        "handler Handle: 8 ok",
        "  8 hosts: handled",
        f"    --limit {ALIVE}",
    ]


def test_a_play_of_few_hosts_is_shown_in_full(plays: list[str]) -> None:
    assert plays[1].startswith("[Few hosts] ***")
    # Whichever host ends first is shown first.
    for host in ("n11", "n12"):
        assert f'ok: [{host}] => {{\n    "msg": "few"\n}}' in plays[1]


def test_each_batch_has_a_line_and_the_tasks_are_counted_at_the_end(plays: list[str]) -> None:
    assert plays[2].splitlines() == [
        "[Batches], 12 hosts",
        "  1 of 12: n4: changed (Wait)",
        "  4 of 12: 3 hosts --limit n5,n6,n7: changed",
        "  8 of 12: 4 hosts --limit n9,n10,n11,n12: changed",
        "Wait: 1 ok, 7 skipped",
        "Change: 8 changed",
    ]


def test_a_batch_shows_how_long_it_and_its_task_took(output: str) -> None:
    times = re.search(r"  1 of 12: n4: changed, (\d+) s \(Wait (\d+) s", output)
    assert times, output
    assert int(times[1]) >= int(times[2]) >= 4


def test_a_task_that_takes_long_shows_its_progress(output: str) -> None:
    assert re.search(r"^  Wait: 0 hosts ended; running: n4 [3-9] s$", output, re.MULTILINE), output


def test_without_a_lockstep_each_task_is_shown_once(plays: list[str]) -> None:
    tasks = [
        "First: 8 ok",
        "  8 hosts: a",
        f"    --limit {ALIVE}",
        "Second: 8 ok",
        "  8 hosts: b",
        f"    --limit {ALIVE}",
    ]
    assert plays[3].splitlines() == ["[Without order], 12 hosts", *tasks]


def test_the_recap_has_a_group_for_each_result(plays: list[str]) -> None:
    recap = plays[4].splitlines()
    assert recap[0].startswith("RECAP ***")
    assert [re.sub(r" : .* (?=--limit)", " : … ", line) for line in recap[1:]] == [
        "  4 hosts failed      : … --limit n1,n2,n3,n8",
        f"  8 hosts changed     : … --limit {ALIVE}",
    ]
