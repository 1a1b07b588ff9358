# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recap has one group for each result, whatever the number of hosts."""

from __future__ import annotations

from collections.abc import Collection

from ansible_collections.volcano.colocation.plugins.plugin_utils.fleet.recap import COUNTERS, render_recap
from ansible_collections.volcano.colocation.plugins.plugin_utils.fleet.task_tally import Outcome


def limit(name: str, hosts: Collection[str]) -> str:
    return f"{name}: {len(hosts)}"


def counters(**values: int) -> dict[str, int]:
    return {**dict.fromkeys(COUNTERS, 0), **values}


def test_the_worst_result_comes_first_and_counters_are_ranges() -> None:
    hosts = {
        **{f"ok{number}": counters(ok=4 + number % 2, skipped=number % 3) for number in range(190)},
        "first": counters(ok=6, changed=1),
        "down": counters(unreachable=1, failures=1),
        **{f"bad{number}": counters(ok=1, failures=1, changed=number) for number in range(8)},
    }
    lines = list(render_recap(hosts, limit))
    assert [line.text for line in lines] == [
        "   1 host unreachable : unreachable=1 failed=1 unreachable-hosts: 1",
        "  8 hosts failed      : ok=1 changed=0-7 failed=1 failed-hosts: 8",
        "   1 host changed     : ok=6 changed=1 changed-hosts: 1",
        "190 hosts ok          : ok=4-5 skipped=0-2 ok-hosts: 190",
    ]
    assert [line.outcome for line in lines] == [Outcome.UNREACHABLE, Outcome.FAILED, Outcome.CHANGED, Outcome.OK]


def test_all_hosts_need_no_option() -> None:
    (line,) = render_recap({"a": counters(ok=1), "b": counters(ok=1)}, lambda _name, _hosts: "")
    assert line.text == "  2 hosts ok          : ok=1"
