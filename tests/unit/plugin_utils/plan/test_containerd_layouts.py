# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every release, schema and layout of containerd's files: which file is written, and its whole text afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.containerd_changes import containerd_changes
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import parse_profile
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import refusals
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.supported_runtimes import RUNTIME_REFUSALS
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import facts_of
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.plan.containerd_nodes import (
    CONF_D,
    DRIVER,
    HEADER,
    MAIN,
    NRI,
    NVIDIA,
    OWN_DROP_IN,
    V1,
    V2,
    V3,
    Files,
    containerd,
    edited,
    edits_of,
    handler,
    plan_of,
    with_files,
)

ALL = f'imports = ["{CONF_D}*.toml"]\n'
IMPORT = f'imports = ["{OWN_DROP_IN}"]\n'
NRI_ON: Mapping[str, Any] = {"nri": {"enabled": True}}
MORE = f'[{V2}]\nsandbox_image = "registry.example/pause:1"\n[{V2}.registry]\nconfig_path = "/etc/certs"\n'
NEW_V3 = '[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc'


def own_drop_in(version: int, cri: str, name: str = "runc", *, typed: bool = False) -> str:
    """The collection's drop-in with one handler's driver."""
    table = f"{cri}.containerd.runtimes.{name}"
    kind = f'[{table}]\nruntime_type = "io.containerd.runc.v2"\n\n' if typed else ""
    return f"{HEADER}version = {version}\n\n{kind}[{table}.options]\nSystemdCgroup = true\n"


Q3 = V3.replace("'", '"')


@dataclass(frozen=True)
class Row:
    """``written``: the changed files, with their whole new text."""

    version: str | None
    files: Files
    written: Mapping[str, str]
    options: Mapping[str, Any] = field(default_factory=lambda: DRIVER)


LAYOUTS = {
    # 1.x: an imported table replaces that of the main file (config.go mergeConfig of 1.6 and 1.7), so no drop-in.
    "1.6, schema 1": Row(
        "1.6.20",
        {MAIN: handler(V1, "runc", "false") + handler(V1, "nvidia", None, 'BinaryName = "/usr/bin/nv"\n')},
        {MAIN: handler(V1, "runc", "true") + handler(V1, "nvidia", "true", 'BinaryName = "/usr/bin/nv"\n')},
    ),
    "1.6, schema 1 without a type, which the built-in one had (containerd#6964)": Row(
        "1.6.20",
        {MAIN: f"[{V1}.containerd.runtimes.runc.options]\nSystemdCgroup = false\n"},
        {
            MAIN: f"[{V1}.containerd.runtimes.runc.options]\nSystemdCgroup = true\n\n"
            f'[{V1}.containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n'
        },
    ),
    "1.6, schema 2": Row(
        "1.6.20",
        {MAIN: "version = 2\n" + MORE + handler(V2, "runc", "false")},
        {MAIN: "version = 2\n" + MORE + handler(V2, "runc", "true")},
    ),
    "1.7, schema 2, nothing declared": Row(
        "1.7.24",
        {MAIN: "version = 2\n"},
        {
            MAIN: f'version = 2\n\n[{V2}.containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n\n'
            f"[{V2}.containerd.runtimes.runc.options]\nSystemdCgroup = true\n"
        },
    ),
    "1.7, imports of other plugins": Row(
        "1.7.24",
        {MAIN: "version = 2\n" + ALL + handler(V2, "runc", "false"), CONF_D + "50.toml": f"[{NRI}]\ndisable = false\n"},
        {MAIN: "version = 2\n" + ALL + handler(V2, "runc", "true")},
    ),
    "1.7, the copy of the NVIDIA toolkit is effective, and is regenerated from the main file": Row(
        "1.7.24",
        {
            MAIN: "version = 2\n" + ALL + MORE + handler(V2, "runc", "false"),
            NVIDIA: "version = 2\n" + MORE + handler(V2, "runc", "false") + handler(V2, "nvidia", "false"),
        },
        {
            MAIN: "version = 2\n" + ALL + MORE + handler(V2, "runc", "true"),
            NVIDIA: "version = 2\n" + MORE + handler(V2, "runc", "true") + handler(V2, "nvidia", "true"),
        },
    ),
    "1.7, a missing file": Row(
        "1.7.24",
        {},
        {
            MAIN: f"{HEADER}version = 2\n\n"
            f'[{V2}.containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n\n'
            f"[{V2}.containerd.runtimes.runc.options]\nSystemdCgroup = true\n"
        },
    ),
    "1.6, an empty file": Row(
        "1.6.20",
        {MAIN: ""},
        {
            MAIN: f'version = 2\n[{V2}.containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n'
            f"[{V2}.containerd.runtimes.runc.options]\nSystemdCgroup = true\n"
        },
    ),
    "1.6, docker's file": Row(
        "1.6.20",
        {MAIN: '# by docker\ndisabled_plugins = ["cri"] # not managed\n'},
        {
            MAIN: "# by docker\ndisabled_plugins = [] # not managed\n\n"
            f'[{V1}.containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n\n'
            f"[{V1}.containerd.runtimes.runc.options]\nSystemdCgroup = true\n"
        },
    ),
    "1.7, the CRI plugin among other disabled ones": Row(
        "1.7.24",
        {
            MAIN: 'version = 2\ndisabled_plugins = ["io.containerd.snapshotter.v1.zfs", "io.containerd.grpc.v1.cri"]\n'
            + handler(V2, "runc", "true")
        },
        {MAIN: 'version = 2\ndisabled_plugins = ["io.containerd.snapshotter.v1.zfs"]\n' + handler(V2, "runc", "true")},
    ),
    "1.7, a bare name that keeps schema 2 from starting": Row(
        "1.7.24",
        {MAIN: 'version = 2\ndisabled_plugins = ["cri"]\n' + handler(V2, "runc", "true")},
        {MAIN: "version = 2\ndisabled_plugins = []\n" + handler(V2, "runc", "true")},
    ),
    "1.7, two names of the CRI plugin": Row(
        "1.7.24",
        {MAIN: 'disabled_plugins = ["cri", "io.containerd.grpc.v1.cri", "aufs"]\n' + handler(V1, "runc", "true")},
        {MAIN: 'disabled_plugins = ["aufs"]\n' + handler(V1, "runc", "true")},
    ),
    "2.1, lists of several lines keep what people wrote round their items": Row(
        "2.1.9",
        {
            MAIN: 'version = 3\ndisabled_plugins = [\n  "io.containerd.grpc.v1.cri",\n'
            '  "io.containerd.snapshotter.v1.zfs", # not yet\n]\n'
            'imports = [\n  "a*.toml", # of the site\n]\n' + handler(V3, "runc", "true")
        },
        {
            MAIN: 'version = 3\ndisabled_plugins = [\n  "io.containerd.snapshotter.v1.zfs", # not yet\n]\n'
            f'imports = [\n  "a*.toml", # of the site\n  "{OWN_DROP_IN}",\n]\n' + handler(V3, "runc", "true"),
            OWN_DROP_IN: f'{HEADER}version = 3\n\n[{NRI}]\nsocket_path = "/x"\n',
        },
        {"nri": {"enabled": True, "socket_path": "/x"}},
    ),
    # 2.0 to 2.2: the last version applies to all files, so the drop-in has the main file's.
    "2.0.6, schema 2": Row(
        "2.0.6",
        {MAIN: "version = 2\n" + MORE + handler(V2, "runc", "false")},
        {MAIN: "version = 2\n" + IMPORT + MORE + handler(V2, "runc", "false"), OWN_DROP_IN: own_drop_in(2, V2)},
    ),
    "2.0.5, schema 2, whose dump is wrong (containerd#11600)": Row(
        "2.0.5",
        {MAIN: "version = 2\n" + MORE + handler(V2, "runc", "false")},
        {MAIN: "version = 2\n" + MORE + handler(V2, "runc", "true")},
    ),
    "2.0.5, schema 3": Row(
        "2.0.5",
        {MAIN: "version = 3\n" + handler(V3, "runc", "false")},
        {MAIN: "version = 3\n" + IMPORT + handler(V3, "runc", "false"), OWN_DROP_IN: own_drop_in(3, Q3)},
    ),
    "2.1, schema 3, nothing declared": Row(
        "2.1.9",
        {MAIN: "version = 3\n"},
        {MAIN: "version = 3\n" + IMPORT, OWN_DROP_IN: own_drop_in(3, Q3, typed=True)},
    ),
    "2.1, conf.d is imported": Row(
        "2.1.9",
        {MAIN: "version = 3\n" + ALL + handler(V3, "runc", "false")},
        {OWN_DROP_IN: own_drop_in(3, Q3)},
    ),
    "2.1, other imports": Row(
        "2.1.9",
        {MAIN: 'version = 3\nimports = ["x.toml"]\n', "/etc/containerd/x.toml": handler(V3, "runc", "false")},
        {MAIN: f'version = 3\nimports = ["x.toml", "{OWN_DROP_IN}"]\n', OWN_DROP_IN: own_drop_in(3, Q3)},
    ),
    "2.1, a file without a version, which counts as schema 3": Row(
        "2.1.9",
        {MAIN: 'disabled_plugins = ["cri"]\n'},
        {MAIN: "disabled_plugins = []\n" + IMPORT, OWN_DROP_IN: own_drop_in(3, Q3, typed=True)},
    ),
    "2.1, a missing file": Row(
        "2.1.9",
        {},
        {
            MAIN: f'{HEADER}version = 3\n\n{NEW_V3}]\nruntime_type = "io.containerd.runc.v2"\n\n'
            f"{NEW_V3}.options]\nSystemdCgroup = true\n"
        },
    ),
    "2.2, the NVIDIA toolkit's drop-in is read before the own one": Row(
        "2.2.1",
        {
            MAIN: "version = 2\n" + ALL + handler(V2, "runc", "true"),
            NVIDIA: "version = 2\n" + handler(V2, "runc", "true") + handler(V2, "nvidia", "false"),
        },
        {OWN_DROP_IN: own_drop_in(2, V2, "nvidia")},
    ),
    "2.2, a missing file, for which nothing is imported": Row(
        "2.2.1",
        {},
        {
            MAIN: f'{HEADER}version = 3\n\n{NEW_V3}]\nruntime_type = "io.containerd.runc.v2"\n\n'
            f"{NEW_V3}.options]\nSystemdCgroup = true\n"
        },
    ),
    # 2.3: each file is migrated separately; 2.3.0 to 2.3.4 refuse a drop-in that is newer than the main file.
    "2.3, schema 2": Row(
        "2.3.1",
        {MAIN: "version = 2\n" + ALL + handler(V2, "runc", "false")},
        {OWN_DROP_IN: own_drop_in(2, V2)},
    ),
    "2.3, schema 4": Row(
        "2.3.1",
        {MAIN: "version = 4\n" + handler(V3, "runc", "false")},
        {MAIN: "version = 4\n" + IMPORT + handler(V3, "runc", "false"), OWN_DROP_IN: own_drop_in(4, Q3)},
    ),
    "2.3, an empty file": Row(
        "2.3.1",
        {MAIN: "# empty\n"},
        {
            MAIN: f'# empty\nversion = 4\n\n{NEW_V3}]\nruntime_type = "io.containerd.runc.v2"\n\n'
            f"{NEW_V3}.options]\nSystemdCgroup = true\n"
        },
    ),
    "2.3, an own drop-in from before the main file was migrated": Row(
        "2.3.5",
        {MAIN: "version = 4\n" + ALL, OWN_DROP_IN: f"version = 3\n[{V3}.containerd.runtimes.runc.options]\n"},
        {OWN_DROP_IN: f"version = 3\n[{V3}.containerd.runtimes.runc.options]\nSystemdCgroup = true\n"},
    ),
    # Desired settings
    "2.1, the main file is wanted": Row(
        "2.1.9",
        {MAIN: "version = 3\n" + handler(V3, "runc", "false")},
        {MAIN: "version = 3\n" + handler(V3, "runc", "true")},
        {**DRIVER, "containerd_strategy": "main-file"},
    ),
    "2.1, a drop-in is wanted and there is no main file": Row(
        "2.1.9",
        {},
        {MAIN: f"{HEADER}version = 3\n{IMPORT}", OWN_DROP_IN: own_drop_in(3, Q3, typed=True)},
        {**DRIVER, "containerd_strategy": "drop-in"},
    ),
    # NRI was added in 1.7 and was off until 2.0 (pkg/nri/config.go of both).
    "1.7, NRI in schema 1, whose plugins have bare names": Row(
        "1.7.24",
        {MAIN: 'root = "/x"\n'},
        {MAIN: 'root = "/x"\n\n[plugins.nri]\ndisable = false\n'},
        NRI_ON,
    ),
    "1.7, NRI in schema 2": Row(
        "1.7.24", {MAIN: "version = 2\n"}, {MAIN: f"version = 2\n\n[{NRI}]\ndisable = false\n"}, NRI_ON
    ),
    "1.7, NRI is written where its table is replaced": Row(
        "1.7.24",
        {MAIN: f"version = 2\n{ALL}[{NRI}]\ndisable = false\n", CONF_D + "50.toml": f"[{NRI}]\ndisable = true\n"},
        {CONF_D + "50.toml": f"[{NRI}]\ndisable = false\n"},
        NRI_ON,
    ),
    "2.1, NRI is on and its socket is another": Row(
        "2.1.9",
        {MAIN: "version = 3\n" + ALL},
        {OWN_DROP_IN: f'{HEADER}version = 3\n\n[{NRI}]\nsocket_path = "/run/x.sock"\n'},
        {"nri": {"enabled": True, "socket_path": "/run/x.sock"}},
    ),
    "2.1, NRI among the disabled plugins": Row(
        "2.1.9",
        {MAIN: 'version = 3\ndisabled_plugins = ["io.containerd.nri.v1.nri"]\n' + ALL},
        {
            MAIN: "version = 3\ndisabled_plugins = []\n" + ALL,
            OWN_DROP_IN: f"{HEADER}version = 3\n\n[{NRI}]\ndisable = false\n",
        },
        NRI_ON,
    ),
    "2.3, NRI off": Row(
        "2.3.1",
        {MAIN: "version = 4\n" + ALL},
        {OWN_DROP_IN: f"{HEADER}version = 4\n\n[{NRI}]\ndisable = true\n"},
        {"nri": {"enabled": False}},
    ),
}
IMAGES = {
    "an image with schema 3": Row(
        None,
        {MAIN: "version = 3\n" + handler(V3, "runc", "false")},
        {MAIN: "version = 3\n" + handler(V3, "runc", "true")},
    ),
    "an image without a file": Row(
        None,
        {},
        {
            MAIN: f'{HEADER}version = 2\n\n[{V2}.containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n\n'
            f"[{V2}.containerd.runtimes.runc.options]\nSystemdCgroup = true\n"
        },
    ),
}
"""The release of an image is unknown: a single file means the same to all releases that read its schema."""
ALIGNED_LAYOUTS = {
    "1.7, what counts is right, and the main file is not asked": Row(
        "1.7.24",
        {MAIN: "version = 2\n" + ALL + handler(V2, "runc", "false"), NVIDIA: handler(V2, "runc", "true")},
        {},
    ),
    "2.1, by a foreign drop-in": Row(
        "2.1.9",
        {MAIN: "version = 3\n" + ALL + handler(V3, "runc", "false"), NVIDIA: handler(V3, "runc", "true")},
        {},
    ),
    "2.0, NRI by default": Row("2.0.6", {MAIN: "version = 3\n"}, {}, NRI_ON),
    "2.1, NRI among the disabled plugins, and off wanted": Row(
        "2.1.9",
        {MAIN: 'version = 3\ndisabled_plugins = ["io.containerd.nri.v1.nri"]\n'},
        {},
        {"nri": {"enabled": False}},
    ),
    "a disabled CRI, and nothing wanted of containerd": Row(
        "1.7.24", {MAIN: 'disabled_plugins = ["cri"]\n'}, {}, {"read_only_port": 0}
    ),
}


@pytest.mark.parametrize("name", [*LAYOUTS, *ALIGNED_LAYOUTS])
def test_what_is_written_and_where(name: str) -> None:
    row = {**LAYOUTS, **ALIGNED_LAYOUTS}[name]
    result = {edit.path: edit.after for edit in edits_of(containerd(row.version, row.files), row.options)}
    assert {path: text for path, text in result.items() if "containerd" in path} == row.written


@pytest.mark.parametrize("name", IMAGES)
def test_what_is_written_to_an_image(name: str) -> None:
    row = IMAGES[name]
    node = containerd(row.version, row.files)
    facts, profile = facts_of(node), parse_profile(row.options)
    assert refusals(PlanDraft(facts, profile), RUNTIME_REFUSALS) == ()
    edits = file_edits(node, containerd_changes(facts, profile))
    assert {edit.path: edit.after for edit in edits} == row.written
    after = facts_of(with_files(node, row.written))
    assert containerd_changes(after, profile) == ()


@pytest.mark.parametrize("name", LAYOUTS)
def test_written_settings_are_effective_and_written_once(name: str) -> None:
    row = LAYOUTS[name]
    node = edited(containerd(row.version, row.files), row.options)
    runtime = facts_of(node).runtime
    if row.options.get("cgroup_driver"):
        assert {handler.configured for handler in runtime.handlers} == {Driver.SYSTEMD}
    if "nri" in row.options:
        assert runtime.nri.configured is row.options["nri"]["enabled"]
    second_plan = plan_of(node, row.options)
    assert (second_plan.refusals, [change for change in second_plan.changes if change.path]) == ((), [])
    assert [defect.code for defect in runtime.defects] == []


def test_a_disabled_cri_is_enabled_although_nothing_answers() -> None:
    node = containerd("1.7.24", {MAIN: 'disabled_plugins = ["cri"]\n'})
    node["runtime"]["cri"] = {"endpoint": node["runtime"]["cri"]["endpoint"], "error": "unknown service"}
    plan = plan_of(node, DRIVER)
    assert plan.refusals == ()
    assert str(plan.changes[0]) == "containerd disabled_plugins: ['cri'] -> []"
    assert "this list disables them" in plan.changes[0].reason


def test_a_containerd_that_does_not_answer_for_another_reason_is_refused() -> None:
    node = containerd("1.7.24", {MAIN: 'disabled_plugins = ["io.containerd.snapshotter.v1.zfs"]\n'})
    node["runtime"]["cri"] = {"endpoint": node["runtime"]["cri"]["endpoint"], "error": "refused"}
    assert [refusal.code for refusal in plan_of(node, DRIVER).refusals] == ["containerd-not-answering"]
