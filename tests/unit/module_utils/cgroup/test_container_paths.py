# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exactly the paths that kubelet_names.py generates are recognized, with all their parts."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.container_paths import (
    KubeletCgroup,
    classify,
    classify_in_tree,
    decisive_path,
    driver_of,
    pod_uid,
)
from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import (
    Driver,
    KubeletTree,
    QosClass,
    container_cgroup,
)
from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.tests.support.node.cgroup_paths import (
    CGROUPFS,
    DECISIVE,
    FOREIGN,
    ID,
    KIND,
    MISPLACED,
    SYSTEMD,
)

PREFIXES = {
    Driver.SYSTEMD: {"containerd": "cri-containerd-", "cri-o": "crio-", "docker": "docker-"},
    Driver.CGROUPFS: {"containerd": "", "cri-o": "crio-", "docker": ""},
}


@pytest.mark.parametrize("path", SYSTEMD.values(), ids=SYSTEMD)
def test_a_path_of_the_systemd_driver_is_recognized(path: str) -> None:
    assert driver_of(path) is Driver.SYSTEMD


@pytest.mark.parametrize("path", CGROUPFS.values(), ids=CGROUPFS)
def test_a_path_of_the_cgroupfs_driver_is_recognized(path: str) -> None:
    assert driver_of(path) is Driver.CGROUPFS


@pytest.mark.parametrize("path", [*MISPLACED.values(), *FOREIGN.values(), ""], ids=[*MISPLACED, *FOREIGN, "empty"])
def test_paths_that_no_driver_makes(path: str) -> None:
    assert driver_of(path) is None


@pytest.mark.parametrize(("text", "path"), DECISIVE.values(), ids=DECISIVE)
def test_the_decisive_line(text: str, path: str) -> None:
    assert decisive_path(text) == path


def test_a_path_is_divided_into_its_parts() -> None:
    cgroup = classify(f"/docker/{ID}{KIND}/cri-containerd-{ID}.scope/init.scope")
    tree = KubeletTree(Driver.SYSTEMD, "/kubelet")
    parts = ("ab", "cri-containerd-", ID, "init.scope")
    assert cgroup is not None
    assert cgroup == KubeletCgroup(tree, f"docker/{ID}", QosClass.GUARANTEED, *parts)
    assert cgroup.pods == f"docker/{ID}/kubelet.slice/kubelet-kubepods.slice"


def test_a_root_that_is_a_class_of_pods_or_a_pod() -> None:
    """The tree that explains most of the path is used, not the first one."""
    assert classify("kubepods/kubepods/burstable/pod1") == KubeletCgroup(
        KubeletTree(Driver.CGROUPFS, "/kubepods"), "", QosClass.BURSTABLE, "1"
    )
    assert classify("kubepods.slice/kubepods-kubepods.slice") == KubeletCgroup(
        KubeletTree(Driver.SYSTEMD, "/kubepods"), "", QosClass.GUARANTEED
    )


def test_of_nested_pods_the_outer_one_is_used() -> None:
    assert classify("kubepods/pod1/a/kubepods/pod2") == KubeletCgroup(
        KubeletTree(Driver.CGROUPFS), "", QosClass.GUARANTEED, "1", below="a/kubepods/pod2"
    )


@pytest.mark.parametrize(
    ("parent", "name", "uid"),
    [
        ("kubepods", "pod1-2", "1-2"),
        ("kubepods/burstable", "podman", "man"),
        ("kubepods", "pod1_2", ""),
        ("kubepods", "pod", ""),
        ("kubepods", "burstable", ""),
        ("kubepods.slice", "kubepods-pod1_2.slice", "1-2"),
        ("kubepods.slice", "kubepods-pod1-2.slice", ""),
        ("kubepods.slice", "kubepods-pod1@.slice", ""),
        ("kubepods.slice", "kubepods-pod.slice", ""),
        ("kubepods.slice", "kubepods-pod1", ""),
        ("kubepods.slice", "pod1.slice", ""),
        ("/top/a.slice/a-kubepods.slice", "a-kubepods-pod1.slice", "1"),
    ],
)
def test_the_uid_is_read_from_the_name_of_a_pods_cgroup(parent: str, name: str, uid: str) -> None:
    assert pod_uid(parent, name) == uid


HEXADECIMAL = "0123456789abcdef"
PART = st.text("abcxyz019.-", min_size=1, max_size=10).filter(lambda text: text not in (".", ".."))
ROOTS = st.lists(PART, max_size=3).map(lambda parts: "/" + "/".join(parts))
TREES = st.builds(KubeletTree, st.sampled_from(list(Driver)), ROOTS)
UIDS = st.uuids().map(str) | st.text(HEXADECIMAL, min_size=32, max_size=32)
IDS = st.text(HEXADECIMAL, min_size=64, max_size=64)
CLASSES = st.sampled_from(list(QosClass))
BELOW = st.sampled_from(["", "container", "init.scope", "system.slice/ssh.service"])


def joined(*parts: str) -> str:
    return "/".join(filter(None, parts))


@given(TREES, CLASSES, UIDS, st.sampled_from(["containerd", "cri-o", "docker"]), IDS, BELOW)
def test_every_generated_name_is_recognized(
    tree: KubeletTree, qos: QosClass, uid: str, runtime: str, identity: str, below: str
) -> None:
    pod = tree.pod(qos, uid)
    path = joined(container_cgroup(pod, runtime, identity), below)
    cgroup = KubeletCgroup(tree, "", qos, uid, PREFIXES[tree.driver][runtime], identity, below)
    assert classify("/" + path) == classify_in_tree(path, tree) == cgroup
    assert classify(pod) == classify_in_tree(pod, tree) == KubeletCgroup(tree, "", qos, uid)
    assert classify(tree.qos(qos)) == classify_in_tree(tree.qos(qos), tree) == KubeletCgroup(tree, "", qos)
    assert cgroup.pods == tree.pods()


@given(TREES, CLASSES, UIDS, IDS)
def test_a_path_above_the_root_is_recognized_with_systemd_only(
    tree: KubeletTree, qos: QosClass, uid: str, identity: str
) -> None:
    inside = container_cgroup(tree.pod(qos, uid), "containerd", identity)
    cgroup = classify(f"/docker/{ID}/{inside}")
    assert cgroup is not None
    assert (cgroup.qos, cgroup.pod_uid, cgroup.container_id) == (qos, uid, identity)
    host = f"docker/{ID}"
    root = f"/{joined(host, tree.root.strip('/'))}"
    expected = (tree, host) if tree.driver is Driver.SYSTEMD else (KubeletTree(Driver.CGROUPFS, root), "")
    assert (cgroup.tree, cgroup.above) == expected


def generated_path(cgroup: KubeletCgroup) -> str:
    """The path that kubelet_names.py generates for a recognized cgroup."""
    if not cgroup.pod_uid:
        return joined(cgroup.above, cgroup.tree.qos(cgroup.qos), cgroup.below)
    pod = cgroup.tree.pod(cgroup.qos, cgroup.pod_uid)
    runtimes = [name for name, prefix in PREFIXES[cgroup.tree.driver].items() if prefix == cgroup.prefix]
    if not cgroup.container_id:
        return joined(cgroup.above, pod, cgroup.below)
    assume(runtimes)
    return joined(cgroup.above, container_cgroup(pod, runtimes[0], cgroup.container_id), cgroup.below)


PIECES = st.sampled_from(
    [
        "kubepods",
        "kubepods.slice",
        "a-kubepods.slice",
        "a.slice",
        "burstable",
        "kubepods-burstable.slice",
        "a-kubepods-besteffort.slice",
        "pod1-2",
        "pod1_2",
        "kubepods-pod1_2.slice",
        "kubepods-burstable-pod1.slice",
        "a-kubepods-besteffort-podx.slice",
        f"cri-containerd-{ID}.scope",
        f"crio-{ID}.scope",
        f"crio-{ID}",
        f"docker-{ID}",
        ID,
        "container",
        "..",
        ".",
        "",
    ]
) | st.text("kubepods-.slice_1:", max_size=20)


@given(st.lists(PIECES, max_size=7).map("/".join))
def test_every_recognized_path_is_generated(path: str) -> None:
    cgroup = classify(path)
    if cgroup is not None:
        assert generated_path(cgroup) == path.strip("/")


@given(st.text("kubepods-.slice_1/:@\n\0 ", max_size=80), TREES)
def test_no_text_is_an_error(text: str, tree: KubeletTree) -> None:
    decisive_path(text)
    classify(text)
    classify_in_tree(text, tree)


def test_a_tree_that_kubelet_does_not_make() -> None:
    with pytest.raises(ColocationError):
        classify_in_tree("a", KubeletTree(Driver.SYSTEMD, "/a/"))
