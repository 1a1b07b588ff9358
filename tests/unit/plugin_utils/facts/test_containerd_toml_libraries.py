# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What releases of containerd accept differently, because their TOML libraries do.

Run with 1.7.24, Debian's 2.1.9 (2.1.9+unknown), 2.2.9 and 2.4.2; what is expected of 2.1.9 and 2.3.4 was run with the
libraries of their go.mod.
"""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    Snapshot,
    captured,
    runtime_text,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.facts.runtimes import codes, runtime
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import (
    NVIDIA,
    V2,
    V3,
    containerd,
    file,
    handler,
)

TYPE, UNTYPED, UNREADABLE = "containerd-value-type", "containerd-handler-without-type", "config-unreadable"
NRI = 'plugins."io.containerd.nri.v1.nri"'
SCHEDULER = 'plugins."io.containerd.gc.v1.scheduler"'
OLDER, NEWER = ("2.1.9", "2.2.9", "2.3.4"), ("2.1.9+unknown", "2.4.2")
EMPTY = {
    "a handler's type": f"[{V3}.containerd.runtimes.runc]\nruntime_type = {{}}\n",
    "the default": f"[{V3}.containerd]\ndefault_runtime_name = {{}}\n",
    "NRI": f"[{NRI}]\ndisable = {{}}\n",
    "a header": f"[{NRI}.disable]\n",
    "a duration": f"[{NRI}]\nplugin_request_timeout = {{}}\n",
    "a list": f"[{V3}]\ncdi_spec_dirs = {{}}\n",
    "a list of tables": f"[{V3}]\ncdi_spec_dirs = [{{}}]\n",
    "a plugin that is a list of one key": "[plugins]\n'io.containerd.cri.v1.runtime' = ['a']\n",
    "a plugin that is a list in a list": "[plugins]\n'io.containerd.cri.v1.runtime' = [['a']]\n",
}
WRONG = {
    "a table with a key": f"[{NRI}]\ndisable = {{a = 1}}\n",
    "an empty list": f"[{NRI}]\ndisable = []\n",
    "a plugin that is a list of two keys": "[plugins]\n'io.containerd.cri.v1.runtime' = ['a', 'b']\n",
    "a plugin that is an empty list": "[plugins]\n'io.containerd.cri.v1.runtime' = []\n",
    "a plugin that is a string": "[plugins]\n'io.containerd.cri.v1.runtime' = 'a'\n",
    "a list of lists": f"[{V3}]\ncdi_spec_dirs = [[]]\n",
    "the server's own field": "oom_score = {}\n",
}


@pytest.fixture(name="aligned")
def _aligned() -> Snapshot:
    return captured(ALIGNED)


@pytest.mark.parametrize("version", [*OLDER, *NEWER])
@pytest.mark.parametrize("case", EMPTY)
def test_up_to_2_3_an_empty_table_is_no_value(aligned: Snapshot, version: str, case: str) -> None:
    node = containerd(runtime_text(aligned, "version = 3\n" + EMPTY[case]), version)
    assert (TYPE in codes(node)) is (version in NEWER)
    assert runtime(node).default_handler == "runc"
    if version in OLDER:
        assert runtime(node).nri.configured is True


@pytest.mark.parametrize("version", [*OLDER, *NEWER])
@pytest.mark.parametrize("case", WRONG)
def test_all_releases_refuse_other_values(aligned: Snapshot, version: str, case: str) -> None:
    assert TYPE in codes(containerd(runtime_text(aligned, "version = 3\n" + WRONG[case]), version))


@pytest.mark.parametrize("version", OLDER)
def test_an_empty_table_does_not_replace_what_another_spelling_sets(aligned: Snapshot, version: str) -> None:
    text = f"version = 3\n[{V3}.containerd.runtimes.runc.options]\nSYSTEMDCGROUP = {{}}\nSystemdCgroup = true\n"
    assert [item.configured for item in runtime(containerd(runtime_text(aligned, text), version)).handlers] == [
        Driver.SYSTEMD
    ]


@pytest.mark.parametrize("version", OLDER)
def test_a_handler_whose_type_is_an_empty_table_has_none(aligned: Snapshot, version: str) -> None:
    text = f"version = 3\n[{V3}.containerd.runtimes.nvidia]\nruntime_type = {{}}\n"
    assert UNTYPED in codes(containerd(runtime_text(aligned, text), version))


@pytest.mark.parametrize(
    ("value", "accepting"),
    [
        ("0", ("1.7.24", *OLDER, *NEWER)),
        ("5", ("1.7.24", *NEWER)),
        ("0.0", ()),
        ("true", ()),
        ("'5'", ()),
        ("'0'", ("1.7.24", *OLDER, *NEWER)),
        ("'5s'", ("1.7.24", *OLDER, *NEWER)),
    ],
)
def test_a_number_as_a_duration_of_nri(aligned: Snapshot, value: str, accepting: tuple[str, ...]) -> None:
    text = f"version = 2\n[{NRI}]\nplugin_request_timeout = {value}\n"
    accepted = [
        version
        for version in ("1.7.24", *OLDER, *NEWER)
        if TYPE not in codes(containerd(runtime_text(aligned, text), version))
    ]
    assert accepted == [*accepting]


@pytest.mark.parametrize(
    ("value", "accepting"), [("0", ("1.7.24", *OLDER, *NEWER)), ("1", NEWER), ("0.0", ("1.7.24",)), ("false", ())]
)
def test_a_number_as_another_duration(aligned: Snapshot, value: str, accepting: tuple[str, ...]) -> None:
    text = f"version = 2\n[{SCHEDULER}]\nschedule_delay = {value}\n"
    accepted = [
        version
        for version in ("1.7.24", *OLDER, *NEWER)
        if TYPE not in codes(containerd(runtime_text(aligned, text), version))
    ]
    assert accepted == [*accepting]


RUNC = '"io.containerd.cri.v1.runtime".containerd.runtimes.runc.options'
INLINE = (
    '"io.containerd.cri.v1.runtime" = { containerd = { runtimes = { runc = { options = { SystemdCgroup = true } } } } }'
)
SPELLINGS = {
    "the last header": (f"[PLUGINS.{RUNC}]\nSystemdCgroup = false\n[plugins.{RUNC}]\nSystemdCgroup = true\n", True),
    "the last header, after another of its spelling": (
        f"[plugins.'x.y'.v1.z]\n[Plugins.{RUNC}]\nSystemdCgroup = false\n[plugins.{RUNC}]\nSystemdCgroup = true\n",
        True,
    ),
    "the last dotted key": (
        f"PLUGINS.{RUNC}.SystemdCgroup = true\nplugins.{RUNC}.SystemdCgroup = false\n",
        False,
    ),
    "headers are merged": (f"[plugins.{RUNC}]\nSystemdCgroup = true\n[PLUGINS.{RUNC}]\nBinaryName = 'x'\n", True),
    "an inline table replaces": (
        f'plugins.{INLINE}\nPLUGINS."io.containerd.cri.v1.runtime" = {{ enable_selinux = true }}\n',
        False,
    ),
    "a value that is replaced is not decoded": (
        f'plugins."io.containerd.cri.v1.runtime" = {{ enable_selinux = 3 }}\nPLUGINS.{INLINE}\n',
        True,
    ),
}


@pytest.mark.parametrize("version", [*OLDER, *NEWER])
@pytest.mark.parametrize("case", SPELLINGS)
def test_spellings_of_plugins_are_read_in_the_order_of_the_text(aligned: Snapshot, version: str, case: str) -> None:
    text, systemd = SPELLINGS[case]
    node = containerd(runtime_text(aligned, f"version = 3\n{text}"), version)
    assert codes(node) == []
    assert [item.configured for item in runtime(node).handlers] == [Driver.SYSTEMD if systemd else Driver.CGROUPFS]


@pytest.mark.parametrize(
    ("version", "systemd"), [*((known, True) for known in OLDER), *((new, False) for new in NEWER)]
)
def test_up_to_2_3_whole_tables_of_two_spellings_are_joined(aligned: Snapshot, version: str, systemd: bool) -> None:
    text = f"version = 3\nplugins = {{ {INLINE} }}\nPLUGINS = {{ x = {{ a = 1 }} }}\n"
    node = containerd(runtime_text(aligned, text), version)
    assert [item.configured for item in runtime(node).handlers] == [Driver.SYSTEMD if systemd else Driver.CGROUPFS]


@pytest.mark.parametrize("version", [*OLDER, *NEWER])
def test_up_to_2_3_a_header_through_a_value_is_refused(aligned: Snapshot, version: str) -> None:
    text = f"version = 3\n[{V3}.containerd.runtimes.runc]\noptions = true\n[PLUGINS.{RUNC}]\nSystemdCgroup = true\n"
    facts = runtime(containerd(runtime_text(aligned, text), version))
    if version in NEWER:
        assert [item.configured for item in facts.handlers] == [Driver.SYSTEMD]
    else:
        assert facts.config.problem is not None
        assert facts.config.problem.line == 4
        assert facts.config.problem.message == "options is a value and a table in two spellings of plugins"


def test_an_array_of_tables_in_two_spellings_is_not_decided(aligned: Snapshot) -> None:
    text = "version = 3\n[[plugins.x]]\na = 1\n[[PLUGINS.x]]\na = 2\n"
    problem = runtime(containerd(runtime_text(aligned, text), "2.4.2")).config.problem
    assert problem is not None
    assert (problem.line, problem.remedy) == (2, "Write plugins in lower case everywhere")


@pytest.mark.parametrize(
    "text",
    [
        "version = '3'\nVERSION = 3\n",
        "version = 3\nplugins = 3\n[PLUGINS.x]\n",
        "version = 3\nPlugins.x.a = 1\nplugins = []\n",
    ],
)
def test_every_spelling_of_a_field_is_decoded(aligned: Snapshot, text: str) -> None:
    assert TYPE in codes(containerd(runtime_text(aligned, text), "2.4.2"))


def test_a_drop_in_is_read_in_the_order_of_its_text_too(aligned: Snapshot) -> None:
    drop_in = f"version = 2\n[PLUGINS.'io.containerd.nri.v1.nri']\ndisable = false\n[{NRI}]\ndisable = true\n"
    main = f"version = 2\nimports = ['{NVIDIA}']\n" + handler(V2, "true")
    node = containerd(file(runtime_text(aligned, main), NVIDIA, drop_in), "2.2.9")
    assert runtime(node).nri.configured is False
