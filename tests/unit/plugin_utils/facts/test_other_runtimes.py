# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""CRI-O, docker and others: their drivers, the sources of these, and the runtime that kubelet uses."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import Claim
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.runtime_state import RuntimeFacts
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    Snapshot,
    captured,
    facts_of,
    put,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import (
    crio,
    distribution,
    docker,
    regular,
)

SYSTEMD, CGROUPFS = Driver.SYSTEMD, Driver.CGROUPFS
DROP_INS = "/etc/crio/crio.conf.d/"


def runtime(snapshot: Snapshot) -> RuntimeFacts:
    return facts_of(snapshot).runtime


def claims(snapshot: Snapshot, setting: str) -> list[tuple[str, str]]:
    return [(claim.value, claim.source) for claim in facts_of(snapshot).claims if claim.setting == setting]


def manager(value: str) -> str:
    return f'[crio.runtime]\ncgroup_manager = "{value}"\n'


@pytest.fixture
def aligned() -> Snapshot:
    return captured(ALIGNED)


def test_crio_without_settings_uses_systemd(aligned: Snapshot) -> None:
    facts = runtime(crio(aligned))
    assert (facts.name, facts.unit, facts.installed, facts.running) == ("cri-o", "crio", True, True)
    drivers = facts_of(crio(aligned)).driver
    assert (drivers.runtime, drivers.live, drivers.cri) == (SYSTEMD, SYSTEMD, SYSTEMD)
    assert claims(crio(aligned), "cgroup_manager") == [
        ("systemd", "the CRI's RuntimeConfig, in effect now"),
        ("systemd", "CRI-O's default"),
    ]


def test_the_last_drop_in_takes_precedence_and_every_file_makes_its_claim(aligned: Snapshot) -> None:
    node = crio(aligned, **{"10.conf": manager("systemd"), "20.conf": manager("cgroupfs"), "30.conf": "[crio]\n"})
    assert facts_of(node).driver.runtime is CGROUPFS
    assert claims(node, "cgroup_manager")[1:] == [("cgroupfs", DROP_INS + "20.conf"), ("systemd", DROP_INS + "10.conf")]
    flag = put(node, ["crio", "--cgroup-manager=systemd"], "runtime", "crio", "processes", 0, "argv")
    assert facts_of(flag).driver.runtime is SYSTEMD


def test_an_unknown_manager_and_a_broken_file_give_no_driver(aligned: Snapshot) -> None:
    assert facts_of(crio(aligned, **{"10.conf": manager("Systemd")})).driver.runtime is None
    broken = facts_of(crio(aligned, **{"10.conf": "[crio\n"}))
    assert broken.driver.runtime is None
    assert [bool(layer.problem) for layer in broken.runtime.layers] == [False, True]


def test_a_crio_that_does_not_answer(aligned: Snapshot) -> None:
    silent = {"endpoint": "unix:///var/run/crio/crio.sock", "error": "refused"}
    facts = runtime(put(crio(aligned), silent, "runtime", "cri"))
    assert (facts.name, facts.running, facts.version, facts.nri.supported) == ("cri-o", False, None, None)


def test_a_crio_known_only_by_its_socket_is_not_installed(aligned: Snapshot) -> None:
    node = put(crio(aligned), {"endpoint": "unix:///var/run/crio/crio.sock", "error": "refused"}, "runtime", "cri")
    facts = runtime(put(node, None, "runtime", "crio"))
    assert not facts.installed
    assert (facts.name, facts.config.kind) == ("cri-o", "missing")


def test_an_installed_crio_is_the_runtime_if_there_is_no_other(aligned: Snapshot) -> None:
    node = put(crio(aligned), {"endpoint": "unix:///run/containerd/containerd.sock"}, "runtime", "cri")
    assert runtime(node).name == "cri-o"


@pytest.mark.parametrize(
    ("version", "text", "supported", "configured", "default"),
    [
        ("1.25.5", "", False, False, "runc"),
        ("1.29.0", "", True, False, "runc"),
        ("1.29.0", "[crio.nri]\nenable_nri = true\n", True, True, "runc"),
        ("1.30.0", "", True, True, "runc"),
        ("1.31.1", "[crio.nri]\nenable_nri = false\n", True, False, "crun"),
        ("1.31.1", '[crio.runtime]\ndefault_runtime = "kata"\n', True, True, "kata"),
    ],
)
def test_defaults_of_crio_are_those_of_its_version(
    aligned: Snapshot, version: str, text: str, supported: bool, configured: bool, default: str
) -> None:
    facts = runtime(put(crio(aligned, **{"a.conf": text}), version, "runtime", "cri", "version"))
    assert (facts.nri.supported, facts.nri.configured, facts.default_handler) == (supported, configured, default)


def test_crio_can_have_another_nri_socket(aligned: Snapshot) -> None:
    node = crio(aligned, **{"a.conf": '[crio.nri]\nnri_listen = "/run/x.sock"\n'})
    assert not runtime(node).nri.running
    assert runtime(put(node, {"/run/x.sock": {}}, "runtime", "nri_sockets")).nri.running


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ('cgroup_manager = "cgroupfs"\nconmon_cgroup = "pod"', True),
        ('cgroup_manager = "cgroupfs"\nconmon_cgroup = ""', True),
        ('cgroup_manager = "cgroupfs"\nconmon_cgroup = "system.slice"', False),
        ('conmon_cgroup = "system.slice"', True),
        ('conmon_cgroup = "pod"', True),
        ('conmon_cgroup = "/system"', False),
    ],
)
def test_the_cgroup_of_conmon_must_fit_the_manager(aligned: Snapshot, text: str, fits: bool) -> None:
    assert (runtime(crio(aligned, **{"a.conf": f"[crio.runtime]\n{text}\n"})).defects == ()) is fits


FS, HANDLER = '[crio.runtime]\ncgroup_manager = "cgroupfs"\n', "[crio.runtime.runtimes.crun]\n"
SLICE = HANDLER + 'monitor_cgroup = "machine.slice"\n'


@pytest.mark.parametrize(
    ("files", "messages"),
    [
        ([FS + SLICE], ['monitor_cgroup of handler crun = "machine.slice", cgroup_manager = "cgroupfs"']),
        # conmon_cgroup overrides the handlers, an empty one does not; a later table replaces the whole earlier one.
        ([FS + 'conmon_cgroup = "pod"\n' + SLICE], []),
        ([FS + 'conmon_cgroup = ""\n' + SLICE], ['monitor_cgroup of handler crun = "machine.slice"']),
        ([FS + SLICE, HANDLER + 'runtime_path = "/usr/bin/crun"\n'], []),
        ([FS + 'conmon_cgroup = "x"\n', '[crio.runtime]\nconmon_cgroup = "pod"\n'], []),
        ([FS + 'conmon_cgroup = "pod"\n', '[crio.runtime]\nconmon_cgroup = "x"\n'], ['conmon_cgroup = "x"']),
        # Only runtimes of type oci have a monitor.
        ([FS + SLICE + 'runtime_type = "vm"\n'], []),
        ([SLICE], []),
        ([HANDLER + 'monitor_cgroup = "/x"\n'], ['monitor_cgroup of handler crun = "/x", cgroup_manager = "systemd"']),
    ],
)
def test_the_cgroup_of_a_handlers_monitor_must_fit_the_manager(
    aligned: Snapshot, files: list[str], messages: list[str]
) -> None:
    defects = runtime(crio(aligned, **{f"{number}.conf": text for number, text in enumerate(files)})).defects
    assert [defect.code for defect in defects] == ["crio-conmon-cgroup"] * len(messages)
    for defect, words in zip(defects, messages, strict=True):
        assert defect.message.startswith(words)


@pytest.mark.parametrize(("version", "starts"), [("1.32.9", False), ("1.33.0", True), (None, False)])
def test_since_1_33_the_default_slice_means_not_set_with_cgroupfs(
    aligned: Snapshot, version: str | None, starts: bool
) -> None:
    node = crio(aligned, **{"a.conf": FS + 'conmon_cgroup = "system.slice"\n'})
    assert (runtime(put(node, version, "runtime", "cri", "version")).defects == ()) is starts


def test_the_drop_in_directory_and_whether_all_files_were_read(aligned: Snapshot) -> None:
    node = crio(aligned, **{f"{number:02}.conf": "" for number in range(63)})
    facts = runtime(node)
    assert facts.crio is not None
    assert (facts.crio.directory, facts.crio.complete) == ("/etc/crio/crio.conf.d", True)
    more = runtime(put(node, regular(""), "runtime", "crio", "files", DROP_INS + "zz.conf")).crio
    assert more is not None
    assert not more.complete
    elsewhere = put(node, ["crio", "-d", "/etc/x.d/"], "runtime", "crio", "processes", 0, "argv")
    assert runtime(elsewhere).crio == type(more)("/etc/x.d", complete=True)


DAEMON = '{"exec-opts": ["native.cgroupdriver=systemd"]}'


@pytest.mark.parametrize(
    ("text", "argv", "driver", "expected_claims"),
    [
        (DAEMON, (), SYSTEMD, [("systemd", "/etc/docker/daemon.json")]),
        ("{}", ("--exec-opt", "native.cgroupdriver=cgroupfs"), CGROUPFS,
         [("cgroupfs", "dockerd's command line, --exec-opt")]),
        ("{}", ("--exec-opt=native.cgroupdriver=systemd",), SYSTEMD,
         [("systemd", "dockerd's command line, --exec-opt")]),
        ("{}", (), None, []),
        ('{"exec-opts": "x"}', ("--exec-opt",), None, []),
        ('{"exec-opts": ["native.cgroupdriver=odd"]}', (), None, [("odd", "/etc/docker/daemon.json")]),
        ('{"exec-opts": ["a=b"]}', ("--exec-opt", "c=d"), None, []),
    ],
)  # fmt: skip
def test_the_driver_that_docker_is_configured_with(
    aligned: Snapshot, text: str, argv: tuple[str, ...], driver: Driver | None, expected_claims: list[tuple[str, str]]
) -> None:
    node = docker(aligned, text, *argv)
    assert facts_of(node).driver.runtime is driver
    assert claims(node, "native.cgroupdriver") == expected_claims


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000, "\udce9"])
def test_an_invalid_daemon_json_is_a_problem_of_the_file(aligned: Snapshot, text: str) -> None:
    assert runtime(docker(aligned, text)).config.problem


def test_a_docker_whose_dockerd_was_not_found(aligned: Snapshot) -> None:
    node = put(docker(aligned, "{}"), None, "runtime", "docker")
    assert (runtime(node).name, runtime(node).config.kind) == ("docker", "missing")


@pytest.mark.parametrize(
    ("version", "argv", "name"),
    [
        ("Kubernetes v1.23.17", ["kubelet"], "docker"),
        ("Kubernetes v1.23.17", ["kubelet", "--container-runtime=docker"], "docker"),
        ("Kubernetes v1.23.17", ["kubelet", "--container-runtime=remote"], "containerd"),
        ("Kubernetes v1.24.0", ["kubelet"], "containerd"),
        (None, ["kubelet"], "containerd"),
    ],
)
def test_a_kubelet_with_built_in_docker_support_uses_docker_if_dockerd_runs(
    aligned: Snapshot, version: str | None, argv: list[str], name: str
) -> None:
    node = put(put(aligned, version, "kubelet", "version"), argv, "kubelet", "processes", 0, "argv")
    assert runtime(node).name == "containerd", "without dockerd there is no docker to use"
    assert runtime(put(node, docker(aligned, "{}")["runtime"]["docker"], "runtime", "docker")).name == name


def test_other_runtimes_are_those_that_kubelet_does_not_use(aligned: Snapshot) -> None:
    both = put(aligned, ["crio", "dockerd"], "other_runtimes")
    assert facts_of(both).other_runtimes == ("crio", "dockerd")
    assert facts_of(crio(both)).other_runtimes == ("dockerd",)
    assert facts_of(docker(both, "{}")).other_runtimes == ("crio",)


@pytest.mark.parametrize(
    ("response", "driver", "supported"),
    [
        (None, None, None),
        ({"cgroup_driver": "systemd"}, SYSTEMD, True),
        ({"cgroup_driver": "cgroupfs"}, CGROUPFS, True),
        ({"cgroup_driver": None}, None, True),
        ({"error": "unimplemented"}, None, False),
        ({"error": "out of time"}, None, None),
        ("garbage", None, None),
    ],
)
def test_the_driver_that_the_cri_reports_to_kubelet(
    aligned: Snapshot, response: Any, driver: Driver | None, supported: bool | None
) -> None:
    drivers = facts_of(put(aligned, response, "runtime", "cri", "runtime_config")).driver
    assert (drivers.cri, drivers.cri_supported) == (driver, supported)


def test_a_node_with_isulad_has_no_known_driver(aligned: Snapshot) -> None:
    facts = facts_of(put(aligned, {"endpoint": "unix:///var/run/isulad.sock", "name": "iSulad"}, "runtime", "cri"))
    assert (facts.runtime.name, facts.driver.runtime, facts.runtime.handlers) == ("isulad", None, ())


def layout(snapshot: Snapshot) -> tuple[str, tuple[str, ...]]:
    facts = facts_of(snapshot).layout
    return facts.name, facts.evidence


KUBECONFIG = ["/usr/bin/kubelet", "--kubeconfig=/etc/kubernetes/kubelet.conf"]


def argv(snapshot: Snapshot, *words: str) -> Snapshot:
    return put(snapshot, list(words), "kubelet", "processes", 0, "argv")


@pytest.mark.parametrize(
    ("marks", "words", "name"),
    [
        ((), ["kubelet", "--config=/x"], "standalone"),
        ((), KUBECONFIG, "unknown"),
        (("/etc/kubernetes/kubelet.conf",), KUBECONFIG, "kubeadm"),
        (("/var/lib/kubelet/kubeadm-flags.env",), KUBECONFIG, "kubeadm"),
        (("/etc/kubernetes/kubelet.env", "/var/lib/kubelet/kubeadm-flags.env"), KUBECONFIG, "kubespray"),
        (("/etc/kubernetes/kubelet.conf",), ["kubelet", "--config=/x"], "standalone"),
        (("/var/lib/rancher/rke2/agent",), ["kubelet", "--kubeconfig=/var/lib/rancher/rke2/agent/k"], "rke2"),
        (("/var/lib/rancher/k3s/agent", "/etc/kubernetes/kubelet.conf"), KUBECONFIG, "kubeadm"),
    ],
)
def test_the_layout_is_found_by_files_and_processes(
    aligned: Snapshot, marks: tuple[str, ...], words: list[str], name: str
) -> None:
    layout_name, evidence = layout(argv(distribution(aligned, *marks), *words))
    assert layout_name == name
    assert bool(evidence) is (name != "unknown")


def test_a_snapshot_without_evidence_has_no_layout(aligned: Snapshot) -> None:
    assert layout(aligned) == ("unknown", ())


@pytest.mark.parametrize(
    ("title", "name"), [("/usr/local/bin/k3s server", "k3s"), ("/opt/rke2/bin/rke2 agent", "rke2")]
)
def test_a_supervisor_takes_precedence_over_files(aligned: Snapshot, title: str, name: str) -> None:
    node = distribution(aligned, "/etc/kubernetes/kubelet.conf", title=title)
    assert layout(node) == (name, (f"process 5: {title}",))


def embedded(snapshot: Snapshot, **settings: str) -> Snapshot:
    node = distribution(snapshot, title="/usr/local/bin/k3s agent", **settings)
    return put(put(node, [], "kubelet", "processes"), None, "kubelet", "program")


def test_k3s_gives_kubelet_the_driver_of_its_containerd(aligned: Snapshot) -> None:
    facts = facts_of(embedded(aligned))
    assert (facts.driver.kubelet, facts.kubelet.cpu_manager_policy) == (SYSTEMD, None)
    assert Claim("cgroupDriver", "systemd", "k3s, which gives kubelet containerd's driver") in facts.claims
    assert not any(claim.source == "kubelet's default" for claim in facts.claims)


@pytest.mark.parametrize(
    "text", ["kubelet-arg: cgroup-driver=cgroupfs\n", 'kubelet-arg+:\n- "--cgroup-driver=cgroupfs"\n']
)
def test_an_argument_of_k3s_overrides_the_driver_of_its_containerd(aligned: Snapshot, text: str) -> None:
    facts = facts_of(embedded(aligned, k3s=text))
    assert facts.driver.kubelet is CGROUPFS
    assert facts.driver.source == "/etc/rancher/k3s/config.yaml, kubelet-arg"


def test_k3s_settings_that_cannot_be_parsed_are_ignored(aligned: Snapshot) -> None:
    facts = facts_of(embedded(aligned, k3s="kubelet-arg: [\n"))
    assert facts.driver.kubelet is SYSTEMD
    odd = facts_of(embedded(aligned, k3s="kubelet-arg: cgroup-driver=odd\n"))
    assert odd.driver.kubelet is None


def test_the_driver_in_the_configz_of_an_embedded_kubelet_is_unknown(aligned: Snapshot) -> None:
    node = put(aligned, {"cgroup_driver": "systemd"}, "runtime", "cri", "runtime_config")
    node = put(node, "Kubernetes v1.36.0", "kubelet", "version")
    assert facts_of(node).driver.in_configz == "systemd"
    drivers = facts_of(embedded(node)).driver
    assert (drivers.kubelet, drivers.authority, drivers.in_configz) == (SYSTEMD, None, None)


def test_an_embedded_kubelet_with_a_runtime_of_unknown_driver_has_no_source(aligned: Snapshot) -> None:
    node = embedded(docker(aligned, "{}"))
    assert facts_of(node).driver.source is None


@pytest.mark.parametrize(("schema", "template"), [("3", "config-v3.toml.tmpl"), ("2", "config.toml.tmpl")])
def test_the_template_of_a_file_that_is_recreated(aligned: Snapshot, schema: str, template: str) -> None:
    directory = "/var/lib/rancher/k3s/agent/etc/containerd/"
    node = put(embedded(aligned), directory + "config.toml", "runtime", "config_path")
    node = put(node, regular(f"version = {schema}\n"), "runtime", "files", directory + "config.toml")
    assert facts_of(node).layout.regenerated == {directory + "config.toml": directory + template}
