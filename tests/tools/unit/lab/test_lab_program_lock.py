# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab import program_table
from ansible_collections.volcano.colocation.tests.lab.cli import main
from ansible_collections.volcano.colocation.tests.lab.program_lock import Upstream, parse_upstream, render
from ansible_collections.volcano.colocation.tests.lab.program_table import FAMILIES, family
from ansible_collections.volcano.colocation.tests.support.lab.fake_go import install

KUBERNETES = """\
// SPDX-FileCopyrightText: the volcano.colocation authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Written by `make lock` from tests/lab/program_table.py.
module volcano-colocation.lab/kubernetes-1.37

go 1.26.0

tool (
\tk8s.io/kubernetes/cmd/kubelet
)

require k8s.io/kubernetes v1.37.2

replace (
\tk8s.io/api => k8s.io/api v0.37.2
)
"""

GO = """\
#!/bin/sh
case "$*" in
"env GOVERSION") echo go1.26.8 ;;
"mod download -json "*) echo '{{"GoMod": "/upstream/go.mod"}}' ;;
"mod edit -json /upstream/go.mod") echo '{{"Go": "1.26.0"}}' ;;
"mod edit -json "*) echo '{other}' ;;
"mod tidy") {tidy} ;;
*) exit 64 ;;
esac
"""

OTHER = {
    "Require": [{"Path": "m.example/a", "Version": "v1"}, {"Path": "m.example/b", "Version": "v2"}],
    "Replace": [{"Old": {"Path": "m.example/b"}, "New": {"Path": "m.example/b", "Version": "v3"}}],
}
"""The go.mod of a family whose versions another one uses."""


@pytest.fixture(name="modules")
def _modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that takes the place of tests/lab/go."""
    install(tmp_path, monkeypatch)
    directory = tmp_path / "modules"
    monkeypatch.setattr(program_table, "MODULES", directory)
    return directory


def write_go(modules: Path, tidy: str) -> None:
    (modules.parent / "bin" / "go").write_text(GO.format(tidy=tidy, other=json.dumps(OTHER)))


def test_go_mod_and_go_sum_of_every_family_are_written(modules: Path) -> None:
    write_go(modules, "echo tidy >>go.mod; echo sum >go.sum")
    assert main(["programs", "--lock"]) == 0
    assert sorted(path.name for path in modules.iterdir()) == sorted(known.name for known in FAMILIES)
    for known in FAMILIES:
        shared = {"m.example/a": "v1", "m.example/b": "v3"} if known.versions_of else {}
        assert (known.directory / "go.mod").read_text() == f"{render(known, Upstream('1.26.0', {}), shared)}tidy\n"
        assert (known.directory / "go.sum").read_text() == "sum\n"
    assert not list((modules.parent / "cache" / "lock").iterdir())


def test_a_family_that_cannot_be_resolved_keeps_its_files(modules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = FAMILIES[0].directory / "go.mod"
    first.parent.mkdir(parents=True)
    first.write_text("before")
    write_go(modules, "echo 'go: x: dial tcp: i/o timeout' >&2; exit 1")
    assert main(["programs", "--lock"]) == 1
    assert first.read_text() == "before"
    assert (
        "kubernetes-1.35 (1.35.4): go mod failed: go: x: dial tcp: i/o timeout; a Go module cannot be fetched"
        in capsys.readouterr().err
    )


def test_staging_modules_have_the_release_of_kubernetes() -> None:
    upstream = Upstream("1.26.0", {"k8s.io/api": ("./staging/src/k8s.io/api", "")})
    assert render(family("kubernetes-1.37"), upstream, {}) == KUBERNETES


def test_volcanos_own_replacements_are_kept_and_its_paths_are_not() -> None:
    document = {
        "Go": "1.25.0",
        "Replace": [
            {"Old": {"Path": "k8s.io/api"}, "New": {"Path": "k8s.io/api", "Version": "v0.35.3"}},
            {"Old": {"Path": "cloud.google.com/go"}, "New": {"Path": "cloud.google.com/go", "Version": "v0.100.2"}},
            {"Old": {"Path": "volcano.sh/apis"}, "New": {"Path": "./staging/src/volcano.sh/apis"}},
        ],
    }
    text = render(family("volcano-1.15"), parse_upstream(document), {})
    replaced = [line.strip() for line in text.splitlines() if "=>" in line]
    assert replaced == [
        "github.com/prometheus/prometheus => github.com/prometheus/prometheus v0.311.2",
        "k8s.io/api => k8s.io/api v0.35.3",
        "volcano.sh/apis => volcano.sh/apis v1.14.0",
    ]


def test_a_module_without_replacements_is_rendered_without_any() -> None:
    upstream = parse_upstream({"Go": "1.26.6", "Replace": None})
    assert upstream == Upstream("1.26.6", {})
    assert "replace" not in render(family("containerd-2.4"), upstream, {})


def test_a_family_can_use_the_module_versions_of_another() -> None:
    text = render(family("kwok-0.8"), Upstream("1.26.0", {}), {"m.example/a": "v1"})
    assert "require (\n\tm.example/a v1\n)\n" in text
    assert family(family("kwok-0.8").versions_of).module == "k8s.io/kubernetes"
