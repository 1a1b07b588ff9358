# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""CRI-O, docker and others: their drivers, who says so, and which runtime kubelet uses at all."""

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
FOLDER = "/etc/crio/crio.conf.d/"


def runtime(snapshot: Snapshot) -> RuntimeFacts:
    return facts_of(snapshot).runtime


def claims(snapshot: Snapshot, setting: str) -> list[tuple[str, str]]:
    return [(each.value, each.source) for each in facts_of(snapshot).claims if each.setting == setting]


def manager(value: str) -> str:
    return f'[crio.runtime]\ncgroup_manager = "{value}"\n'


@pytest.fixture
def aligned() -> Snapshot:
    return captured(ALIGNED)


def test_crio_without_a_word_uses_systemd(aligned: Snapshot) -> None:
    found = runtime(crio(aligned))
    assert (found.name, found.unit, found.installed, found.running) == ("cri-o", "crio", True, True)
    told = facts_of(crio(aligned)).driver
    assert (told.runtime, told.live, told.cri) == (SYSTEMD, SYSTEMD, SYSTEMD)
    assert claims(crio(aligned), "cgroup_manager") == [
        ("systemd", "the CRI's RuntimeConfig, in effect now"),
        ("systemd", "CRI-O's default"),
    ]


def test_the_last_drop_in_wins_and_every_word_is_claimed(aligned: Snapshot) -> None:
    node = crio(aligned, **{"10.conf": manager("systemd"), "20.conf": manager("cgroupfs"), "30.conf": "[crio]\n"})
    assert facts_of(node).driver.runtime is CGROUPFS
    assert claims(node, "cgroup_manager")[1:] == [("cgroupfs", FOLDER + "20.conf"), ("systemd", FOLDER + "10.conf")]
    flag = put(node, ["crio", "--cgroup-manager=systemd"], "runtime", "crio", "processes", 0, "argv")
    assert facts_of(flag).driver.runtime is SYSTEMD


def test_a_manager_that_is_none_and_a_file_that_is_broken_give_no_driver(aligned: Snapshot) -> None:
    assert facts_of(crio(aligned, **{"10.conf": manager("Systemd")})).driver.runtime is None
    broken = facts_of(crio(aligned, **{"10.conf": "[crio\n"}))
    assert broken.driver.runtime is None
    assert [each.code for each in broken.runtime.defects] == ["config-unreadable"]


def test_a_crio_that_does_not_answer(aligned: Snapshot) -> None:
    silent = {"endpoint": "unix:///var/run/crio/crio.sock", "error": "refused"}
    found = runtime(put(crio(aligned), silent, "runtime", "cri"))
    assert (found.name, found.running, found.version, found.nri.supported) == ("cri-o", False, None, None)


def test_a_crio_known_by_its_socket_only_is_named_and_not_installed(aligned: Snapshot) -> None:
    node = put(crio(aligned), {"endpoint": "unix:///var/run/crio/crio.sock", "error": "refused"}, "runtime", "cri")
    found = runtime(put(node, None, "runtime", "crio"))
    assert not found.installed
    assert (found.name, found.config.kind) == ("cri-o", "missing")


def test_an_installed_crio_is_the_runtime_where_there_is_no_other(aligned: Snapshot) -> None:
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
    found = runtime(put(crio(aligned, **{"a.conf": text}), version, "runtime", "cri", "version"))
    assert (found.nri.supported, found.nri.configured, found.default_handler) == (supported, configured, default)


def test_another_nri_socket_of_crio_is_looked_for(aligned: Snapshot) -> None:
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
def test_what_suits_conmon(aligned: Snapshot, text: str, fits: bool) -> None:
    assert (runtime(crio(aligned, **{"a.conf": f"[crio.runtime]\n{text}\n"})).defects == ()) is fits


FS, HANDLER = '[crio.runtime]\ncgroup_manager = "cgroupfs"\n', "[crio.runtime.runtimes.crun]\n"
SLICE = HANDLER + 'monitor_cgroup = "machine.slice"\n'


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([FS + SLICE], ['monitor_cgroup of handler crun = "machine.slice", cgroup_manager = "cgroupfs"']),
        # conmon_cgroup goes over the handlers, an empty one does not; a later table is the whole one.
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
def test_what_suits_the_monitor_of_a_handler(aligned: Snapshot, files: list[str], said: list[str]) -> None:
    found = runtime(crio(aligned, **{f"{number}.conf": text for number, text in enumerate(files)})).defects
    assert [each.code for each in found] == ["crio-conmon-cgroup"] * len(said)
    for defect, words in zip(found, said, strict=True):
        assert defect.message.startswith(words)


@pytest.mark.parametrize(("version", "starts"), [("1.32.9", False), ("1.33.0", True), (None, False)])
def test_since_1_33_cgroupfs_takes_the_default_slice_for_no_word(
    aligned: Snapshot, version: str | None, starts: bool
) -> None:
    node = crio(aligned, **{"a.conf": FS + 'conmon_cgroup = "system.slice"\n'})
    assert (runtime(put(node, version, "runtime", "cri", "version")).defects == ()) is starts


def test_where_drop_ins_are_and_whether_all_were_read(aligned: Snapshot) -> None:
    node = crio(aligned, **{f"{number:02}.conf": "" for number in range(63)})
    found = runtime(node)
    assert found.crio is not None
    assert (found.crio.directory, found.crio.complete) == ("/etc/crio/crio.conf.d", True)
    more = runtime(put(node, regular(""), "runtime", "crio", "files", FOLDER + "zz.conf")).crio
    assert more is not None
    assert not more.complete
    elsewhere = put(node, ["crio", "-d", "/etc/x.d/"], "runtime", "crio", "processes", 0, "argv")
    assert runtime(elsewhere).crio == type(more)("/etc/x.d", complete=True)


DAEMON = '{"exec-opts": ["native.cgroupdriver=systemd"]}'


@pytest.mark.parametrize(
    ("text", "argv", "driver", "said"),
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
def test_what_docker_is_told(
    aligned: Snapshot, text: str, argv: tuple[str, ...], driver: Driver | None, said: list[tuple[str, str]]
) -> None:
    node = docker(aligned, text, *argv)
    assert facts_of(node).driver.runtime is driver
    assert claims(node, "native.cgroupdriver") == said


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000, "\udce9"])
def test_a_daemon_json_that_is_none_is_a_problem_of_the_file(aligned: Snapshot, text: str) -> None:
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
def test_a_kubelet_with_docker_built_in_uses_docker_where_dockerd_runs(
    aligned: Snapshot, version: str | None, argv: list[str], name: str
) -> None:
    node = put(put(aligned, version, "kubelet", "version"), argv, "kubelet", "processes", 0, "argv")
    assert runtime(node).name == "containerd", "without a dockerd there is nothing to use"
    assert runtime(put(node, docker(aligned, "{}")["runtime"]["docker"], "runtime", "docker")).name == name


def test_other_runtimes_are_those_that_kubelet_does_not_use(aligned: Snapshot) -> None:
    both = put(aligned, ["crio", "dockerd"], "other_runtimes")
    assert facts_of(both).other_runtimes == ("crio", "dockerd")
    assert facts_of(crio(both)).other_runtimes == ("dockerd",)
    assert facts_of(docker(both, "{}")).other_runtimes == ("crio",)


@pytest.mark.parametrize(
    ("answer", "driver", "supported"),
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
def test_what_the_cri_wants_of_kubelet(
    aligned: Snapshot, answer: Any, driver: Driver | None, supported: bool | None
) -> None:
    found = facts_of(put(aligned, answer, "runtime", "cri", "runtime_config")).driver
    assert (found.cri, found.cri_supported) == (driver, supported)


def test_a_supported_runtime_asked_of_a_node_with_isulad(aligned: Snapshot) -> None:
    found = facts_of(put(aligned, {"endpoint": "unix:///var/run/isulad.sock", "name": "iSulad"}, "runtime", "cri"))
    assert (found.runtime.name, found.driver.runtime, found.runtime.handlers) == ("isulad", None, ())


def layout(snapshot: Snapshot) -> tuple[str, tuple[str, ...]]:
    found = facts_of(snapshot).layout
    return found.name, found.evidence


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
    found, evidence = layout(argv(distribution(aligned, *marks), *words))
    assert found == name
    assert bool(evidence) is (name != "unknown")


def test_a_snapshot_without_evidence_has_no_layout(aligned: Snapshot) -> None:
    assert layout(aligned) == ("unknown", ())


@pytest.mark.parametrize(
    ("title", "name"), [("/usr/local/bin/k3s server", "k3s"), ("/opt/rke2/bin/rke2 agent", "rke2")]
)
def test_a_supervisor_outranks_what_lies_around(aligned: Snapshot, title: str, name: str) -> None:
    node = distribution(aligned, "/etc/kubernetes/kubelet.conf", title=title)
    assert layout(node) == (name, (f"process 5: {title}",))


def embedded(snapshot: Snapshot, **settings: str) -> Snapshot:
    node = distribution(snapshot, title="/usr/local/bin/k3s agent", **settings)
    return put(put(node, [], "kubelet", "processes"), None, "kubelet", "program")


def test_k3s_gives_kubelet_the_driver_of_its_containerd(aligned: Snapshot) -> None:
    found = facts_of(embedded(aligned))
    assert (found.driver.kubelet, found.kubelet.cpu_manager_policy) == (SYSTEMD, None)
    assert Claim("cgroupDriver", "systemd", "k3s, which gives kubelet containerd's driver") in found.claims
    assert not any(each.source == "kubelet's default" for each in found.claims)


@pytest.mark.parametrize(
    "text", ["kubelet-arg: cgroup-driver=cgroupfs\n", 'kubelet-arg+:\n- "--cgroup-driver=cgroupfs"\n']
)
def test_what_k3s_is_told_to_give_kubelet_counts_more(aligned: Snapshot, text: str) -> None:
    found = facts_of(embedded(aligned, k3s=text))
    assert found.driver.kubelet is CGROUPFS
    assert found.driver.source == "/etc/rancher/k3s/config.yaml, kubelet-arg"


def test_k3s_settings_that_do_not_parse_say_nothing(aligned: Snapshot) -> None:
    found = facts_of(embedded(aligned, k3s="kubelet-arg: [\n"))
    assert found.driver.kubelet is SYSTEMD
    odd = facts_of(embedded(aligned, k3s="kubelet-arg: cgroup-driver=odd\n"))
    assert odd.driver.kubelet is None


def test_nobody_knows_what_the_configz_of_an_embedded_kubelet_should_say(aligned: Snapshot) -> None:
    node = put(aligned, {"cgroup_driver": "systemd"}, "runtime", "cri", "runtime_config")
    node = put(node, "Kubernetes v1.36.0", "kubelet", "version")
    assert facts_of(node).driver.in_configz == "systemd"
    found = facts_of(embedded(node)).driver
    assert (found.kubelet, found.authority, found.in_configz) == (SYSTEMD, None, None)


def test_an_embedded_kubelet_beside_a_runtime_of_no_known_driver_has_no_source(aligned: Snapshot) -> None:
    node = embedded(docker(aligned, "{}"))
    assert facts_of(node).driver.source is None


@pytest.mark.parametrize(("schema", "template"), [("3", "config-v3.toml.tmpl"), ("2", "config.toml.tmpl")])
def test_the_template_of_a_file_that_is_made_anew(aligned: Snapshot, schema: str, template: str) -> None:
    folder = "/var/lib/rancher/k3s/agent/etc/containerd/"
    node = put(embedded(aligned), folder + "config.toml", "runtime", "config_path")
    node = put(node, regular(f"version = {schema}\n"), "runtime", "files", folder + "config.toml")
    assert facts_of(node).layout.regenerated == {folder + "config.toml": folder + template}
