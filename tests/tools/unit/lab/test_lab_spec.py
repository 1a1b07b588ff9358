# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.tests.lab.errors import SpecError
from ansible_collections.volcano.colocation.tests.lab.spec import (
    CgroupMode,
    CpuManager,
    Driver,
    Layout,
    NodeSpec,
    Nri,
    Suite,
    default_nri,
    from_dict,
    validate,
)

NODE = NodeSpec("node", Suite.TRIXIE, CgroupMode.V2, Driver.SYSTEMD, Driver.CGROUPFS)

specs = st.builds(
    NodeSpec,
    name=st.from_regex(r"[a-z]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True),
    suite=st.just(Suite.TRIXIE),
    cgroup=st.sampled_from(CgroupMode),
    kubelet_driver=st.sampled_from(Driver),
    runtime_driver=st.sampled_from(Driver),
    nri=st.sampled_from(Nri),
    cpu_manager=st.sampled_from(CpuManager),
    cpus=st.sampled_from([2, 4]),
    memory=st.sampled_from([1024, 2048]),
    numa=st.sampled_from([1, 2]),
    kernel_args=st.lists(st.sampled_from(["psi=1", "quiet"])).map(tuple),
    layout=st.sampled_from(Layout),
    kubelet_flags=st.lists(st.sampled_from(["--v=2", "--cgroup-driver=cgroupfs"])).map(tuple),
)


@given(specs)
def test_a_specification_survives_json(spec: NodeSpec) -> None:
    assert from_dict(json.loads(json.dumps(spec.as_dict()))) == spec


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": "../evil"}, "host name"),
        ({"name": "Upper"}, "host name"),
        ({"name": "a" * 41}, "host name"),
        ({"name": ""}, "host name"),
        ({"suite": Suite.BOOKWORM, "nri": Nri.ON}, "no NRI"),
        ({"cpus": 0}, "cpus"),
        ({"cpus": 1, "cpu_manager": CpuManager.STATIC}, "2 CPUs"),
        ({"memory": 512}, "memory"),
        ({"cpus": 3, "numa": 2}, "numa"),
        ({"numa": 0}, "numa"),
        ({"kernel_args": ("two words",)}, "one word"),
        ({"kubelet_flags": ("--v=2 --v=3",)}, "one word"),
        ({"kubelet_flags": ("v=2",)}, "one word"),
        ({"kubelet_flags": ('--v="2"',)}, "one word"),
        ({"kubelet_flags": ("--v=2",), "root": "/srv"}, "another layout"),
        ({"suite": Suite.FORKY, "kubelet": "none", "cgroup": CgroupMode.V1}, "no cgroup v1"),
        ({"suite": Suite.FORKY, "kubelet": "debian"}, "no CRI v1alpha2"),
        ({"kubelet": "debian", "containerd": "2.4"}, "no CRI v1alpha2"),
        ({"kubelet": "1.20.5"}, r"the lab has no kubernetes 1\.20\.5; it has 1\.34, 1\.35"),
        ({"containerd": "3.0"}, r"the lab has no containerd 3\.0; it has 1\.7"),
    ],
)
def test_what_cannot_be_built_is_refused(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(SpecError, match=problem):
        validate(dataclasses.replace(NODE, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes",
    [
        {"kubelet_flags": ("--v=2", "--cgroup-driver=cgroupfs")},
        {"kubelet_flags": ("--v=2",), "root": "/srv", "layout": Layout.KUBEADM},
        {"suite": Suite.FORKY},
        {"suite": Suite.FORKY, "kubelet": "none"},
        {"suite": Suite.FORKY, "containerd": "1.7", "kubelet": "debian"},
        {"suite": Suite.BOOKWORM, "containerd": "2.4", "nri": Nri.ON},
        {"kubelet": "1.37.2", "containerd": "/opt/containerd"},
        {"suite": Suite.FORKY, "kubelet": "/opt/kubelet-1.35"},
    ],
)
def test_what_can_be_built_is_not_refused(changes: dict[str, object]) -> None:
    spec = dataclasses.replace(NODE, **changes)  # type: ignore[arg-type]
    assert validate(spec) is spec


@pytest.mark.parametrize(
    ("suite", "containerd", "nri"),
    [
        (Suite.BOOKWORM, "", Nri.OFF),
        (Suite.TRIXIE, "", Nri.OFF),
        (Suite.FORKY, "", Nri.ON),
        (Suite.FORKY, "1.7", Nri.OFF),
        (Suite.TRIXIE, "2.4", Nri.ON),
        (Suite.TRIXIE, "/opt/containerd", Nri.OFF),
    ],
)
def test_nri_is_on_by_default_in_containerd_2(suite: Suite, containerd: str, nri: Nri) -> None:
    assert default_nri(suite, containerd) is nri


def test_all_problems_are_named() -> None:
    with pytest.raises(SpecError, match=r"host name.*cpus must.*memory must"):
        validate(dataclasses.replace(NODE, name="?", cpus=0, memory=1))


def test_unknown_values_and_keys_are_refused() -> None:
    with pytest.raises(SpecError, match="not a node"):
        from_dict({**NODE.as_dict(), "suite": "sarge"})
    with pytest.raises(SpecError, match="not a node"):
        from_dict({**NODE.as_dict(), "colour": "green"})


@pytest.mark.parametrize(
    ("suite", "cgroup", "kernel"),
    [
        (Suite.BOOKWORM, CgroupMode.V1, Suite.BOOKWORM),
        (Suite.BOOKWORM, CgroupMode.V2, Suite.BOOKWORM),
        (Suite.TRIXIE, CgroupMode.V1, Suite.BOOKWORM),
        (Suite.TRIXIE, CgroupMode.V2, Suite.TRIXIE),
        (Suite.FORKY, CgroupMode.V2, Suite.TRIXIE),
    ],
)
def test_a_node_boots_the_kernel_that_has_its_controllers_and_boots_reliably(
    suite: Suite, cgroup: CgroupMode, kernel: Suite
) -> None:
    assert dataclasses.replace(NODE, suite=suite, cgroup=cgroup).kernel_suite is kernel
