# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts from Ansible's output under -vvv."""

from __future__ import annotations

from ansible_collections.volcano.colocation.tests.bench.verbose import parse_trace

OUTPUT = """\
ansible-playbook [core 2.19.14]
  python module location = /venv/lib/python3.11/site-packages/ansible
TASK [volcano.colocation.node : Look at the node and plan] ****
task path: /a directory/ansible_collections/volcano/colocation/roles/node/tasks/observe.yml:4
Using module file /a directory/ansible_collections/volcano/colocation/plugins/modules/node_snapshot.py
Pipelining is enabled.
<127.0.0.1> ESTABLISH SSH CONNECTION FOR USER: root
<127.0.0.1> SSH: EXEC ssh -o ControlMaster=auto 127.0.0.1 '/bin/sh -c '"'"'/usr/bin/python3 && sleep 0'"'"''
<127.0.0.1> (0, b'{"snapshot": "Using module file /not/at/the/beginning.py"}', b'')
ok: [bench] => {"msg": "<127.0.0.1> SSH: EXEC is not a command here"}
"""


def transaction(times: int) -> str:
    line = "Using module file /c/ansible_collections/volcano/colocation/plugins/modules/node_transaction.py\n"
    return OUTPUT + line * times + OUTPUT


def test_modules_and_commands_are_counted_by_their_lines() -> None:
    trace = parse_trace(OUTPUT)
    assert dict(trace.modules) == {"node_snapshot": 1}
    assert (trace.executions, trace.polls, trace.commands) == (1, 0, 1)


def test_polls_of_a_transaction_are_counted_separately() -> None:
    trace = parse_trace(transaction(5))
    assert (trace.executions, trace.polls) == (3, 4)


def test_a_transaction_that_ends_immediately_has_no_poll() -> None:
    trace = parse_trace(transaction(1))
    assert (trace.executions, trace.polls) == (3, 0)


def test_a_run_that_reached_no_node() -> None:
    trace = parse_trace("[ERROR]: no inventory\n")
    assert (trace.executions, trace.polls, trace.commands) == (0, 0, 0)
