# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""agent_deploy and agent_verify without an API server: invalid input is refused before the first request."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.clusters.image_archives import NAME, single
from ansible_collections.volcano.colocation.tests.support.tasks.play_tasks import Run, checked, run, task

SNAPSHOTS = Path(__file__).parents[1] / "fixtures" / "snapshots"
POOLS = [{"name": "a", "nodes": ["localhost"]}, {"name": "b", "nodes": ["all"]}]


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Run:
    directory = tmp_path_factory.mktemp("agent")
    kubeconfig = directory / "admin.conf"
    kubeconfig.write_text("apiVersion: v1\nkind: Config\n", encoding="utf-8")
    archive = directory / "agent.tar"
    archive.write_bytes(single()[0])
    holds = [{"architecture": "pdp11", "id": "sha256:1"}]
    options = {"nodes": ["localhost"], "kubeconfig": str(kubeconfig), "label_nodes": False}
    facts = task("looked", "node_facts", snapshot=str(SNAPSHOTS / "trixie-v2-static.json"))
    return run(
        directory,
        [
            task("unseen", "agent_deploy", **options),
            {**facts, "register": "looked"},
            task("unprobed", "agent_deploy", **options),
            task("agent_host_info", "agent_host_info", paths=["/proc", "/nowhere"]),
            task("unnamed", "agent_deploy", nodes=["localhost"]),
            task("gone", "agent_verify", nodes=["localhost"], kubeconfig=str(directory / "nowhere.conf")),
            task("reversed", "agent_deploy", **options, watermarks={"cpu_high": 20, "cpu_low": 90}),
            task("unknown", "agent_deploy", **options, features=["Teleport"]),
            task("doubled", "agent_deploy", **options, pools=POOLS),
            task("latest", "agent_deploy", **options, image="vc-agent:latest"),
            task("old", "agent_deploy", **options, image="vc-agent:v1.13.0"),
            task("bare", "agent_deploy", **options),
            checked(task("bare_checked", "agent_deploy", **options)),
            task("absent", "agent_deploy", **options, state="absent"),
            task("labels", "agent_deploy", **options, step="labels"),
            task("verify", "agent_verify", nodes=["localhost"], kubeconfig=str(kubeconfig)),
            task("trial", "agent_smoke_test", nodes=["localhost"], kubeconfig=str(kubeconfig)),
            task("archive", "agent_archive_info", path=str(archive), image=NAME),
            task("image", "agent_image", archive=str(archive), image=NAME, sha256="0", images=holds),
            task(
                "pod",
                "agent_pod_cgroups",
                uid="0/1",
                container="c",
                runtime="containerd",
                cgroup_driver="systemd",
                expected=[],
            ),
        ],
    )


def test_the_probe_reads_this_machine(lived: Run) -> None:
    probe = lived.results["agent_host_info"]["host"]
    assert probe["paths"] == {"/proc": "directory", "/nowhere": "missing"}
    assert probe["selinux"] in ("off", "permissive", "enforcing")
    assert probe["hostname"]


def test_an_archive_is_read_on_the_controller(lived: Run) -> None:
    assert lived.results["archive"]["archive"]["image"] == NAME


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("unseen", "localhost: node_facts has no result for this host in this run"),
        ("unprobed", "localhost: agent_host_info has no result for this host in this run"),
        ("unnamed", "kubeconfig is not set"),
        ("gone", "/nowhere.conf is not a file. Nothing was changed."),
        ("reversed", "evictingCPULowWatermark 90 has to be less than evictingCPUHighWatermark 20"),
        ("unknown", "value of features must be one or more of: OverSubscription, Eviction"),
        ("doubled", "hosts are in two pools: localhost (a and b)"),
        ("latest", "the tag of 'vc-agent:latest' does not contain a release"),
        ("old", "localhost: it has cgroup v2, which the agent supports from 1.14"),
        ("bare", "is not a kubeconfig: "),
        ("bare_checked", "is not a kubeconfig: "),
        ("absent", "is not a kubeconfig: "),
        ("labels", "is not a kubeconfig: "),
        ("verify", "is not a kubeconfig: "),
        ("trial", "is not a kubeconfig: "),
        ("image", f"and the archive contains {NAME} for pdp11. Nothing was changed"),
        ("pod", "'0/1' is not the UID of a pod"),
    ],
)
def test_invalid_input_is_reported_before_any_change(lived: Run, name: str, message: str) -> None:
    assert lived.results[name]["failed"]
    assert message in lived.results[name]["msg"]
