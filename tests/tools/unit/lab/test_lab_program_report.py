# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import re
import shutil

import pytest

from ansible_collections.volcano.colocation.tests.lab import program_report
from ansible_collections.volcano.colocation.tests.lab.cli import UNAVAILABLE, main
from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.support.lab.fake_go import FakeGo


def labels(*names: str) -> list[str]:
    return [target.label for target in program_report.select(names)]


def test_programs_that_stages_wait_for_are_built_first() -> None:
    assert labels("test") == [
        "kubernetes-1.35/kubelet",
        "kubernetes-1.35/control-plane",
        "kubernetes-1.35/judge",
        "etcd-3.6/etcd",
        "containerd-2.4/containerd",
        "kubernetes-1.37/kubelet",
        "kubernetes-1.37/judge",
        "volcano-1.15/agent",
        "volcano-1.14/scheduling",
        "volcano-1.14/agent",
        "kwok-0.8/kwok",
    ]
    assert {"kubernetes-1.34/kubelet", "debian/kubelet"} <= set(labels("matrix"))
    assert not set(labels("matrix")) & set(labels("test"))


def test_programs_are_named_in_several_ways() -> None:
    assert labels("etcd-3.6") == ["etcd-3.6/etcd"]
    assert labels("kubernetes-1.35/kubeadm", "etcd-3.6/etcd") == ["kubernetes-1.35/control-plane", "etcd-3.6/etcd"]
    with pytest.raises(LabError, match="unknown program 'kubelet'"):
        labels("kubelet")


def test_the_list_shows_what_is_built_and_how_long_it_took(go: FakeGo, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["programs", "--build", "etcd-3.6"]) == 0
    assert len(go.builds) == 1
    capsys.readouterr()
    assert main(["programs", "--json"]) == 0
    rows = {(row["family"], row["group"]): row for row in json.loads(capsys.readouterr().out)}
    etcd, kubelet = rows["etcd-3.6", "etcd"], rows["kubernetes-1.35", "kubelet"]
    assert etcd["bytes"] > 0
    assert etcd["seconds"] is not None
    assert (kubelet["folder"], kubelet["seconds"], kubelet["bytes"]) == (None, None, None)
    assert main(["programs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(re.match(r"etcd-3\.6 +3\.6\.\d+ +test +\d+ s +0 MB +etcd$", line) for line in lines)
    assert any(line.startswith("kubernetes-1.37") and "not built" in line for line in lines)
    assert any(line == f"Go 1.26.8: {go.directory / 'go'}" for line in lines)


def test_a_build_that_fails_does_not_keep_the_next_one(go: FakeGo, capsys: pytest.CaptureFixture[str]) -> None:
    go.write(failure='case "$*" in *containerd*) echo "undefined: x" >&2; exit 1;; esac')
    assert main(["programs", "--build", "containerd-2.4", "etcd-3.5"]) == 1
    error = capsys.readouterr().err
    assert re.search(r"failed: containerd-2\.4 \(2\.4\.\d+\) containerd: go build failed: undefined: x\.", error)
    assert error.endswith("lab: 1 of 2 builds failed: containerd-2.4/containerd; the reasons are above\n")
    assert len(go.builds) == 2
    go.write()
    assert main(["programs", "--build", "containerd-2.4", "etcd-3.5"]) == 0
    assert len(go.builds) == 3


def test_debians_kubelet_names_its_compiler(
    go: FakeGo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, path="": None if "go-1.19" in path else which(name, path=path))
    assert main(["programs", "--build", "debian", "etcd-3.5"]) == UNAVAILABLE
    assert capsys.readouterr().err.endswith(
        "lab: 1 of 2 builds cannot run here: debian/kubelet; Debian's kubelet 1.20: "
        "go is not installed in /usr/lib/go-1.19/bin: apt-get install golang-1.19-go\n"
    )
    go.write(failure="exit 1")
    assert main(["programs", "--build", "debian", "etcd-3.6"]) == 1
