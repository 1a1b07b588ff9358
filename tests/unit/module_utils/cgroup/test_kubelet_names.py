# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that kubelet and the runtimes give to cgroups (pkg/kubelet/cm/cgroup_manager_linux.go)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup import slice_names
from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import (
    Driver,
    KubeletTree,
    QosClass,
    cgroup_path,
    container_cgroup,
    qos_classes,
    reserved_paths,
    slice_of,
    unit_of,
)
from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError

UID = "0fb5a5b6-7f3c-4dd6-8d9b-6f2f8a0c2a11"
UNDERSCORED = "0fb5a5b6_7f3c_4dd6_8d9b_6f2f8a0c2a11"
STATIC = "f79da2e8b5aaca46b8ba23dbc07e21bd"
ID = "0123456789abcdef" * 4
SYSTEMD, CGROUPFS = Driver.SYSTEMD, Driver.CGROUPFS
GUARANTEED, BURSTABLE, BESTEFFORT = QosClass.GUARANTEED, QosClass.BURSTABLE, QosClass.BESTEFFORT


def test_drivers_and_classes_have_the_names_of_kubernetes() -> None:
    assert [member.value for member in Driver] == ["systemd", "cgroupfs"]
    assert [member.value for member in QosClass] == ["guaranteed", "burstable", "besteffort"]


@pytest.mark.parametrize(
    ("driver", "qos", "cgroup", "pod"),
    [
        (SYSTEMD, GUARANTEED, "kubepods.slice", f"kubepods.slice/kubepods-pod{UNDERSCORED}.slice"),
        (
            SYSTEMD,
            BURSTABLE,
            "kubepods.slice/kubepods-burstable.slice",
            f"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{UNDERSCORED}.slice",
        ),
        (
            SYSTEMD,
            BESTEFFORT,
            "kubepods.slice/kubepods-besteffort.slice",
            f"kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{UNDERSCORED}.slice",
        ),
        (CGROUPFS, GUARANTEED, "kubepods", f"kubepods/pod{UID}"),
        (CGROUPFS, BURSTABLE, "kubepods/burstable", f"kubepods/burstable/pod{UID}"),
        (CGROUPFS, BESTEFFORT, "kubepods/besteffort", f"kubepods/besteffort/pod{UID}"),
    ],
)
def test_classes_and_pods_are_named_as_kubelet_names_them(driver: Driver, qos: QosClass, cgroup: str, pod: str) -> None:
    tree = KubeletTree(driver)
    assert (tree.qos(qos), tree.pod(qos, UID)) == (cgroup, pod)


def test_classes_are_named_by_the_driver_of_the_tree_above_them() -> None:
    assert qos_classes("/c/kubepods") == ("/c/kubepods/burstable", "/c/kubepods/besteffort")
    stem = "/c/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods"
    assert qos_classes("/c/kubelet.slice/kubelet-kubepods.slice") == (
        f"{stem}-burstable.slice",
        f"{stem}-besteffort.slice",
    )


def test_a_static_pods_uid_is_in_its_cgroup_without_change() -> None:
    assert KubeletTree(SYSTEMD).pod(BESTEFFORT, STATIC).endswith(f"/kubepods-besteffort-pod{STATIC}.slice")
    assert KubeletTree(CGROUPFS).pod(GUARANTEED, STATIC) == f"kubepods/pod{STATIC}"


@pytest.mark.parametrize(
    ("root", "driver", "pods"),
    [
        ("", SYSTEMD, "kubepods.slice"),
        ("", CGROUPFS, "kubepods"),
        ("/a/b", SYSTEMD, "a.slice/a-b.slice/a-b-kubepods.slice"),
        ("/a/b", CGROUPFS, "a/b/kubepods"),
        ("kubelet", SYSTEMD, "kubelet.slice/kubelet-kubepods.slice"),
        ("/node-1", SYSTEMD, "node_1.slice/node_1-kubepods.slice"),
        # Only kubelet's own components have no underscores; NewCgroupName does not check its base.
        ("/node_1", SYSTEMD, "node_1.slice/node_1-kubepods.slice"),
        # ToCgroupfs is path.Join.
        ("//a//b/", CGROUPFS, "a/b/kubepods"),
        # For kubelet the name of a slice is an ordinary name.
        ("/foo.slice", SYSTEMD, "foo.slice.slice/foo.slice-kubepods.slice"),
        ("/foo.slice", CGROUPFS, "foo.slice/kubepods"),
    ],
)
def test_pods_below_a_cgroup_root_are_named_as_the_driver_does(root: str, driver: Driver, pods: str) -> None:
    assert KubeletTree(driver, root).pods() == pods


def test_classes_and_pods_below_a_root_that_looks_like_a_slice() -> None:
    assert KubeletTree(CGROUPFS, "/foo.slice").pod(BURSTABLE, UID) == f"foo.slice/kubepods/burstable/pod{UID}"
    assert KubeletTree(SYSTEMD, "/a").pod(BURSTABLE, "1") == (
        "a.slice/a-kubepods.slice/a-kubepods-burstable.slice/a-kubepods-burstable-pod1.slice"
    )


@pytest.mark.parametrize(
    ("root", "driver"),
    [
        ("/a/", SYSTEMD),
        ("/a//b", SYSTEMD),
        ("/a b", SYSTEMD),
        ("/a/../b", SYSTEMD),
        ("/..", CGROUPFS),
        ("/a/./b", CGROUPFS),
    ],
)
def test_roots_with_which_kubelet_does_not_start(root: str, driver: Driver) -> None:
    with pytest.raises(ColocationError):
        cgroup_path(root, driver)
    with pytest.raises(ColocationError):
        KubeletTree(driver, root).pods()


def test_the_top_under_another_name() -> None:
    assert (cgroup_path("//", CGROUPFS), KubeletTree(CGROUPFS, "//").pods()) == ("", "kubepods")
    # ToSystemd makes --kubepods.slice of it, and ExpandSlice refuses that.
    with pytest.raises(ColocationError, match=r"'//' has an empty part, .*\. Write /\."):
        cgroup_path("//", SYSTEMD)
    with pytest.raises(ColocationError, match=r"'/a//b/' has an empty part, .*\. Write /a/b\."):
        cgroup_path("/a//b/", SYSTEMD)


@pytest.mark.parametrize("uid", ["", "a/b", "a_b", "../x", "a\0"])
def test_texts_that_are_not_a_uid(uid: str) -> None:
    for driver in Driver:
        with pytest.raises(ColocationError, match="is not the UID of a pod"):
            KubeletTree(driver).pod(BURSTABLE, uid)


def test_a_uid_that_systemd_does_not_accept_in_a_name() -> None:
    with pytest.raises(ColocationError, match="is not the name of a slice"):
        KubeletTree(SYSTEMD).pod(BURSTABLE, "a@b")
    assert KubeletTree(CGROUPFS).pod(BURSTABLE, "a@b") == "kubepods/burstable/poda@b"


POD = f"kubepods.slice/kubepods-pod{STATIC}.slice"


@pytest.mark.parametrize(
    ("runtime", "in_a_slice", "in_a_directory"),
    [
        ("containerd", f"cri-containerd-{ID}.scope", ID),
        ("cri-o", f"crio-{ID}.scope", f"crio-{ID}"),
        ("docker", f"docker-{ID}.scope", ID),
    ],
)
def test_containers_are_named_as_the_runtime_names_them(runtime: str, in_a_slice: str, in_a_directory: str) -> None:
    assert container_cgroup(POD, runtime, ID) == f"{POD}/{in_a_slice}"
    assert container_cgroup(f"kubepods/pod{STATIC}", runtime, ID) == f"kubepods/pod{STATIC}/{in_a_directory}"


def test_texts_that_are_not_a_container() -> None:
    with pytest.raises(ColocationError, match=r"'podman' is not known\. Use one of containerd, cri-o, docker\."):
        container_cgroup(POD, "podman", ID)
    for identity in ("", "..", "a/b"):
        with pytest.raises(ColocationError, match="is not the id of a container"):
            container_cgroup("kubepods/pod1", "containerd", identity)


@pytest.mark.parametrize(
    ("cgroup", "unit"),
    [
        ("", "-.slice"),
        ("/", "-.slice"),
        ("init.scope", "init.scope"),
        ("kubepods.slice", "kubepods.slice"),
        ("/kubepods.slice/kubepods-burstable.slice", "kubepods-burstable.slice"),
        (f"{POD}/cri-containerd-{ID}.scope", f"cri-containerd-{ID}.scope"),
        ("system.slice/containerd.service", "containerd.service"),
        ("system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service"),
        ("_cpu.slice", "cpu.slice"),
        ("_cpu.slice/__x.service", "_x.service"),
        # Driver cgroupfs.
        ("kubepods", None),
        (f"kubepods/burstable/pod{UID}/{ID}", None),
        ("foo.slice/kubepods", None),
        # Sub-cgroups of units.
        (f"{POD}/crio-{ID}.scope/container", None),
        ("user.slice/user-0.slice/user@0.service/init.scope", None),
        # Not made by the node's systemd: a slice in a wrong path, another driver, a systemd in a container.
        ("kubepods/foo.slice", None),
        ("kubepods-burstable.slice", None),
        ("cpu.slice", None),
        (f"system.slice/kubepods-pod1.slice:cri-containerd:{ID}", None),
        (f"{POD}/cri-containerd-{ID}.scope/system.slice", None),
        (f"{POD}/cri-containerd-{ID}.scope/system.slice/ssh.service", None),
        ("docker/x.scope", None),
    ],
)
def test_the_unit_of_a_cgroup_is_its_last_slice_or_scope(cgroup: str, unit: str | None) -> None:
    assert unit_of(cgroup) == unit


COMPONENT = st.from_regex(r"[a-z0-9:.-]{1,10}", fullmatch=True).filter(lambda text: text not in (".", ".."))


@given(st.lists(COMPONENT, max_size=4), st.sampled_from(list(QosClass)), st.uuids().map(str))
def test_levels_are_nested_and_are_units_of_systemd(parts: list[str], qos: QosClass, uid: str) -> None:
    tree = KubeletTree(SYSTEMD, "/" + "/".join(parts))
    pod = tree.pod(qos, uid)
    assert pod.startswith(tree.qos(qos) + "/")
    assert f"{tree.qos(qos)}/".startswith(tree.pods() + "/")
    assert pod.count("/") == len(parts) + (1 if qos is QosClass.GUARANTEED else 2)
    assert not {"", ".", ".."} & set(pod.split("/"))
    # Back to kubelet's components: pkg/kubelet/cm/cgroup_manager_linux.go ParseSystemdToCgroupName.
    components = [part.replace("_", "-") for part in pod.split("/")[-1][: -len(".slice")].split("-")]
    classes = [] if qos is QosClass.GUARANTEED else [qos.value]
    assert components == [*parts, "kubepods", *classes, f"pod{uid}"]
    # systemd has other paths than kubelet for some slices, such as those below cpu.slice.
    name = pod.rpartition("/")[2]
    assert (unit_of(pod) == name) == (slice_names.path(name) == pod)


@given(st.text(max_size=30), st.sampled_from(list(Driver)))
def test_no_root_leads_out_of_the_hierarchy(root: str, driver: Driver) -> None:
    try:
        path = cgroup_path(root, driver)
    except ColocationError:
        return
    assert not path.startswith("/")
    assert not {".", ".."} & set(path.split("/"))


@given(st.lists(st.from_regex(r"[a-z0-9_.:]{1,8}", fullmatch=True), min_size=1, max_size=4))
def test_the_unit_of_a_slices_cgroup_is_the_slice(levels: list[str]) -> None:
    name = "-".join(levels) + ".slice"
    assert unit_of(slice_names.path(name)) == name


RESERVED_PATHS = {
    "/system.slice": ["system.slice"],
    "/system": ["system", "system.slice"],
    "/kube/reserved": ["kube/reserved", "reserved.slice"],
    "/runtime-kube.slice": ["runtime-kube.slice", "runtime.slice/runtime-kube.slice"],
    "/../etc": ["etc.slice"],
    "/a--b": ["a--b"],
    "/": [],
}


@pytest.mark.parametrize("name", RESERVED_PATHS)
def test_paths_that_a_reserved_cgroup_may_mean(name: str) -> None:
    assert sorted(set(reserved_paths(name))) == sorted(RESERVED_PATHS[name])


@pytest.mark.parametrize(
    ("named", "kind", "expected"),
    [
        ("/system.slice", SYSTEMD, "system.slice"),
        ("/runtime", SYSTEMD, "runtime.slice"),
        ("/kube/runtime.slice", SYSTEMD, "runtime.slice"),
        ("/a-b", SYSTEMD, "a-b.slice"),
        ("/a--b", SYSTEMD, ""),
        ("/system.slice", CGROUPFS, "system.slice"),
        ("/a.slice/a-b.slice", CGROUPFS, "a-b.slice"),
        ("/runtime", CGROUPFS, ""),
        ("/a-b.slice", CGROUPFS, ""),
    ],
)
def test_the_slice_that_a_reserved_cgroup_means_under_a_driver(named: str, kind: Driver, expected: str) -> None:
    assert slice_of(named, kind) == expected
