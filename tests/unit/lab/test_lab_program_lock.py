# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from ansible_collections.volcano.colocation.tests.lab.program_lock import Upstream, parse_upstream, render
from ansible_collections.volcano.colocation.tests.lab.program_table import family

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


def test_staging_modules_have_the_release_of_kubernetes() -> None:
    upstream = Upstream("1.26.0", {"k8s.io/api": ("./staging/src/k8s.io/api", "")})
    assert render(family("kubernetes-1.37"), upstream) == KUBERNETES


def test_volcanos_own_replacements_are_kept_and_its_paths_are_not() -> None:
    document = {
        "Go": "1.25.0",
        "Replace": [
            {"Old": {"Path": "k8s.io/api"}, "New": {"Path": "k8s.io/api", "Version": "v0.35.3"}},
            {"Old": {"Path": "cloud.google.com/go"}, "New": {"Path": "cloud.google.com/go", "Version": "v0.100.2"}},
            {"Old": {"Path": "volcano.sh/apis"}, "New": {"Path": "./staging/src/volcano.sh/apis"}},
        ],
    }
    text = render(family("volcano-1.15"), parse_upstream(document))
    replaced = [line.strip() for line in text.splitlines() if "=>" in line]
    assert replaced == [
        "github.com/prometheus/prometheus => github.com/prometheus/prometheus v0.311.2",
        "k8s.io/api => k8s.io/api v0.35.3",
        "volcano.sh/apis => volcano.sh/apis v1.14.0",
    ]


def test_a_module_without_replacements() -> None:
    upstream = parse_upstream({"Go": "1.26.6", "Replace": None})
    assert upstream == Upstream("1.26.6", {})
    assert "replace" not in render(family("containerd-2.4"), upstream)
