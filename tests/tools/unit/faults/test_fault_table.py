# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of faults is large enough, and each command is valid shell."""

from __future__ import annotations

import subprocess
from collections import Counter

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state.journal import State
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.steps import STEPS
from ansible_collections.volcano.colocation.tests.faults import commands
from ansible_collections.volcano.colocation.tests.faults.fault import Fault, Kind, Outside
from ansible_collections.volcano.colocation.tests.faults.rows import (
    ROWS,
    SHORT,
    NoSuchRow,
    chosen,
    short,
)
from ansible_collections.volcano.colocation.tests.faults.table import FAULTS

NAMED = [step.name for step in STEPS]
ENDS_THE_WAIT = ("$pid", "$id")


def test_there_are_enough_of_them() -> None:
    assert len(ROWS) >= 60
    assert len({row.fault.kind for row in ROWS}) >= 12
    assert {row.fault.kind for row in ROWS} == set(Kind)


def test_every_fault_is_tried_on_both_cgroup_versions_under_a_unique_name() -> None:
    counted = Counter(row.cgroup for row in ROWS)
    assert counted["v1"] == counted["v2"] == len(FAULTS)
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("kind", [Kind.KILLED, Kind.POWER_CUT])
@pytest.mark.parametrize("cgroup", ["v1", "v2"])
def test_kills_and_power_cuts_come_at_every_step(kind: Kind, cgroup: str) -> None:
    where = [row.fault.where for row in ROWS if row.fault.kind is kind and row.cgroup == cgroup]
    assert where == [*NAMED, "committed"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_moment_is_one_that_a_journal_can_say(fault: Fault) -> None:
    names = {*NAMED, *(f"undo: {name}" for name in NAMED), *(state.value for state in State)}
    assert {strike.moment for strike in fault.strikes} <= names


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_no_engine_is_left_held(fault: Fault) -> None:
    for strike in fault.strikes:
        ended = strike.outside in (Outside.RESET, Outside.REBOOT)
        assert ended or any(word in strike.command + strike.afterwards for word in ENDS_THE_WAIT)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_command_is_one_for_a_shell(fault: Fault) -> None:
    scripts = [fault.prepare, fault.repair, fault.clean, fault.keeps]
    scripts += [command for strike in fault.strikes for command in (strike.command, strike.afterwards)]
    for command in filter(None, scripts):
        subprocess.run(["sh", "-n", "-c", f"export PATH=/bin; {command}"], check=True)


def test_what_makes_trouble_before_the_run_or_in_it() -> None:
    assert [fault.name for fault in FAULTS if not fault.strikes and not fault.prepare] == []


@pytest.mark.parametrize(
    ("arguments", "remaining"),
    [
        ("--root /run/runc --systemd-cgroup create --bundle x id", "--root /run/runc create --bundle x id"),
        ("--root /run/runc state id", "--root /run/runc state id"),
    ],
)
def test_the_other_runc_forgets_its_driver(arguments: str, remaining: str) -> None:
    script = f"real=echo\n{commands.OTHER_DRIVER}"
    done = subprocess.run(["sh", "-c", script, "runc", *arguments.split()], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == remaining


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("--config /var/lib/volcano-colocation/transactions/1/candidates/0-config.toml config dump", 1),
        ("--config /etc/containerd/config.toml config dump", 0),
        ("--version", 0),
    ],
)
def test_the_other_containerd_refuses_what_is_new_only(arguments: str, status: int) -> None:
    script = f"real=true\n{commands.NO_DUMP}"
    assert subprocess.run(["sh", "-c", script, "containerd", *arguments.split()], check=False).returncode == status


def test_the_shorter_set_has_both_versions_and_different_kinds() -> None:
    rows = short()
    assert [row.cgroup for row in rows] == [*3 * ["v1"], *3 * ["v2"]]
    assert len(rows) == len(SHORT)
    assert len({row.fault.kind for row in rows}) == len(SHORT)


def test_rows_are_chosen_by_version_kind_and_name_and_an_unknown_one_is_refused() -> None:
    cut = chosen(ROWS, "v1", [Kind.POWER_CUT], [])
    assert {(row.cgroup, row.fault.kind) for row in cut} == {("v1", Kind.POWER_CUT)}
    assert [row.name for row in chosen(ROWS, None, [], ["v2-killed-write-files"])] == ["v2-killed-write-files"]
    with pytest.raises(NoSuchRow, match="v3-killed"):
        chosen(ROWS, None, [], ["v3-killed"])
    with pytest.raises(NoSuchRow):
        chosen(cut, "v2", [], [])
