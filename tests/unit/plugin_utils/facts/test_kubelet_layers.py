# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's layers by version, who decides its driver, and what its unit starts next."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.cgroup_driver import (
    decide_driver,
    runtime_config,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_command_line import (
    flag_values,
    parse_flags,
    parse_next_line,
    parse_running_flags,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_layers import (
    merge_override,
    merge_patch,
    render_value,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_settings import (
    cpu_checksum,
    find_line_agents_miss,
    fnv32a,
    interpret_kubelet,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_state import KubeletFacts
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import Claim, DriverFacts
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import CGROUP_DRIVER
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.versions import minor
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import ALIGNED, captured

MAIN = "/var/lib/kubelet/config.yaml"
STATE = "/var/lib/kubelet/cpu_manager_state"
DIRECTORY = "/etc/kubernetes/kubelet.conf.d"
UNIT = "/usr/lib/systemd/system/kubelet.service"
KUBEADM = f"{UNIT}.d/10-kubeadm.conf"
TYPE = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"


def text(content: str) -> dict[str, Any]:
    return {"kind": "regular", "text": content, "ctime": 0.0}


def evidence(version: str | None, main: str = "", flags_given: tuple[str, ...] = (), **dropins: str) -> dict[str, Any]:
    """The kubelet section of a snapshot."""
    paths = {f"{DIRECTORY}/{name}.conf": content for name, content in dropins.items()}
    return {
        "processes": [{"pid": 1, "argv": ["/usr/bin/kubelet", f"--config={MAIN}", *flags_given], "started_at": 10.0}],
        "program": "/usr/bin/kubelet",
        "version": f"Kubernetes v{version}" if version else None,
        "config_path": MAIN,
        "checkpoint_path": STATE,
        "healthz": "ok",
        "config_dir": {"folder": DIRECTORY, "exists": True, "paths": list(paths), "left_out": 0},
        "dropin_variable": True,
        "files": {
            MAIN: text(main),
            STATE: {"kind": "missing"},
            **{path: text(content) for path, content in paths.items()},
        },
    }


def facts(section: dict[str, Any]) -> KubeletFacts:
    return interpret_kubelet(section, {})[0]


def driver(section: dict[str, Any], cri: dict[str, Any] | None = None) -> DriverFacts:
    """The drivers of a node with this kubelet and this response of its runtime."""
    runtime = interpret(captured(ALIGNED)).runtime
    return decide_driver(facts(section), runtime, (), runtime_config(cri or {}))


def value(kubelet: KubeletFacts, key: str) -> tuple[Any, str]:
    return kubelet.settings[key].value, kubelet.settings[key].source


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("v1.34.2", (1, 34)),
        ("2.1.0-rc.1", (2, 1)),
        ("1.6.20~ds1", (1, 6)),
        ("Kubernetes v1.20.2", (1, 20)),
        ("1.36", (1, 36)),
        ("257.13-1~deb13u1", (257, 13)),
        ("", None),
        ("none", None),
        (None, None),
    ],
)
def test_major_and_minor_are_read_from_a_version(written: str | None, read: tuple[int, int] | None) -> None:
    assert minor(written) == read


def test_the_last_dropin_overrides_the_file() -> None:
    kubelet = facts(
        evidence(
            "1.30.0",
            "cpuManagerPolicy: none\n",
            a=TYPE + "cpuManagerPolicy: static\n",
            b=TYPE + "topologyManagerPolicy: restricted\n",
        )
    )
    assert value(kubelet, "cpuManagerPolicy") == ("static", f"{DIRECTORY}/a.conf")
    assert value(kubelet, "topologyManagerPolicy") == ("restricted", f"{DIRECTORY}/b.conf")


def test_tables_are_merged_and_name_both_sources() -> None:
    kubelet = facts(
        evidence("1.30.0", "systemReserved: {cpu: 500m, memory: 1Gi}\n", a=TYPE + "systemReserved: {cpu: '1'}\n")
    )
    assert value(kubelet, "systemReserved") == ({"cpu": "1", "memory": "1Gi"}, f"{MAIN} and {DIRECTORY}/a.conf")


def test_a_table_of_a_dropin_that_changes_nothing_is_no_source() -> None:
    kubelet = facts(evidence("1.30.0", "systemReserved: {cpu: '1'}\n", a=TYPE + "systemReserved: {cpu: '1'}\n"))
    assert value(kubelet, "systemReserved") == ({"cpu": "1"}, MAIN)


def test_lists_are_replaced() -> None:
    kubelet = facts(
        evidence(
            "1.30.0",
            "enforceNodeAllocatable: [pods, system-reserved]\n",
            a=TYPE + "enforceNodeAllocatable: [pods]\n",
        )
    )
    assert value(kubelet, "enforceNodeAllocatable") == (["pods"], f"{DIRECTORY}/a.conf")


@pytest.mark.parametrize(
    ("version", "word", "source"),
    [("1.29.0", "cgroupfs", "kubelet's default"), ("1.28.0", "systemd", MAIN)],
)
def test_null_resets_to_the_default_since_1_29(version: str, word: str, source: str) -> None:
    drivers = driver(evidence(version, "cgroupDriver: systemd\n", a=TYPE + "cgroupDriver: null\n"))
    assert drivers.kubelet is not None
    assert (drivers.kubelet.value, drivers.source) == (word, source)


def test_false_and_zero_override_nothing_on_1_28() -> None:
    kubelet = facts(evidence("1.28.0", "failSwapOn: true\n", a=TYPE + "failSwapOn: false\n"))
    assert value(kubelet, "failSwapOn") == (True, MAIN)


@pytest.mark.parametrize("version", ["1.27.9", "1.28.0", "1.29.0"])
def test_dropins_are_not_read_without_the_variable(version: str) -> None:
    section = evidence(version, "cgroupDriver: systemd\n", a=TYPE + "cgroupDriver: cgroupfs\n")
    assert driver({**section, "dropin_variable": False}).source == MAIN


def test_a_refused_dropin_gives_no_value() -> None:
    dropin = "kind: KubeletConfiguration\ncgroupDriver: cgroupfs\n"
    section = evidence("1.30.0", "cgroupDriver: systemd\n", a=dropin)
    assert driver(section).source == MAIN
    problem = facts(section).dropins[0].problem
    assert problem is not None
    assert problem.message == "apiVersion is not kubelet.config.k8s.io/v1beta1"


def test_flags_override_dropins_and_only_gates_are_merged() -> None:
    flags = ("--cgroup_driver=cgroupfs", "--feature-gates", "A=true,B=false", "--feature-gates=C=true")
    main = "featureGates: {A: false, D: true}\nsystemReserved: {memory: 1Gi}\n"
    dropin = TYPE + "cgroupDriver: systemd\n"
    section = evidence("1.30.0", main, (*flags, "--system-reserved=cpu=2"), a=dropin)
    kubelet = facts(section)
    assert driver(section).authority == "flag"
    assert value(kubelet, "featureGates")[0] == {"A": "true", "B": "false", "C": "true", "D": True}
    assert value(kubelet, "systemReserved") == ({"cpu": "2"}, "kubelet's command line, --system-reserved")


def test_flags_in_every_form_are_read() -> None:
    argv = [
        "kubelet",
        "--eviction-hard=memory.available<100Mi,nodefs.available<10%",
        "--enforce-node-allocatable=pods,",
        "--reserved-memory",
        "0:memory=1Gi,hugepages-2Mi=2Gi;1:memory=1Gi",
        "--fail-swap-on",
        "--cgroups-per-qos=false",
        "--fail-cgroupv1",
        "--read-only-port",
        "--",
        "--cgroup-root",
    ]
    assert flag_values(parse_running_flags(argv)) == {
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%"},
        "enforceNodeAllocatable": ["pods"],
        "reservedMemory": [
            {"numaNode": "0", "limits": {"memory": "1Gi", "hugepages-2Mi": "2Gi"}},
            {"numaNode": "1", "limits": {"memory": "1Gi"}},
        ],
        "failSwapOn": True,
        "cgroupsPerQOS": False,
        "failCgroupV1": True,
        "readOnlyPort": "--",
    }


def test_a_field_has_no_default_before_it_was_added() -> None:
    assert "memoryManagerPolicy" not in facts(evidence("1.20.2")).settings
    assert value(facts(evidence("1.21.0")), "memoryManagerPolicy") == ("None", "kubelet's default")
    assert "memoryManagerPolicy" in facts(evidence(None)).settings


def test_a_null_removes_a_key_in_a_patch_and_not_in_an_override() -> None:
    base = {"a": {"x": 1, "y": [1]}, "b": 1}
    assert merge_patch(base, {"a": {"x": None, "y": [2], "z": {"n": 1}}, "c": {"d": None}}) == {
        "a": {"y": [2], "z": {"n": 1}},
        "b": 1,
        "c": {},
    }
    assert merge_override(base, {"a": {"x": 0, "y": [2]}, "b": None}) == {"a": {"x": 1, "y": [2]}, "b": 1}


def test_values_are_rendered_as_one_line() -> None:
    assert render_value({"b": False, "a": [1, {"x": None}]}) == "a=1, (x=null), b=false"


@pytest.mark.parametrize(
    ("version", "response", "word", "source", "authority"),
    [
        ("1.20.2", {"cgroup_driver": "cgroupfs"}, "systemd", MAIN, "config"),
        ("1.30.0", {"cgroup_driver": "cgroupfs"}, "systemd", MAIN, "config"),
        ("1.31.0", {"cgroup_driver": "cgroupfs"}, "cgroupfs", "the CRI's RuntimeConfig", "cri"),
        ("1.34.0", {"cgroup_driver": "cgroupfs"}, "cgroupfs", "the CRI's RuntimeConfig", "cri"),
        ("1.36.0", {"error": "unimplemented"}, "systemd", MAIN, "config"),
        ("1.36.0", {"error": "deadline exceeded"}, "systemd", MAIN, None),
        ("1.36.0", None, "systemd", MAIN, None),
        (None, {"cgroup_driver": "cgroupfs"}, "systemd", MAIN, "config"),
    ],
)
def test_the_driver_comes_from_the_authority_of_the_version(
    version: str | None, response: dict[str, str] | None, word: str, source: str, authority: str | None
) -> None:
    drivers = driver(evidence(version, "cgroupDriver: systemd\n"), {"runtime_config": response} if response else {})
    assert drivers.kubelet is not None
    assert (drivers.kubelet.value, drivers.source, drivers.authority) == (word, source, authority)


def test_the_default_is_an_authority_and_a_broken_file_is_not() -> None:
    assert driver(evidence("1.20.2")).authority == "default"
    assert driver(evidence("1.20.2", "a: [\n")).authority is None


RESET = "[Service]\nExecStart=\n"
KUBEADM_TEXT = """[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/b.conf --kubeconfig=/etc/kubernetes/k.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
"""


def with_unit(drop_in: str, **variables: str) -> dict[str, Any]:
    section = evidence("1.30.0")
    section["unit_files"] = [UNIT, KUBEADM]
    section["files"].update({UNIT: text("[Service]\nExecStart=/usr/bin/kubelet\n"), KUBEADM: text(drop_in)})
    names = {"kubeadm": "/var/lib/kubelet/kubeadm-flags.env", "extra": "/etc/default/kubelet"}
    for key, path in names.items():
        section["files"][path] = text(variables[key]) if key in variables else {"kind": "missing"}
    return section


def test_the_next_command_line_of_kubeadms_unit_has_the_variables_in_order() -> None:
    line = parse_next_line(
        with_unit(
            KUBEADM_TEXT,
            kubeadm='KUBELET_KUBEADM_ARGS="--cgroup-driver=systemd --v=2"\n',
            extra="KUBELET_EXTRA_ARGS=--cgroup-driver='cgroupfs'\n",
        )
    )
    assert [word for word, _source in line] == [
        "/usr/bin/kubelet",
        "--bootstrap-kubeconfig=/etc/kubernetes/b.conf",
        "--kubeconfig=/etc/kubernetes/k.conf",
        "--config=/var/lib/kubelet/config.yaml",
        "--cgroup-driver=systemd",
        "--v=2",
        "--cgroup-driver=cgroupfs",
    ]
    assert line[-1][1] == "KUBELET_EXTRA_ARGS in /etc/default/kubelet"
    assert line[3][1] == f"KUBELET_CONFIG_ARGS in {KUBEADM}"
    assert flag_values(parse_flags(line)) == {"cgroupDriver": "cgroupfs"}


def test_a_variable_within_a_word_and_empty_settings_that_reset() -> None:
    drop_in = (
        "[Service]\nEnvironment=A=1\nEnvironment=\nEnvironment=B=2\nEnvironmentFile=/etc/default/kubelet\n"
        "EnvironmentFile=\nExecStart=\nExecStart=-/opt/kubelet --a=${A} --b=x$B ${C}\n"
    )
    line = parse_next_line(with_unit(drop_in, extra="B=3\n"))
    assert [word for word, _source in line] == ["/opt/kubelet", "--a=", "--b=x2", ""]


@pytest.mark.parametrize("drop_in", ["", RESET, f"{RESET}ExecStart=/usr/bin/k3s agent\n"])
def test_a_unit_that_starts_another_program_has_no_command_line(drop_in: str) -> None:
    section = with_unit(drop_in)
    assert [word for word, _source in parse_next_line(section)] == (["/usr/bin/kubelet"] if not drop_in else [])
    assert parse_next_line(evidence("1.30.0")) == ()


@pytest.mark.parametrize(
    ("path", "captured"),
    [
        ("/etc/kubelet/*.env", None),
        ("/etc/default/kubelet", {"kind": "directory"}),
        (UNIT, {"kind": "regular", "error": "File too large"}),
    ],
)
def test_a_unit_that_is_not_completely_known_has_no_command_line(path: str, captured: dict[str, Any] | None) -> None:
    section = with_unit(f"[Service]\nEnvironmentFile=-{path}\n" if path != UNIT else "")
    assert "/usr/bin/kubelet" in [word for word, _source in parse_next_line(with_unit(""))]
    if captured:
        section["files"][path] = captured
    assert parse_next_line(section) == ()


def test_a_value_of_the_next_start_is_a_claim() -> None:
    section = with_unit(KUBEADM_TEXT, extra="KUBELET_EXTRA_ARGS=--cgroup-driver=cgroupfs\n")
    section["configz"] = {"status": 200, "config": {"cgroupDriver": "systemd"}}
    claims = [claim for claim in interpret_kubelet(section, {})[1] if claim.setting == "cgroupDriver"]
    assert claims == [
        Claim("cgroupDriver", "cgroupfs", "kubelet's default"),
        Claim(
            "cgroupDriver",
            "cgroupfs",
            "KUBELET_EXTRA_ARGS in /etc/default/kubelet, --cgroup-driver, at the next start",
        ),
        Claim("cgroupDriver", "systemd", "kubelet's /configz"),
    ]


def test_a_kubelet_that_does_not_run_has_the_flags_of_its_next_start() -> None:
    section = {**with_unit(KUBEADM_TEXT, extra="KUBELET_EXTRA_ARGS=--cgroup-driver=systemd\n"), "processes": []}
    stopped = facts(section)
    assert driver(section).source == "KUBELET_EXTRA_ARGS in /etc/default/kubelet, --cgroup-driver"
    assert (stopped.running, stopped.command_line) == (False, ())


@pytest.mark.parametrize(
    ("response", "error"),
    [
        ({"status": 401, "error": "refused"}, "HTTP 401"),
        ({"status": None, "error": "Connection refused"}, "Connection refused"),
        ({"status": 200, "config": {}}, None),
        (None, None),
    ],
)
def test_the_error_of_configz(response: dict[str, Any] | None, error: str | None) -> None:
    assert facts({**evidence("1.30.0"), "configz": response}).configz_error == error


@pytest.mark.parametrize(
    ("line", "odd"),
    [
        ("cgroupDriver: systemd", None),
        ("cgroupDriver: systemd  ", None),
        ("cgroupDriver: cgroupfs", None),
        ("cgroupDriver: Systemd", None),
        (" cgroupDriver: 'systemd'", None),
        ("cgroupDriver:  systemd", 2),
        ("cgroupDriver: 'systemd'", 2),
        ('cgroupDriver: "cgroupfs"  # x', 2),
        ("cgroupDriver: systemd # x", 2),
    ],
)
def test_driver_lines_that_agents_do_not_read(line: str, odd: int | None) -> None:
    assert find_line_agents_miss(f"kind: x\n{line}\n", "cgroupDriver", CGROUP_DRIVER.choices) == odd


REAL = [
    # Kubernetes 1.20.2, the fixtures of this collection
    ({"policyName": "none", "defaultCpuSet": ""}, 1353318690),
    (
        {
            "policyName": "static",
            "defaultCpuSet": "0",
            "entries": {"32448b79bf3d93d9e37de5f9dd040171": {"main": "1"}},
        },
        2061421388,
    ),
    # From real nodes: OpenShift 4.10 and a GPU node of 2025
    (
        {
            "policyName": "static",
            "defaultCpuSet": "0,2-7",
            "entries": {"2b38ebd9-1cf8-483f-8aac-57cba7afaf98": {"cpumanager": "1"}},
        },
        4088866743,
    ),
    (
        {
            "policyName": "static",
            "defaultCpuSet": "0,50-127,178-255",
            "entries": {
                "d633f2d8-f174-43b3-8713-0b80d38d9259": {"node-exporter": "129"},
                "b200f08b-399a-4079-bfce-e415cb5344b8": {"gengwg-test": "2-49,130-177"},
                "d6a85864-cf3f-45a3-baee-a9b3d5c2c4bc": {"registrar": "1", "driver": "128"},
            },
        },
        1279870076,
    ),
]


@pytest.mark.parametrize(("state", "checksum"), REAL)
def test_checksums_of_real_kubelets_are_computed(state: dict[str, Any], checksum: int) -> None:
    assert cpu_checksum(state) == checksum


def test_fnv_agrees_with_the_published_values() -> None:
    assert fnv32a(b"") == 0x811C9DC5
    assert fnv32a(b"a") == 0xE40C292C
