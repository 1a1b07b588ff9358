# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of configuration files of kubelet, its unit, containerd and CRI-O, complete and damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

FIXTURES = Path(__file__).parents[1] / "unit" / "fixtures" / "config_files"
KUBELETS = tuple(path.read_bytes() for path in sorted(FIXTURES.glob("kubelet-*")))
CONTAINERDS = tuple(path.read_bytes() for path in sorted(FIXTURES.glob("containerd-*")))
CRIO = (FIXTURES / "crio-default.toml").read_bytes()

HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
DRIVERS = (
    "",
    "cgroupDriver: systemd\n",
    "cgroupDriver: cgroupfs\n",
    'cgroupDriver: "cgroupfs" # by hand\n',
    "'cgroupDriver': cgroupfs\n",
    "cgroupDriver: &driver cgroupfs\n",
    "cgroupDriver: null\n",
    "cgroupDriver: 5\n",
)
POLICIES = ("", "cpuManagerPolicy: none\n", "cpuManagerPolicy: static\n", "cpuManagerPolicy: Static\n")
RESERVED = (
    "",
    "systemReserved:\n  cpu: 500m\n  memory: 1Gi\n",
    "systemReserved: {cpu: 500m, memory: 1Gi}\n",
    'kubeReserved:\n    "cpu": 1\n',
    'reservedSystemCPUs: "0-1"\n',
    "systemReserved:\n# nothing yet\n",
)
OTHER_FIELDS = (
    "",
    "failSwapOn: false\n",
    'failSwapOn: "false"\n',
    "featureGates:\n  MemoryQoS: true\n",
    "evictionHard:\n  memory.available: 5%\n",
    "clusterDNS:\n- 10.96.0.10\n",
    "x: &all {a: 1}\ny: *all\n",
    "podPidsLimit: 4096\n",
    "---\n",
)


def kubelet(random: Random) -> bytes:
    """A configuration file of kubelet, captured or generated."""
    if random.random() < 0.3:
        return random.choice(KUBELETS)
    parts = [random.choice(DRIVERS), random.choice(POLICIES), random.choice(RESERVED), random.choice(OTHER_FIELDS)]
    random.shuffle(parts)
    head = HEAD if random.random() < 0.9 else random.choice(("", "kind: Config\n", "# empty\n"))
    return (head + "".join(parts)).encode()


def kubelet_json(random: Random) -> bytes:
    """A configuration file of kubelet in JSON, which kubelet recognizes by the brace at its beginning."""
    values: dict[str, object] = {"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1"}
    values.update(random.choice(({}, {"cgroupDriver": "cgroupfs"}, {"cgroupDriver": "systemd", "systemReserved": {}})))
    return json.dumps(values, indent=random.choice((None, 1, 2))).encode()


HANDLER = '[plugins."{cri}".containerd.runtimes.runc]\n  runtime_type = "io.containerd.runc.v2"\n'
OPTIONS = '  [plugins."{cri}".containerd.runtimes.runc.options]\n    SystemdCgroup = {driver}\n'
INLINE = (
    '[plugins."{cri}".containerd]\nruntimes.runc = {{runtime_type = "io.containerd.runc.v2",'
    " options = {{SystemdCgroup = {driver}}}}}\n"
)
PLUGINS = {
    1: "cri",
    2: "io.containerd.grpc.v1.cri",
    3: "io.containerd.cri.v1.runtime",
    4: "io.containerd.cri.v1.runtime",
}
IMPORTS = (
    "",
    'imports = ["/etc/containerd/conf.d/*.toml"]\n',
    'imports = ["conf.d/*.toml"]\n',
    'imports = ["/etc/containerd/none.toml"]\n',
    'imports = ["../containerd/config.toml", "conf.d/10.toml"]\n',
    'imports = "conf.d"\n',
)
SWITCHED = ("", 'disabled_plugins = ["cri"]\n', 'disabled_plugins = [\n  "io.containerd.grpc.v1.cri", # docker\n]\n')


def containerd(random: Random) -> bytes:
    """A configuration file of containerd, captured or generated with one of the schemas."""
    if random.random() < 0.35:
        return random.choice(CONTAINERDS)
    schema = random.choice((1, 2, 2, 3, 4, 9))
    version = random.choice((f"version = {schema}\n", f"version = {schema}\n", "", 'version = "2"\n'))
    cri = PLUGINS.get(schema, "cri")
    driver = random.choice(("true", "false", "false", '"true"'))
    table = random.choice(("", HANDLER, HANDLER + OPTIONS, INLINE)).format(cri=cri, driver=driver)
    nri = random.choice(("", '[plugins."io.containerd.nri.v1.nri"]\n  disable = true\n'))
    return (version + random.choice(IMPORTS) + random.choice(SWITCHED) + table + nri).encode()


def crio(random: Random) -> bytes:
    """A configuration file of CRI-O."""
    return random.choice(
        (
            CRIO,
            b"",
            b'[crio.runtime]\ncgroup_manager = "cgroupfs"\nconmon_cgroup = "pod"\n',
            b'[crio.runtime]\ncgroup_manager = "systemd"\n[crio.nri]\nenable_nri = false\n',
            b"[crio.runtime]\ncgroup_manager = 5\n",
        )
    )


UNIT = "[Unit]\nDescription=kubelet\n[Service]\nExecStart=/usr/bin/kubelet\nRestart=always\n"
KUBEADM = """[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config={config}{more}"
EnvironmentFile=-{flags}
EnvironmentFile=-{defaults}
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
"""
PLAIN = "[Service]\nExecStart=/usr/bin/kubelet \\\n  --config={config}{more} \\\n  --v=2\n"
FLAGS = (
    "",
    'KUBELET_KUBEADM_ARGS="--node-ip=10.0.0.7"\n',
    'KUBELET_KUBEADM_ARGS="--cgroup-driver=cgroupfs --node-ip=10.0.0.7"\n',
    "KUBELET_KUBEADM_ARGS='--cgroup-driver cgroupfs'\n",
    'KUBELET_KUBEADM_ARGS="--cgroup-driver=cgroupfs\n',
    "# nothing\nKUBELET_KUBEADM_ARGS=--cpu-manager-policy=none \\\n  --v=2\n",
)
CHECKPOINTS = (
    b'{"policyName":"none","defaultCpuSet":"","checksum":1353318690}',
    b'{"policyName":"static","defaultCpuSet":"0-3","checksum":1}',
    b"",
    b"{",
    bytes(range(256)),
)

Damage = Callable[[Random, bytes], bytes]
DAMAGES: tuple[Damage, ...] = (
    lambda _random, _data: b"",
    lambda _random, data: data.replace(b"\n", b"\r\n"),
    lambda _random, data: b"\xef\xbb\xbf" + data,
    lambda _random, data: data.rstrip(b"\n"),
    lambda random, data: data[: random.randrange(len(data) + 1)],
    lambda _random, data: data + b"\n# caf\xe9\n",
    lambda _random, data: data + b"\0",
    lambda random, _data: bytes(random.randrange(256) for _index in range(64)),
    lambda _random, data: data.replace(b"\n", b"\n\n"),
    lambda _random, data: data + data,
    lambda _random, data: b"\n\n  \n" + data,
    lambda _random, data: data.replace(b"  ", b"\t"),
    lambda _random, data: data.replace(b"\n", b"\r"),
    lambda _random, data: b"# " + b"x" * (1 << 20) + b"\n" + data,
)
