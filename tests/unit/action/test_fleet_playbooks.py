# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks over many hosts with the callback fleet: a run prints at most 60 lines.

The hosts answer with recorded snapshots; see ``recorded_fleet``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import ALIGNED, DIFFERING
from ansible_collections.volcano.colocation.tests.support.hosts.recorded_fleet import (
    BROKEN,
    BROKEN_MESSAGE,
    REFUSING,
    UNREACHABLE,
    numbered,
    write_fleet,
)
from ansible_collections.volcano.colocation.tests.support.tasks.fleet_run import SETTINGS
from ansible_collections.volcano.colocation.tests.support.tasks.limit_option import limited_hosts
from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import Done, playbook, started_playbook

LINES = 60
"""The largest number of lines of a run that changes nothing, whatever the number of hosts."""
NO_NRI, NO_NRI_DIFFERING, OTHER_PROFILE = (
    "bookworm-v1-aligned",
    "bookworm-v1-drivers-differ",
    "trixie-v2-cgroupfs-aligned",
)
PROFILE = {"colocation_system_reserved": {"cpu": "500m"}, "colocation_allow_disruption": True}


@dataclass(frozen=True)
class Fleet:
    directory: Path
    states: Mapping[str, str]

    def run(self, name: str, *arguments: str) -> Done:
        """Run a playbook as a user starts it, with the callback."""
        return started_playbook(self.directory, *self._arguments(name), *arguments)

    def run_by_default(self, name: str, *arguments: str) -> Done:
        """The same with Ansible's default callback."""
        return playbook(self.directory, *self._arguments(name), *arguments)

    def _arguments(self, name: str) -> list[str]:
        return [f"volcano.colocation.{name}", "-i", "inventory.json", "-e", json.dumps(PROFILE)]

    def hosts(self, *states: str) -> set[str]:
        return {name for name, state in self.states.items() if state in states}

    def limited(self, option: str) -> set[str]:
        return limited_hosts(option, self.states)


def fleet(directory: Path, *states: tuple[str, int]) -> Fleet:
    hosts = numbered(states)
    write_fleet(directory, hosts)
    (directory / "ansible.cfg").write_text(SETTINGS, encoding="utf-8")
    return Fleet(directory, hosts)


def groups_of(output: str) -> list[tuple[int, str, str]]:
    """The number of nodes, the verdict and the option of each group of the report."""
    found_groups = re.findall(r"^ +(\d+)  ([a-z ]+?)  +\S.*\n(?: {22}\S.*\n)?? {22}(--limit .*)$", output, re.MULTILINE)
    return [(int(number), verdict, option) for number, verdict, option in found_groups]


@pytest.fixture(name="large", scope="module")
def _large(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    states = ((ALIGNED, 130), (DIFFERING, 40), (UNREACHABLE, 5), (BROKEN, 5), (NO_NRI, 10), (OTHER_PROFILE, 10))
    return fleet(tmp_path_factory.mktemp("large"), *states)


@pytest.fixture(name="assessed", scope="module")
def _assessed(large: Fleet) -> Done:
    """One run over 200 hosts."""
    done = large.run("assess")
    assert done.status == 4, done.output
    return done


@pytest.mark.many_hosts
def test_200_hosts_are_assessed_in_a_screen(assessed: Done) -> None:
    assert len(assessed.output.splitlines()) <= LINES, assessed.output
    assert "200 nodes: 10 not looked at, 60 misaligned, 130 aligned" in assessed.output


@pytest.mark.many_hosts
def test_each_group_can_be_copied_into_limit(large: Fleet, assessed: Done) -> None:
    groups = groups_of(assessed.output)
    assert [(number, verdict) for number, verdict, _option in groups] == [
        (10, "not looked at"),
        (40, "misaligned"),
        (10, "misaligned"),
        (10, "misaligned"),
        (130, "aligned"),
    ]
    limits = [large.limited(option) for _number, _verdict, option in groups]
    assert limits[0] == large.hosts(UNREACHABLE, BROKEN)
    assert limits[1] == large.hosts(DIFFERING)
    assert {frozenset(limit) for limit in limits[2:4]} == {
        frozenset(large.hosts(NO_NRI)),
        frozenset(large.hosts(OTHER_PROFILE)),
    }
    assert limits[4] == large.hosts(ALIGNED)


@pytest.mark.many_hosts
def test_failed_and_unreachable_hosts_are_grouped_with_the_reason(large: Fleet, assessed: Done) -> None:
    assert "Gather the node's facts: 5 unreachable, 5 failed, 190 ok" in assessed.output
    assert f"  5 hosts failed: {BROKEN_MESSAGE}\n" in assessed.output
    reason = re.search(
        r"^  5 hosts unreachable: .*Connection refused.*\n    (--limit .*)$", assessed.output, re.MULTILINE
    )
    assert reason, assessed.output
    assert large.limited(reason[1]) == large.hosts(UNREACHABLE)


@pytest.mark.many_hosts
def test_the_recap_has_a_group_for_each_result(large: Fleet, assessed: Done) -> None:
    recap = assessed.output[assessed.output.index("PLAY RECAP") :].splitlines()[1:]
    assert [" ".join(line.split()[:3]) for line in recap] == ["5 hosts unreachable", "5 hosts failed", "190 hosts ok"]
    assert large.limited(recap[1][recap[1].index("--limit") :]) == large.hosts(BROKEN)


@pytest.mark.many_hosts
def test_every_node_that_was_read_has_a_report_that_git_ignores(large: Fleet, assessed: Done) -> None:
    assert assessed.stdout
    reports = large.directory / "colocation-reports"
    assert {path.stem for path in reports.glob("*.json")} == large.hosts(ALIGNED, DIFFERING, NO_NRI, OTHER_PROFILE)
    assert (reports / ".gitignore").is_file()


@pytest.mark.many_hosts
def test_a_named_host_is_reported_in_full(large: Fleet) -> None:
    done = large.run("assess", "--limit", "node001")
    assert "node001: MISALIGNED" not in done.output
    assert "\nnode001: aligned." in done.output
    assert "\n  kubelet    1.20.2, healthy, cgroup driver systemd" in done.output
    assert "\nok: [node001]\n" in done.output
    assert "NODES  VERDICT" not in done.output


@pytest.mark.many_hosts
def test_named_hosts_are_reported_in_full_and_in_a_table(large: Fleet) -> None:
    done = large.run("assess", "--limit", "node001,node131")
    assert "\nnode001: aligned." in done.output
    assert "\nnode131: MISALIGNED." in done.output
    assert done.output.count("FIRST FINDING") == 1


@pytest.mark.many_hosts
def test_v_reports_every_host(large: Fleet) -> None:
    done = large.run("assess", "-v", "--limit", "~node(12[7-9]|13[0-4])$")
    assert len(re.findall(r"^node1\d\d: (?:aligned|MISALIGNED)\.", done.output, re.MULTILINE)) == 8
    assert done.output.count("\nNODE     VERDICT ") == 1


@pytest.mark.many_hosts
def test_with_the_default_callback_the_report_has_groups_too(large: Fleet) -> None:
    done = large.run_by_default("assess", "--limit", "~node(12[7-9]|13[0-4])$")
    assert [(number, verdict) for number, verdict, _option in groups_of(done.output)] == [
        (4, "misaligned"),
        (4, "aligned"),
    ]
    assert "\n  kubelet    " not in done.output
    assert "ANSIBLE_STDOUT_CALLBACK=volcano.colocation.fleet" in done.output


@pytest.fixture(name="small", scope="module")
def _small(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """A fleet with the same groups; its runs have as many lines as those of a larger one."""
    states = ((ALIGNED, 8), (DIFFERING, 6), (UNREACHABLE, 1), (BROKEN, 4), (NO_NRI, 4), (NO_NRI_DIFFERING, 4))
    return fleet(tmp_path_factory.mktemp("small"), *states)


def test_verify_fails_for_groups_of_hosts(small: Fleet) -> None:
    done = small.run("verify")
    assert len(done.output.splitlines()) <= LINES, done.output
    assert "Require an aligned node: 14 failed, 8 ok" in done.output
    assert "  6 hosts failed: HOST is misaligned; see its findings above.\n    --limit " in done.output
    assert "  8 hosts failed: HOST cannot be compared with the profile;" in done.output


def test_a_preview_of_provision_is_a_screen(small: Fleet) -> None:
    done = small.run("provision", "--check")
    assert len(done.output.splitlines()) <= LINES, done.output
    change = re.search(r"^6 hosts would change\n  (--limit .*)$", done.output, re.MULTILINE)
    assert change, done.output
    assert small.limited(change[1]) == small.hosts(DIFFERING)
    assert done.output.count("PLAY [Align the nodes") == 1
    assert "Align the node in one transaction: 6 changed" in done.output
    assert "  8 hosts failed: Nothing was changed." in done.output


@pytest.fixture(name="rolled", scope="module")
def _rolled(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("rollout")
    states = numbered(((ALIGNED, 2), (DIFFERING, 2), (REFUSING, 1), (DIFFERING, 1)))
    write_fleet(directory, states, seconds=2)
    (directory / "ansible.cfg").write_text(SETTINGS, encoding="utf-8")
    done = Fleet(directory, states).run("provision")
    assert done.status == 2, done.output
    return done.output


def test_a_rollout_shows_each_node_with_its_steps_and_times(rolled: str) -> None:
    nodes = re.findall(r"^  (\d) of 4: (node\d+): (\w+), \d+ s(?: \((.*?) \d+ s.*)?$", rolled, re.MULTILINE)
    assert [node[:3] for node in nodes] == [
        ("1", "node003", "changed"),
        ("2", "node004", "changed"),
        ("3", "node005", "failed"),
    ]
    # The slowest task, which depends on the machine: on a busy one, including a role takes a second too.
    assert nodes[0][3] in {"Drain", "Align the node in one transaction"}


def test_a_rollout_shows_the_progress_of_a_change_with_its_time(rolled: str) -> None:
    progress = re.findall(r"^  node003: (\w+), (\d) step\(s\) done, now: (.*), \d+ s$", rolled, re.MULTILINE)
    assert progress == [("applying", "2", "restart kubelet"), ("committed", "3", "done")], rolled


def test_a_rollout_that_stops_shows_the_state_of_all_nodes(rolled: str) -> None:
    assert "\nnode005 failed: Nothing was changed. Step 'preflight' failed: no space on the disk.\n" in rolled
    assert "\n2 hosts changed\n  --limit node003,node004\n" in rolled
    assert "\n4 nodes in the rollout: 1 failed, 2 changed, 1 not touched\n" in rolled
    assert rolled.count("NO MORE HOSTS LEFT") == 1
