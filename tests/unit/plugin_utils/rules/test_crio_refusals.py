# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""CRI-O nodes that are refused, each with the reason and a similar node that is not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Plan
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import profile_of, put
from ansible_collections.volcano.colocation.tests.support.hosts.described_hosts import (
    described,
    flipped,
    merged,
    snapshot_of,
)

DIRECTORY = "/etc/crio/crio.conf.d"
DROP_IN = f"{DIRECTORY}/99-volcano-colocation.conf"
DRIVER = {"cgroup_driver": "systemd"}
NRI = {"nri": {"enabled": True}}
OLD = {"runtime": {"cri": {"version": "1.25.3"}}}


def plan_of(host: Mapping[str, Any], directory: Path, **options: Any) -> Plan:
    return make_plan(interpret(snapshot_of(host, directory)), profile_of(**options), allow_disruption=True)


def with_(**inputs: Any) -> Mapping[str, Any]:
    changed: Mapping[str, Any] = merged(described("crio-aligned").host, inputs)
    return changed


def argv(*words: str) -> dict[str, Any]:
    return {"processes": {"crio": {"argv": ["/usr/bin/crio", *words]}}}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str, tuple[str, ...]]] = {
    "flag": (argv("--cgroup-manager", "cgroupfs"), DRIVER, "flag-overrides-config", ("--cgroup-manager=cgroupfs",)),
    "flag of conmon": (
        {**argv("--conmon-cgroup=x.slice"), "files": {"/etc/crio/crio.conf": '[crio.runtime]\nconmon_cgroup = "x"\n'}},
        DRIVER,
        "flag-overrides-config",
        ("--conmon-cgroup=x.slice", "conmon_cgroup"),
    ),
    "switch": (argv("--enable-nri=false"), NRI, "flag-overrides-config", ("--enable-nri=false", "crio.service")),
    "switch on": (argv("--enable-nri"), {"nri": {"enabled": False}}, "flag-overrides-config", ("--enable-nri=true,",)),
    "socket": (
        argv("--nri-listen=/run/x.sock"),
        {"nri": {"enabled": True, "socket_path": "/run/y.sock"}},
        "flag-overrides-config",
        ("--nri-listen=/run/x.sock", "nri_listen"),
    ),
    "later file": (
        {"files": {f"{DIRECTORY}/99-zz.conf": '[crio.runtime]\ncgroup_manager = "cgroupfs"\n'}},
        DRIVER,
        "crio-drop-in-overridden",
        (f"{DIRECTORY}/99-zz.conf: ", 'cgroup_manager = "cgroupfs"', "99-volcano-colocation.conf", "rename the file"),
    ),
    "later NRI": (
        {"files": {f"{DIRECTORY}/zz.conf": "[crio.nri]\nenable_nri = false\n"}},
        NRI,
        "crio-drop-in-overridden",
        (f"{DIRECTORY}/zz.conf: ", "enable_nri = false"),
    ),
    "broken": (
        {"files": {f"{DIRECTORY}/50.conf": "[crio]\nlog_dir = \n"}},
        DRIVER,
        "config-unreadable",
        (f"{DIRECTORY}/50.conf:2: a missing value", "Write text in double quotes"),
    ),
    "directory": (
        {"files": {f"{DIRECTORY}/50.d/x.conf": ""}},
        DRIVER,
        "crio-nested-directory",
        (f"{DIRECTORY}/50.d: is a directory", "Move its files to the directory above"),
    ),
    "our own as a link": (
        {"links": {DROP_IN: "/etc/x.conf"}, "files": {"/etc/x.conf": ""}},
        DRIVER,
        "config-is-symlink",
        (f"{DROP_IN}: ",),
    ),
    "too many": (
        {"files": {f"{DIRECTORY}/{number:03}.conf": "" for number in range(70)}},
        DRIVER,
        "crio-too-many-files",
        (f"{DIRECTORY}: has 64 files or more",),
    ),
    "no NRI": (
        {"live": OLD},
        NRI,
        "nri-unsupported",
        ("CRI-O 1.25.3 has no NRI; it was added in 1.26", "Upgrade CRI-O"),
    ),
    "closed NRI": (
        {"files": {f"{DIRECTORY}/50.conf": "[crio.nri]\nnri_disable_connections = true\n"}},
        NRI,
        "crio-nri-connections-disabled",
        (f"{DIRECTORY}/50.conf (colocation_nri_enabled): sets nri_disable_connections = true",),
    ),
    "silent": (
        {"live": {"runtime": {"cri": {"error": "refused"}}}},
        {},
        "crio-not-answering",
        ("cri-o does not answer at unix:///var/run/crio/crio.sock", "journalctl -u crio"),
    ),
}

ACCEPTED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a flag with the same value": (argv("--cgroup-manager=systemd"), DRIVER),
    "a flag of something else": (argv("--cgroup-manager=cgroupfs"), {}),
    "a switch with the same value": (argv("--enable-nri=true"), NRI),
    "a later file with the same value": (
        {"files": {f"{DIRECTORY}/zz.conf": '[crio.runtime]\ncgroup_manager = "systemd"\n'}},
        DRIVER,
    ),
    "a later file of something else": (
        {"files": {f"{DIRECTORY}/zz.conf": '[crio.runtime]\nlog_level = "info"\n'}},
        DRIVER,
    ),
    "an earlier file": ({"files": {f"{DIRECTORY}/98.conf": '[crio.runtime]\ncgroup_manager = "cgroupfs"\n'}}, DRIVER),
    "a link of another owner": (
        {"links": {f"{DIRECTORY}/50.conf": "../../x.conf"}, "files": {"/etc/x.conf": ""}},
        DRIVER,
    ),
    "a time in nanoseconds": (
        {"files": {f"{DIRECTORY}/50.conf": "[crio.nri]\nnri_plugin_request_timeout = 5000000000\n"}},
        DRIVER,
    ),
    "a value of another type that the collection does not read": (
        {"files": {f"{DIRECTORY}/50.conf": "[crio.runtime]\nlog_level = 5\n[crio.runtime.runtimes.crun]\nx = 1\n"}},
        DRIVER,
    ),
    "some files": ({"files": {f"{DIRECTORY}/{number:03}.conf": "" for number in range(62)}}, DRIVER),
    "NRI left out": ({"live": OLD}, {"nri": {"enabled": True, "unsupported": "skip"}}),
    "NRI not asked for": ({"live": OLD}, {"nri": {"enabled": False}}),
    "closed NRI of an old CRI-O": (
        {"live": OLD, "files": {f"{DIRECTORY}/50.conf": "[crio.nri]\nnri_disable_connections = true\n"}},
        {"nri": {"enabled": True, "unsupported": "skip"}},
    ),
    "NRI that stays closed": (
        {"files": {f"{DIRECTORY}/50.conf": "[crio.nri]\nnri_disable_connections = true\n"}},
        DRIVER,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_has_its_evidence_and_its_remedy(case: str, tmp_path: Path) -> None:
    inputs, options, code, words = CASES[case]
    plan = plan_of(with_(**inputs), tmp_path, **options)
    assert plan.changes == ()
    assert [refusal.code for refusal in plan.refusals] == [code]
    for word in words:
        assert word in str(plan.refusals[0])


@pytest.mark.parametrize("case", ACCEPTED)
def test_not_refused(case: str, tmp_path: Path) -> None:
    inputs, options = ACCEPTED[case]
    assert plan_of(with_(**inputs), tmp_path, **options).refusals == ()


def test_skipped_nri_is_reported(tmp_path: Path) -> None:
    inputs, options = ACCEPTED["NRI left out"]
    plan = plan_of(with_(**inputs), tmp_path, **options)
    assert [skipped.reason for skipped in plan.skipped] == ["CRI-O 1.25.3 has no NRI; it was added in 1.26"]
    assert plan.changes == ()


@pytest.mark.parametrize("name", ["crio-flag", "crio-later-file"])
def test_the_described_hosts(name: str, tmp_path: Path) -> None:
    host = described(name)
    assert len(plan_of(host.host, tmp_path / "host", **DRIVER).refusals) == 1
    assert plan_of(flipped(host), tmp_path / "flip", **DRIVER).refusals == ()


def test_a_crio_that_is_not_installed(tmp_path: Path) -> None:
    snapshot = snapshot_of(described("crio-aligned").host, tmp_path)
    without_crio = put(snapshot, None, "runtime", "crio")
    refusals = make_plan(interpret(without_crio), profile_of(**DRIVER), allow_disruption=True).refusals
    assert [refusal.code for refusal in refusals] == ["crio-missing"]
