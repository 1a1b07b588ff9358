# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options ``--limit``: ansible-core finds exactly the hosts of a set, by a pattern or a file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.node.output_files import (
    LimitOptions,
    provide_report_directory,
)
from ansible_collections.volcano.colocation.tests.support.tasks.limit_option import limited_hosts

NAMES = [f"node{number:03}" for number in range(1, 201)]
GROUPS = {"rack1": NAMES[:20], "rack2": NAMES[20:60]}
UNLIKE = [f"{number * 7919 % 104729:x}" for number in range(60)]


@given(st.sets(st.sampled_from(NAMES), min_size=1) | st.integers(1, 200).map(lambda count: set(NAMES[:count])))
@settings(max_examples=60, deadline=None)
def test_ansible_finds_exactly_the_hosts_of_a_pattern(hosts: set[str]) -> None:
    option = LimitOptions({"all": NAMES, **GROUPS})("x", hosts)
    if option.startswith("--limit"):
        assert limited_hosts(option, NAMES, GROUPS) == hosts
    else:
        assert option.endswith(f"and {len(hosts) - 5} others")


@pytest.mark.parametrize(
    ("hosts", "option"),
    [
        (NAMES[:20], "--limit rack1"),
        (NAMES[1:20], "--limit 'rack1,!node001'"),
        (NAMES[:57], "--limit '~node0(0[1-9]|[1-4][0-9]|5[0-7])$'"),
        (["web-1.example.com"], "--limit web-1.example.com"),
    ],
)
def test_an_option_can_be_copied_into_a_shell(hosts: list[str], option: str) -> None:
    assert LimitOptions({"all": NAMES, **GROUPS})("x", hosts) == option
    assert limited_hosts(option, [*NAMES, "web-1.example.com"], GROUPS) == {*hosts}


@pytest.mark.parametrize("hosts", [UNLIKE, ["fe80::1", "fe80::2"], [f"a b{number}" for number in range(3)]])
def test_other_sets_are_written_to_a_file(hosts: list[str], tmp_path: Path) -> None:
    os.umask(0o022)
    option = LimitOptions(directory=tmp_path / "reports")("Not looked at-1", hosts)
    path = tmp_path / "reports" / "limits" / "not-looked-at-1"
    assert option == f"--limit @{path}"
    assert limited_hosts(option, [*hosts, *NAMES]) == {*hosts}
    assert [stat.S_IMODE(item.stat().st_mode) for item in (path, path.parent)] == [0o600, 0o700]


def test_a_file_is_replaced_in_the_next_run(tmp_path: Path) -> None:
    for hosts in (UNLIKE, UNLIKE[1:]):
        option = LimitOptions(directory=tmp_path)("a", hosts)
    assert limited_hosts(option, UNLIKE) == {*UNLIKE[1:]}


def test_without_a_directory_the_first_hosts_are_named() -> None:
    assert LimitOptions()("x", UNLIKE).endswith(" and 55 others")
    assert LimitOptions()("x", ["a b", "c d"]) == "a b, c d"


def test_git_ignores_a_new_directory_of_reports_only(tmp_path: Path) -> None:
    for directory in (tmp_path / "new" / "reports", tmp_path):
        provide_report_directory(directory)
    assert (tmp_path / "new" / "reports" / ".gitignore").read_text(encoding="utf-8").splitlines()[-1] == "*"
    assert [item.name for item in tmp_path.iterdir()] == ["new"]
