# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's unit, environment files and drop-in directory, as kubeadm creates them."""

from __future__ import annotations

from ansible_collections.volcano.colocation.tests.unit.malformed.case import Case, Text

UNIT = "usr/lib/systemd/system/kubelet.service"
DROP_IN = f"{UNIT}.d/10-kubeadm.conf"
FLAGS = "var/lib/kubelet/kubeadm-flags.env"
CONFIG = "--config=/var/lib/kubelet/config.yaml"
START = f"""[Service]
Environment="KUBELET_CONFIG_ARGS={CONFIG}"
EnvironmentFile=-/{FLAGS}
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS
"""
STARTED: dict[str, Text] = {UNIT: "[Service]\nExecStart=/usr/bin/kubelet\n", DROP_IN: START}
DRIVER = {"cgroup_driver": "systemd"}
BY_HAND = "Remove the flag from this file by hand"


def _variables(message: str, text: str | bytes) -> Case:
    """An environment file with a flag that overrides the driver of the file."""
    return Case(
        "kubelet_config", DRIVER, (f"Nothing was changed. /{FLAGS}:1: {message}", BY_HAND), {**STARTED, FLAGS: text}
    )


def _unit(says: tuple[str, ...], old: str, new: str, files: dict[str, Text] | None = None) -> Case:
    return Case("kubelet_config", DRIVER, says, {**STARTED, DROP_IN: START.replace(old, new), **(files or {})})


def _dropin(says: tuple[str, ...], text: str | bytes, name: str = "10.conf") -> Case:
    return _unit(says, CONFIG, f"{CONFIG} --config-dir=/etc/kubelet.d", {f"etc/kubelet.d/{name}": text})


def _reserved(message: str, flag: str) -> Case:
    says = ("/var/lib/kubelet/config.yaml: kubelet cannot parse a reservation", message, f"/{FLAGS}, --system-reserved")
    return Case("kubelet_config", DRIVER, says, {**STARTED, FLAGS: f'KUBELET_KUBEADM_ARGS="{flag}"\n'})


CASES = {
    "quote never closed": _variables("its quotes are not paired", 'KUBELET_KUBEADM_ARGS="--cgroup-driver=cgroupfs\n'),
    "single quote never closed": _variables(
        "its quotes are not paired", "KUBELET_KUBEADM_ARGS='--cgroup-driver=cgroupfs\n"
    ),
    "inner quote never closed": _variables(
        "its quotes are not paired", 'KUBELET_KUBEADM_ARGS="--cgroup-driver=cgroupfs --x=\'y"\n'
    ),
    "goes on at the end": _variables(
        "the last line is continued, but no line follows", 'KUBELET_KUBEADM_ARGS="--cgroup-driver=cgroupfs" \\'
    ),
    "comment among continued lines": _variables(
        "a comment is among continued lines", "KUBELET_KUBEADM_ARGS=--cgroup-driver=cgroupfs \\\n# x\n --a=b\n"
    ),
    "flag without a value": _variables("--cgroup-driver has no value here", 'KUBELET_KUBEADM_ARGS="--cgroup-driver"\n'),
    "NUL byte": _variables("it contains a NUL byte", 'KUBELET_KUBEADM_ARGS="--cgroup-driver=cgroupfs\0"\n'),
    "reservation without an amount": _reserved("systemReserved.cpu: ''", "--system-reserved=cpu"),
    "reservation of a word": _reserved("systemReserved.cpu: 'lots'", "--system-reserved=cpu=lots"),
    "flag in the unit": _unit(
        (f"/{DROP_IN}: kubelet is started with --cgroup-driver=cgroupfs", "Remove the flag from this unit file"),
        "kubelet $KUBELET_CONFIG_ARGS",
        "kubelet --cgroup-driver=cgroupfs $KUBELET_CONFIG_ARGS",
    ),
    "unit goes on at the end": _unit(
        (f"/{DROP_IN}: kubelet is started with --cgroup-driver=cgroupfs", "Remove the flag from this unit file"),
        "$KUBELET_KUBEADM_ARGS\n",
        "--cgroup-driver=cgroupfs \\",
    ),
    "relative configuration": _unit(
        ("var/lib/kubelet/config.yaml: is not an absolute path", "Use the plain absolute path"),
        "--config=/var",
        "--config=var",
    ),
    "configuration through ..": _unit(
        ("/var/lib/kubelet/../kubelet/config.yaml: is not an absolute path", "Use the plain absolute path"),
        "/var/lib/kubelet/config.yaml",
        "/var/lib/kubelet/../kubelet/config.yaml",
    ),
    "configuration that is not there": _unit(
        ("/etc/none.yaml: kubelet runs without this file", "Start kubelet with --config"),
        "/var/lib/kubelet/config.yaml",
        "/etc/none.yaml",
    ),
    "drop-in of no YAML": _dropin(
        ("/etc/kubelet.d/10.conf:2: a closing bracket", "Correct or quote the value"), "a: [\n"
    ),
    "drop-in of bytes": _dropin(("/etc/kubelet.d/10.conf:1: a character that YAML",), bytes(range(256))),
    "drop-in without a kind": _dropin(
        ("/etc/kubelet.d/10.conf:1: apiVersion is not", "Begin the file with the lines apiVersion"),
        "cgroupDriver: cgroupfs\n",
    ),
    "drop-in that outranks": _dropin(
        ("/etc/kubelet.d/99.conf: sets cgroupDriver too", "Remove cgroupDriver from it"),
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncgroupDriver: cgroupfs\n",
        "99.conf",
    ),
    "drop-in with a wrong type": _dropin(
        ("/etc/kubelet.d/10.conf:3: kubelet does not start with this file: podPidsLimit is not a whole number",),
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\npodPidsLimit: many\n",
    ),
}
