# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where kubelet's settings are written on each layout, and that a second run writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Impact, Plan, Refusal
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.kubelet_location import (
    ConfigLocation,
    Strategy,
    choose_location,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.transaction_document import files_document
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import (
    LOCATION_REFUSALS,
    VALUE_REFUSALS,
    refusals,
)
from ansible_collections.volcano.colocation.tests.support.hosts.host_layouts import Node, profile

MAIN = "/var/lib/kubelet/config.yaml"
DIRECTORY = "/etc/kubernetes/kubelet.conf.d"
OWN = f"{DIRECTORY}/90-volcano-colocation.conf"
HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
DESIRED: dict[str, Any] = {
    "cgroup_driver": "systemd",
    "cpu_manager_policy": "static",
    "system_reserved": {"cpu": "500m"},
    "topology_manager_policy": "best-effort",
}
RESTART = frozenset({Impact.RESTART_KUBELET})


def strategy(node: Node, asked: str = "auto") -> tuple[str, str | None]:
    """(strategy, path), or (code of the refusal, its message)."""
    place = choose_location(node.facts, Strategy(asked))
    return (place.code, place.message) if isinstance(place, Refusal) else (place.strategy.value, place.path)


@pytest.mark.parametrize(
    ("host", "asked", "expected", "where"),
    [
        ("kubeadm", "auto", "main-file", MAIN),
        ("kubeadm", "main-file", "main-file", MAIN),
        ("kubeadm", "drop-in", "strategy-not-in-force", "without --config-dir"),
        ("kubeadm-1.30-config-dir", "auto", "drop-in", OWN),
        ("kubeadm-1.30-config-dir", "drop-in", "drop-in", OWN),
        ("kubeadm-1.30-config-dir", "main-file", "main-file", MAIN),
        ("kubelet-1.28-dropin-by-variable", "auto", "drop-in", OWN),
        ("kubelet-1.27-config-dir", "auto", "main-file", MAIN),
        ("kubelet-1.27-config-dir", "drop-in", "strategy-not-in-force", "kubelet 1.27.16 has no --config-dir"),
        ("kubespray", "auto", "main-file", "/etc/kubernetes/kubelet-config.yaml"),
        ("openeuler-containerd", "auto", "main-file", MAIN),
        ("k3s", "auto", "kubelet-config-missing", "without this file"),
        (
            "k3s-1.32-drop-ins",
            "auto",
            "k3s-drop-in",
            "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d/90-volcano-colocation.conf",
        ),
        (
            "rke2-1.32-drop-ins",
            "auto",
            "k3s-drop-in",
            "/var/lib/rancher/rke2/agent/etc/kubelet.conf.d/90-volcano-colocation.conf",
        ),
        ("rke2-1.32-drop-ins", "main-file", "kubelet-config-missing", "without this file"),
        ("rke2", "auto", "kubelet-config-missing", "without this file"),
    ],
)
def test_each_layout_has_its_strategy_and_place(
    host: str, asked: str, expected: str, where: str, tmp_path: Path
) -> None:
    code, place = strategy(Node(tmp_path, host), asked)
    assert code == expected
    assert where in str(place)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"files": {"/proc/812/environ": "PATH=/usr/bin\0"}},
            "ignores --config-dir without KUBELET_CONFIG_DROPIN_DIR",
        ),
        ({"live": {"kubelet": {"version": None}}}, "version is unknown"),
    ],
)
def test_drop_ins_are_used_only_if_kubelet_certainly_reads_them(
    changed: dict[str, Any], words: str, tmp_path: Path
) -> None:
    node = Node(tmp_path, "kubelet-1.28-dropin-by-variable", **changed)
    assert strategy(node)[0] == "main-file"
    code, message = strategy(node, "drop-in")
    assert code == "strategy-not-in-force"
    assert words in str(message)


def test_the_drop_in_has_missing_values_and_the_main_file_those_that_agents_parse(tmp_path: Path) -> None:
    node = Node(tmp_path, "kubeadm-1.30-config-dir")
    main = node.file(MAIN)
    changes = [(change.setting, change.before, change.path) for change in node.changes(DESIRED)]
    # The main file has the driver, the site's own drop-in the topology policy: nothing is written twice.
    assert changes == [
        ("cpuManagerPolicy", None, OWN),
        ("cpuManagerPolicy", None, MAIN),
        ("systemReserved.cpu", None, OWN),
    ]
    assert node.edited(DESIRED) == {
        OWN: HEAD + "cpuManagerPolicy: static\nsystemReserved:\n  cpu: 500m\n",
        MAIN: main + "cpuManagerPolicy: static\n",
    }
    assert node.writes(DESIRED) == []
    settings = node.facts.kubelet.settings
    assert settings["systemReserved"].value == {"cpu": "500m", "memory": "1Gi"}
    assert settings["systemReserved"].source == f"{DIRECTORY}/10-site.conf and {OWN}"


def test_an_existing_own_drop_in_is_edited(tmp_path: Path) -> None:
    node = Node(tmp_path, "kubeadm-1.30-config-dir")
    node.edited(DESIRED)
    node.changed(files={OWN: node.file(OWN) + "# the site's remark\n"})
    assert node.edited({**DESIRED, "system_reserved": {"cpu": "1"}}) == {
        OWN: HEAD + 'cpuManagerPolicy: static\nsystemReserved:\n  cpu: "1"\n# the site\'s remark\n'
    }
    assert node.writes({**DESIRED, "system_reserved": {"cpu": "1"}}) == []


def test_the_drop_in_still_overrides_a_main_file_of_kubeadm_upgrade(tmp_path: Path) -> None:
    """kubeadm regenerates config.yaml; the drop-in is still effective, and only the agents' line is missing."""
    node = Node(tmp_path, "kubeadm-1.30-config-dir")
    upgraded = node.file(MAIN)
    node.edited(DESIRED)
    node.changed(files={MAIN: upgraded})
    assert node.facts.kubelet.cpu_manager_policy == "static"
    assert [(change.path, change.needs) for change in node.changes(DESIRED)] == [(MAIN, RESTART)]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ('cgroupDriver: "systemd"\n', "cgroupDriver: systemd\n"),
        ("cgroupDriver: systemd # x\n", "# x\ncgroupDriver: systemd\n"),
    ],
)
def test_beside_a_drop_in_the_agents_line_is_made_plain(line: str, after: str, tmp_path: Path) -> None:
    node = Node(tmp_path, "kubeadm-1.30-config-dir", files={MAIN: HEAD + line})
    (change,) = node.changes({"cgroup_driver": "systemd"})
    assert (change.path, change.needs) == (MAIN, RESTART)
    assert str(change) == "kubelet cgroupDriver: systemd with quotes or a comment -> systemd"
    assert node.edited({"cgroup_driver": "systemd"}) == {MAIN: HEAD + after}
    assert node.changes({"cgroup_driver": "systemd"}) == ()


def test_a_correct_main_file_is_not_changed_for_a_comment(tmp_path: Path) -> None:
    node = Node(tmp_path, "kubeadm", files={MAIN: HEAD + "cgroupDriver: systemd # x\n"})
    assert node.changes({"cgroup_driver": "systemd"}) == ()
    assert node.edited({"cgroup_driver": "systemd", "read_only_port": 10255}) == {
        MAIN: HEAD + "# x\ncgroupDriver: systemd\nreadOnlyPort: 10255\n"
    }


@pytest.mark.parametrize(
    ("name", "options", "file"),
    [
        ("95-later.conf", {}, f"{DIRECTORY}/95-later.conf"),
        # filepath.WalkDir: the directory 95 comes after the file 90-...
        ("95/a.conf", {}, f"{DIRECTORY}/95/a.conf"),
        ("10-site.conf", {"kubelet_strategy": "main-file"}, f"{DIRECTORY}/10-site.conf"),
    ],
)
def test_a_later_drop_in_that_sets_the_same_is_named(
    name: str, options: dict[str, Any], file: str, tmp_path: Path
) -> None:
    text = HEAD + "topologyManagerPolicy: restricted\n"
    node = Node(tmp_path, "kubeadm-1.30-config-dir", files={f"{DIRECTORY}/{name}": text})
    desired = {"topology_manager_policy": "single-numa-node", **options}
    assert node.refused(desired) == [("dropin-overrides", file)]
    # The same value, or another field, is not a conflict.
    assert node.refused({**desired, "topology_manager_policy": "restricted"}) == []
    assert node.refused({**desired, "topology_manager_policy": None, "read_only_port": 10255}) == []


def test_the_own_drop_in_overrides_an_earlier_one(tmp_path: Path) -> None:
    node = Node(tmp_path, "kubeadm-1.30-config-dir")
    options = {"topology_manager_policy": "restricted"}
    assert node.refused(options) == []
    assert node.edited(options) == {OWN: HEAD + "topologyManagerPolicy: restricted\n"}
    assert node.facts.kubelet.settings["topologyManagerPolicy"].value == "restricted"


@pytest.mark.parametrize(("port", "codes"), [(0, ["dropin-cannot-clear-value"]), (10256, [])])
def test_before_1_29_an_empty_value_in_a_drop_in_overrides_nothing(port: int, codes: list[str], tmp_path: Path) -> None:
    node = Node(tmp_path, "kubelet-1.28-dropin-by-variable", files={MAIN: HEAD + "readOnlyPort: 10255\n"})
    assert [code for code, _file in node.refused({"read_only_port": port})] == codes
    newer = {"live": {"kubelet": {"version": "Kubernetes v1.29.9"}}}
    node.changed(**newer)
    assert node.refused({"read_only_port": port}) == []


@pytest.mark.parametrize("version", ["Kubernetes v1.30.4", None])
def test_drop_ins_override_the_main_file_of_an_image_too(version: str | None, tmp_path: Path) -> None:
    """The version of an image is unknown, but a kubelet that starts with --config-dir reads the directory."""
    text = HEAD + "topologyManagerPolicy: restricted\n"
    node = Node(tmp_path, "kubeadm-1.30-config-dir", files={f"{DIRECTORY}/10-site.conf": text})
    node.changed(live={"kubelet": {"version": version}})
    options = {"topology_manager_policy": "single-numa-node", "kubelet_strategy": "main-file"}
    assert node.refused(options) == [("dropin-overrides", f"{DIRECTORY}/10-site.conf")]


@pytest.mark.parametrize(("cpu", "codes"), [("500m", []), ("0", ["static-without-reservation"])])
def test_a_reservation_in_a_drop_in_is_read(cpu: str, codes: list[str], tmp_path: Path) -> None:
    text = HEAD + f'systemReserved: {{cpu: "{cpu}"}}\n'
    node = Node(tmp_path, "kubeadm-1.30-config-dir", files={f"{DIRECTORY}/10-site.conf": text})
    result = refusals(PlanDraft(node.facts, profile({"cpu_manager_policy": "static"})), VALUE_REFUSALS)
    assert [refusal.code for refusal in result] == codes


def test_a_drop_in_that_kubelet_would_reject_is_named(tmp_path: Path) -> None:
    broken = f"{DIRECTORY}/10-site.conf"
    node = Node(tmp_path, "kubeadm-1.30-config-dir", files={broken: "topologyManagerPolicy: restricted\n"})
    assert node.refused({"read_only_port": 0}) == [("config-unreadable", broken)]


def test_the_config_dir_of_the_next_start_must_be_the_current_one(tmp_path: Path) -> None:
    node = Node(tmp_path, "kubeadm-1.30-config-dir", files={"/etc/default/kubelet": "KUBELET_EXTRA_ARGS=\n"})
    assert node.refused({"read_only_port": 0}) == [("config-dir-changes", None)]


def test_a_profile_without_kubelet_is_not_refused_for_kubelets_layout(tmp_path: Path) -> None:
    node = Node(tmp_path, "kubeadm-1.30-config-dir", files={"/etc/default/kubelet": "KUBELET_EXTRA_ARGS=\n"})
    node.changed(files={f"{DIRECTORY}/10-site.conf": "[\n"})
    assert node.refused({"kubelet_strategy": "drop-in"}) == []
    assert Node(tmp_path / "2", "kubeadm").refused({"kubelet_strategy": "drop-in"}) == []
    assert Node(tmp_path / "3", "kubeadm").refused({"kubelet_strategy": "drop-in", "read_only_port": 0}) == [
        ("strategy-not-in-force", None)
    ]


def test_a_directory_that_is_not_completely_known_is_refused(tmp_path: Path) -> None:
    many = {f"{DIRECTORY}/{number:03}.conf": HEAD for number in range(70)}
    node = Node(tmp_path, "kubeadm-1.30-config-dir", files=many)
    assert node.refused({"read_only_port": 0}) == [("dropins-not-read", DIRECTORY)]


def test_a_missing_directory_is_not_used(tmp_path: Path) -> None:
    node = Node(tmp_path, "kubeadm-1.30-config-dir", files={f"{DIRECTORY}/10-site.conf": None})
    code, message = strategy(node, "drop-in")
    assert (code, message) == (
        "strategy-not-in-force",
        f"drop-ins were requested, but --config-dir {DIRECTORY} is not a directory",
    )


def test_k3s_reads_the_collections_drop_in_after_its_own(tmp_path: Path) -> None:
    node = Node(tmp_path, "k3s-1.32-drop-ins")
    own = "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d/90-volcano-colocation.conf"
    options = {"cgroup_driver": "systemd", "topology_manager_policy": "restricted"}
    assert node.refused(options) == []
    assert node.edited(options) == {own: HEAD + "topologyManagerPolicy: restricted\n"}
    assert node.changes(options) == ()
    result = files_document((), Plan(), node.facts)
    assert result["services"]["kubelet"]["unit"] == "k3s.service"


@pytest.mark.parametrize("version", ["Kubernetes v1.20.4", "Kubernetes v1.27.3", "Kubernetes v1.35.0"])
def test_another_kubelet_program_on_the_node_is_not_the_one_in_k3s(version: str, tmp_path: Path) -> None:
    plain = Node(tmp_path / "plain", "k3s-1.32-drop-ins").edited({"topology_manager_policy": "restricted"})
    node = Node(tmp_path / "beside", "k3s-1.32-drop-ins", live={"kubelet": {"version": version}})
    assert node.snapshot["kubelet"]["version"] == version
    assert node.facts.kubelet.version is None
    assert node.refused({"topology_manager_policy": "restricted"}) == []
    assert node.edited({"topology_manager_policy": "restricted"}) == plain


def k3s_arguments(*words: str) -> dict[str, str]:
    return {"/etc/rancher/k3s/config.yaml": "kubelet-arg:\n" + "".join(f"  - {word}\n" for word in words)}


ASKS_NOT = "feature-gates=KubeletCgroupDriverFromCRI=false"


@pytest.mark.parametrize(
    ("files", "authority", "driver"),
    [
        ({}, "cri", "systemd"),
        (k3s_arguments("cgroup-driver=cgroupfs"), "cri", "systemd"),
        (k3s_arguments(ASKS_NOT), "config", "systemd"),
        (k3s_arguments(ASKS_NOT, "cgroup-driver=cgroupfs"), "flag", "cgroupfs"),
    ],
)
def test_the_driver_of_k3s_has_the_authority_of_its_source(
    files: dict[str, str], authority: str, driver: str, tmp_path: Path
) -> None:
    facts = Node(tmp_path, "k3s-1.32-drop-ins", files=files).facts
    assert facts.driver.authority == authority
    assert facts.driver.kubelet is not None
    assert facts.driver.kubelet.value == driver
    assert any(claim.source == "the CRI's RuntimeConfig" for claim in facts.claims) is (authority == "cri")


@pytest.mark.parametrize(
    ("host", "response", "driver"),
    [
        ("k3s-1.32-drop-ins", {"cgroup_driver": "cgroupfs", "error": None}, "cgroupfs"),
        ("k3s-1.32-drop-ins", {"cgroup_driver": None, "error": "unimplemented"}, "systemd"),
        ("k3s-1.32-drop-ins", {"cgroup_driver": None, "error": "timed out"}, None),
        ("k3s-1.32-drop-ins", None, None),
        ("k3s", {"cgroup_driver": "systemd", "error": None}, "systemd"),
        ("k3s", {"cgroup_driver": "cgroupfs", "error": None}, None),
        ("k3s", None, "systemd"),
    ],
)
def test_the_driver_of_k3s_is_unknown_where_its_release_or_the_cri_decides(
    host: str, response: dict[str, str | None] | None, driver: str | None, tmp_path: Path
) -> None:
    """Before k3s 1.32 (``k3s``) some releases ask the CRI; later ones always do."""
    facts = Node(tmp_path, host, live={"runtime": {"cri": {"runtime_config": response}}}).facts
    assert (facts.driver.kubelet.value if facts.driver.kubelet else None) == driver
    assert (facts.driver.source is None) is (driver is None)


def test_pods_keep_k3s_from_a_change_that_needs_them_gone(tmp_path: Path) -> None:
    node = Node(tmp_path, "k3s-1.32-drop-ins")
    options = {"cpu_manager_policy": "static", "system_reserved": {"cpu": "1"}}
    assert node.refused(options) == [("embedded-needs-empty-node", None)]
    node.changed(live={"runtime": {"cri": {"sandboxes": []}}})
    assert node.refused(options) == []


@pytest.mark.parametrize(
    ("file", "text", "codes"),
    [
        ("config.yaml", 'kubelet-arg:\n  - "topology-manager-policy=restricted"\n', ["flag-overrides-config"]),
        (
            "config.yaml.d/9.yaml",
            'kubelet-arg+:\n  - "topology-manager-policy=restricted"\n',
            ["flag-overrides-config"],
        ),
        ("config.yaml.d/9.yaml", 'kubelet-arg+:\n  - "max-pods=7"\n', []),
    ],
)
def test_arguments_of_k3s_override_its_drop_ins(file: str, text: str, codes: list[str], tmp_path: Path) -> None:
    node = Node(tmp_path, "k3s-1.32-drop-ins", files={f"/etc/rancher/k3s/{file}": text})
    result = node.refused({"topology_manager_policy": "best-effort"})
    assert [code for code, _file in result] == codes


def test_the_last_file_of_k3s_replaces_arguments_without_a_plus(tmp_path: Path) -> None:
    files = {
        "/etc/rancher/k3s/config.yaml": 'kubelet-arg: ["topology-manager-policy=restricted"]\n',
        "/etc/rancher/k3s/config.yaml.d/9.yaml": 'kubelet-arg: ["max-pods=7"]\n',
    }
    assert Node(tmp_path, "k3s-1.32-drop-ins", files=files).refused({"topology_manager_policy": "best-effort"}) == []


def test_k3s_gives_its_kubelet_the_port_as_a_flag(tmp_path: Path) -> None:
    node = Node(tmp_path, "k3s-1.32-drop-ins")
    assert node.refused({"read_only_port": 10255}) == [("flag-overrides-config", "/etc/rancher/k3s/config.yaml")]


@pytest.mark.parametrize(
    ("host", "code"), [("k3s", "kubelet-inside-other-process"), ("rke2", "kubelet-arguments-only")]
)
def test_an_older_one_is_refused_with_what_its_owner_can_set(host: str, code: str, tmp_path: Path) -> None:
    units = {"k3s.service": {"ActiveState": "active"}, "rke2-agent.service": {"ActiveState": "active"}}
    node = Node(tmp_path, host, live={"services": {"units": units}})
    (refusal,) = refusals(PlanDraft(node.facts, profile(DESIRED)), LOCATION_REFUSALS)
    assert refusal.code == code
    assert "1.32" in str(refusal)
    assert "set kubelet-arg in its own configuration: cgroup-driver=systemd, cpu-manager-policy=static," in str(refusal)


def test_the_unit_of_rke2_is_restarted_for_kubelet(tmp_path: Path) -> None:
    node = Node(tmp_path, "rke2-1.32-drop-ins")
    assert node.refused({"topology_manager_policy": "restricted"}) == []
    assert files_document((), Plan(), node.facts)["services"]["kubelet"]["unit"] == "rke2-agent.service"
    node.changed(live={"services": {"units": {"rke2-agent.service": {"ActiveState": "inactive"}}}})
    assert node.refused({"topology_manager_policy": "restricted"}) == [("supervisor-unit-unknown", None)]


def test_a_place_lists_its_files_once(tmp_path: Path) -> None:
    place = choose_location(Node(tmp_path, "kubeadm").facts)
    assert isinstance(place, ConfigLocation)
    assert place.paths == (MAIN,)
    dropin = choose_location(Node(tmp_path / "2", "kubeadm-1.30-config-dir").facts)
    assert isinstance(dropin, ConfigLocation)
    assert dropin.paths == (OWN, MAIN)


def test_without_a_main_file_a_drop_in_closes_the_read_only_port(tmp_path: Path) -> None:
    """kubelet without --config opens it by default: applyLegacyDefaults of cmd/kubelet/app/options/options.go."""
    node = Node(tmp_path, "kubeadm-1.30-config-dir")
    assert (OWN, "readOnlyPort") not in node.writes({"read_only_port": 0})
    argv = [word for word in node.snapshot["kubelet"]["processes"][0]["argv"] if not word.startswith("--config=")]
    node.changed(processes={"kubelet": {"argv": argv}})
    assert node.writes({"read_only_port": 0}) == [(OWN, "readOnlyPort")]
    assert node.edited({"read_only_port": 0}) == {OWN: node.file(OWN)}
    assert node.writes({"read_only_port": 0}) == []
