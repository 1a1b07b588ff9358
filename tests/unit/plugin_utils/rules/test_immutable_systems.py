# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Systems whose files must not be changed: recognized by name and by mount, and refused before any other check."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.immutable_systems import (
    MANAGED,
    interpret_system,
    parse_os_release,
)
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.machine_evidence import CHANGED_PATHS
from ansible_collections.volcano.colocation.plugins.module_utils.state import installed_engine, store
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import boot_unit
from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import findings
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    DIFFERING,
    Snapshot,
    captured,
    desired,
    facts_of,
    put,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_machine import (
    IN_MEMORY,
    READ_ONLY,
    mounted,
    only_usr,
)

CODES = ("immutable-system", "writes-are-lost", "usr-read-only")


def named(snapshot: Snapshot, text: str) -> Snapshot:
    """A copy with this os-release."""
    return put(snapshot, text, "system", "os_release")


def finding_codes(snapshot: Snapshot) -> list[str]:
    return [finding.code for finding in findings(facts_of(snapshot)) if finding.code in CODES]


def refused(snapshot: Snapshot) -> list[str]:
    """The codes of the refusals; the plan must have no changes beside them."""
    plan = make_plan(facts_of(snapshot), desired(), allow_disruption=True)
    assert not plan.changes or not plan.refusals
    return [refusal.code for refusal in plan.refusals]


def test_the_checked_paths_are_those_that_a_change_writes_to() -> None:
    assert set(CHANGED_PATHS) == {boot_unit.UNIT_DIRECTORY, installed_engine.ENGINE_DIRECTORY, store.STATE_DIRECTORY}


@pytest.mark.parametrize("system", MANAGED)
def test_a_managed_system_is_refused_by_its_name_alone(system: str) -> None:
    node = named(captured(DIFFERING), f'ID="{system}"\nPRETTY_NAME="Anything 1"\n')
    assert finding_codes(node) == ["immutable-system"]
    (refusal,) = make_plan(facts_of(node), desired(), allow_disruption=True).refusals
    assert refusal.code == "immutable-system"
    assert refusal.message.startswith(MANAGED[system].name)
    assert refusal.remedy == MANAGED[system].remedy


@pytest.mark.parametrize("system", ["talos", "bottlerocket", "flatcar"])
def test_its_image_is_refused_as_well(system: str) -> None:
    node = put(named(captured(DIFFERING), f"ID={system}\n"), "/srv/image", "root")
    assert finding_codes(node) == ["immutable-system"]
    assert "immutable-system" in refused(node)


@pytest.mark.parametrize(
    "text",
    ['ID="rhcos"\nVARIANT_ID=coreos\n', 'ID="rhel"\nVARIANT_ID=coreos\n', 'ID="centos"\nVARIANT_ID="coreos"\n'],
)
def test_openshifts_coreos_is_changed_by_its_operator_only(text: str) -> None:
    (finding,) = (finding for finding in findings(facts_of(named(captured(ALIGNED), text))) if finding.code in CODES)
    assert "Machine Config Operator" in finding.summary


@pytest.mark.parametrize(
    "text", ["", "ID=debian\n", "ID=rhel\n", "ID=fedora\nVARIANT_ID=coreos\n", "ID_LIKE=flatcar\n", "NAME=Talos-like\n"]
)
def test_another_system_is_judged_by_its_mounts(text: str) -> None:
    node = named(captured(DIFFERING), text)
    assert finding_codes(mounted(node)) == []
    assert refused(mounted(node)) == []
    assert finding_codes(mounted(node, usr=READ_ONLY)) == ["immutable-system"]


def test_the_finding_names_the_system_the_place_and_the_mount() -> None:
    node = mounted(named(captured(ALIGNED), 'ID=acme\nPRETTY_NAME="Acme OS 4"\n'), etc=READ_ONLY)
    (finding,) = (finding for finding in findings(facts_of(node)) if finding.code in CODES)
    assert finding.summary.startswith("Acme OS 4 is not changed by this collection: /etc/systemd/system cannot be")
    assert finding.evidence == (
        "os-release: ID=acme, Acme OS 4",
        "/etc/systemd/system is on / (squashfs, read-only)",
    )


def test_a_system_without_a_name_is_refused_too() -> None:
    (finding,) = (
        finding for finding in findings(facts_of(mounted(captured(ALIGNED), var=READ_ONLY))) if finding.code in CODES
    )
    assert "/var/lib/volcano-colocation cannot be written" in finding.summary


def test_a_writable_place_below_a_read_only_usr_is_enough() -> None:
    assert finding_codes(only_usr(captured(DIFFERING))) == ["usr-read-only"]
    assert refused(only_usr(captured(DIFFERING))) == []


def test_a_change_that_a_reboot_would_keep_in_part_is_refused() -> None:
    node = mounted(captured(DIFFERING), etc=IN_MEMORY)
    assert finding_codes(node) == ["writes-are-lost"]
    assert refused(node) == ["writes-are-lost"]


def test_a_node_without_a_disk_loses_all_files_and_is_not_refused() -> None:
    memory = {"type": "tmpfs", "volatile": True}
    assert finding_codes(mounted(captured(DIFFERING), usr=memory, etc=memory, var=memory)) == []


def test_an_older_snapshot_tells_nothing_of_file_systems() -> None:
    assert "filesystems" not in captured(ALIGNED)["system"]
    assert finding_codes(captured(ALIGNED)) == []


def test_the_host_of_a_container_counts() -> None:
    system = interpret_system({"os_release": "ID=amzn\n", "outer_os_release": "ID=bottlerocket\nVARIANT_ID=aws-k8s\n"})
    assert (system.id, system.variant) == ("bottlerocket", "aws-k8s")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('ID="debian"\n', {"ID": "debian"}),
        ("ID='debian'\n", {"ID": "debian"}),
        ('# ID=no\n\n  NAME="A \\"B\\""  \n', {"NAME": 'A "B"'}),
        ("ID=one\nID=two\n", {"ID": "two"}),
        ('ID="\nNAME=x\n', {"ID": '"', "NAME": "x"}),
        ("no assignment\nid=lower\n=nothing\n", {}),
    ],
)
def test_os_release_is_read_as_a_shell_would(text: str, expected: dict[str, str]) -> None:
    assert parse_os_release(text) == expected


def test_a_name_that_a_node_gives_itself_stays_short_and_on_one_line() -> None:
    system = interpret_system({"os_release": f'ID=x\nPRETTY_NAME="{"a" * 500}"\n'})
    assert len(system.name) == 80
