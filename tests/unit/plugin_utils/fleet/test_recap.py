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
        "   1 host unreachable  : ok=0 changed=0 unreachable=1 failed=1 skipped=0 rescued=0 ignored=0",
        "          unreachable-hosts: 1",
        "  8 hosts failed       : ok=1 changed=0-7 unreachable=0 failed=1 skipped=0 rescued=0 ignored=0",
        "          failed-hosts: 8",
        "   1 host changed      : ok=6 changed=1 unreachable=0 failed=0 skipped=0 rescued=0 ignored=0",
        "          changed-hosts: 1",
        "190 hosts ok           : ok=4-5 changed=0 unreachable=0 failed=0 skipped=0-2 rescued=0 ignored=0",
        "          ok-hosts: 190",
    ]
    assert [line.outcome for line in lines[::2]] == [Outcome.UNREACHABLE, Outcome.FAILED, Outcome.CHANGED, Outcome.OK]
