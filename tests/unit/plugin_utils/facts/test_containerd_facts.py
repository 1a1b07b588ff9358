# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd's files in all schemas: handlers and their sources, its own dump, NRI, and errors at its start."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    RUNTIME_FILE,
    Snapshot,
    captured,
    facts_of,
    put,
    runtime_text,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.facts.runtimes import codes, driver, runtime
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import (
    NVIDIA,
    V2,
    V3,
    containerd,
    file,
    handler,
    imports,
    unknown_release,
)

SYSTEMD, CGROUPFS = Driver.SYSTEMD, Driver.CGROUPFS
NRI = 'plugins."io.containerd.nri.v1.nri"'
ON = "disable = false\n"


@pytest.fixture
def aligned() -> Snapshot:
    return captured(ALIGNED)


def dumped(snapshot: Snapshot, text: str) -> Snapshot:
    return put(snapshot, {"text": text, "seconds": 0.1}, "runtime", "dump")


def test_a_handler_has_its_program_and_its_source_file(aligned: Snapshot) -> None:
    drop_in = "version = 3\n" + handler(V3, "true", "nvidia") + "BinaryName = '/usr/bin/nvidia-container-runtime'\n"
    main = 'version = 3\nimports = ["conf.d/*"]\n' + handler(V3, "true")
    node = file(runtime_text(containerd(aligned, "2.1.0"), main), NVIDIA, drop_in)
    assert [(handler.name, handler.source, handler.binary) for handler in runtime(node).handlers] == [
        ("nvidia", NVIDIA, "/usr/bin/nvidia-container-runtime"),
        ("runc", RUNTIME_FILE, None),
    ]


def test_containerds_own_dump_takes_precedence_over_our_merge(aligned: Snapshot) -> None:
    node = dumped(imports(aligned, ""), "version = 2\n" + handler(V2, "false"))
    (runc,) = runtime(node).handlers
    assert (runc.configured, runc.source) == (CGROUPFS, "containerd config dump")


@pytest.mark.parametrize(
    ("version", "text", "names", "undeclared"),
    [
        ("1.7.35", "version = 2\n", ["runc"], False),
        ("1.7.35", f"version = 2\n[{V2}.containerd]\nsnapshotter = 'x'\n", ["runc"], False),
        ("1.7.35", f"version = 2\n[{V2}.containerd.runtimes]\n", [], True),
        ("1.7.35", "version = 2\n" + handler(V2, "true", "nvidia"), ["nvidia"], True),
        (
            "1.7.35",
            f"version = 2\n[{V2}.containerd]\ndefault_runtime_name = 'nvidia'\n" + handler(V2, "true", "nvidia"),
            ["nvidia"],
            False,
        ),
        (
            "1.7.35",
            f"version = 2\n[{V2}.containerd]\ndefault_runtime_name = 'runc'\n" + handler(V2, "true", "nvidia"),
            ["nvidia"],
            True,
        ),
        ("1.6.20", handler("plugins.cri", "true", "nvidia"), ["nvidia"], True),
        (
            "1.6.20",
            f"version = 2\n[{V2}.containerd.default_runtime]\nruntime_type = 'x'\n" + handler(V2, "true", "nvidia"),
            ["nvidia"],
            False,
        ),
        ("1.7.35", f"version = 2\n[{V2}.containerd]\ndefault_runtime_name = ''\n", ["runc"], True),
        ("2.4.2", f"version = 3\n[{V3}.containerd]\ndefault_runtime_name = ''\n", ["runc"], True),
        ("2.0.0", "version = 2\n" + handler(V2, "true", "nvidia"), ["nvidia", "runc"], False),
        ("2.4.2", f"version = 3\n[{V3}.containerd.runtimes]\n", ["runc"], False),
    ],
)
def test_runc_is_built_in_until_runtimes_are_declared_to_1_7(
    aligned: Snapshot, version: str, text: str, names: list[str], undeclared: bool
) -> None:
    node = runtime_text(containerd(aligned, version), text)
    assert [handler.name for handler in runtime(node).handlers] == names
    assert ("containerd-default-runtime-undeclared" in codes(node)) is undeclared


@pytest.mark.parametrize(
    ("version", "schema", "ignored"),
    [("2.0.0", 3, True), ("2.2.4", 3, True), ("2.3.0", 3, False), ("2.4.2", 3, False), ("2.4.2", 4, True)],
)
def test_old_keys_in_a_new_file_are_ignored_or_migrated(
    aligned: Snapshot, version: str, schema: int, ignored: bool
) -> None:
    node = runtime_text(containerd(aligned, version), f"version = {schema}\n" + handler(V2, "true"))
    assert ("containerd-plugin-key-ignored" in codes(node)) is ignored
    assert [handler.configured for handler in runtime(node).handlers] == [CGROUPFS if ignored else SYSTEMD]


V3_RUNC = f"[{V3}.containerd.runtimes.runc"
TYPES = {
    "version as a text": ('version = "2"\n', "version is not a whole number"),
    "version as a fraction": ("version = 2.0\n", "version is not a whole number"),
    "version as a switch": ("version = true\n", "version is not a whole number"),
    "imports": ('version = 3\nimports = "x"\n', "imports is not a list of strings"),
    "disabled_plugins": ("version = 3\ndisabled_plugins = [1]\n", "disabled_plugins is not a list of strings"),
    "plugins": ("version = 3\n[[plugins]]\nx = 1\n", "plugins is not a table"),
    "a plugin": (
        "version = 3\n[plugins]\n'io.containerd.cri.v1.runtime' = 3\n",
        'plugins."io.containerd.cri.v1.runtime" is not a table',
    ),
    "containerd": (f"version = 2\n[{V2}]\ncontainerd = 3\n", "containerd is not a table"),
    "runtimes": (f"version = 3\n[{V3}.containerd]\nruntimes = 3\n", "runtimes is not a table"),
    "a handler": (f"version = 3\n[{V3}.containerd.runtimes]\nrunc = 3\n", "handler runc is not a table"),
    "a type": (f"version = 3\n{V3_RUNC}]\nruntime_type = 3\n", "handler runc: runtime_type is not a string"),
    "options": (f"version = 3\n{V3_RUNC}]\noptions = 3\n", "handler runc: options is not a table"),
    "the default": (
        f"version = 3\n[{V3}.containerd]\ndefault_runtime_name = 3\n",
        "default_runtime_name is not a string",
    ),
    "NRI": (
        'version = 3\n[plugins."io.containerd.nri.v1.nri"]\ndisable = "true"\n',
        "NRI: disable is not true or false",
    ),
}
"""containerd 2.4.2 does not start with any of them: run."""


@pytest.mark.parametrize("case", TYPES)
def test_a_value_that_containerd_does_not_decode_is_reported_and_not_used(aligned: Snapshot, case: str) -> None:
    text, message = TYPES[case]
    node = runtime_text(containerd(aligned, "2.4.2"), text)
    assert [(defect.code, defect.message) for defect in runtime(node).defects] == [("containerd-value-type", message)]
    assert (driver(node).runtime, driver(node).live) == (None, SYSTEMD)


@pytest.mark.parametrize("text", ['version = "2"\n', "version = 2.0\n"])
@pytest.mark.parametrize("version", ["1.6.20", "1.7.24", "2.1.9", "2.3.0"])
def test_a_version_that_is_not_a_number_is_refused_by_all_releases(aligned: Snapshot, version: str, text: str) -> None:
    node = runtime_text(containerd(aligned, version), text + handler(V2, "true") + handler(V3, "true"))
    assert "containerd-value-type" in [defect.code for defect in runtime(node).defects]
    assert driver(node).runtime is None


@pytest.mark.parametrize("word", ['"true"', "1", "[true]"])
def test_an_option_of_another_type_is_reported_and_not_used(aligned: Snapshot, word: str) -> None:
    node = runtime_text(containerd(aligned, "2.4.2"), "version = 3\n" + handler(V3, word))
    assert [(defect.code, defect.message) for defect in runtime(node).defects] == [
        ("containerd-option-type", "handler runc: SystemdCgroup is not true or false"),
    ]
    assert driver(node).runtime is None


@pytest.mark.parametrize("options", ['SYSTEMDCGROUP = "true"', "SystemdCgroup = true\nsystemdcgroup = 1"])
def test_every_spelling_of_an_option_is_decoded(aligned: Snapshot, options: str) -> None:
    text = f"[{V3}.containerd.runtimes.runc.options]\n{options}\n"
    node = runtime_text(containerd(aligned, "2.4.2"), "version = 3\n" + text)
    assert [defect.code for defect in runtime(node).defects] == ["containerd-option-type"]
    assert driver(node).runtime is None


@pytest.mark.parametrize(("version", "cri"), [("1.7.24", V2), ("2.1.9", V2), ("2.4.2", V3)])
def test_a_value_that_a_later_file_replaces_is_not_decoded(aligned: Snapshot, version: str, cri: str) -> None:
    """2.3 and later migrate a file of schema 2 before they merge it."""
    main = f"version = 2\nimports = ['{NVIDIA}']\n[{cri}]\ncontainerd = 3\n"
    node = containerd(file(runtime_text(aligned, main), NVIDIA, "version = 2\n" + handler(cri, "true")), version)
    assert "containerd-value-type" not in codes(node)
    assert "containerd-value-type" in codes(runtime_text(node, "oom_score = '0'\n" + main))
    assert [handler.configured for handler in runtime(node).handlers] == [SYSTEMD]


@pytest.mark.parametrize(
    ("version", "text", "message"),
    [
        ("1.7.24", "[debug]\nlevel = 1\n", "debug: level is not a string"),
        ("2.4.2", "oom_score = '0'\n", "oom_score is not a whole number"),
        ("2.4.2", "[timeouts]\n'a.b' = 2\n", "timeouts: a.b is not a string"),
        ("2.4.2", f"[{V2}.containerd]\nsnapshotter = 3\nruntimes = {{}}\n", "snapshotter is not a string"),
        ("1.7.24", f"[{V2}.containerd.default_runtime]\nruntime_type = 1\n", "runtime_type is not a string"),
        ("2.4.2", "[plugins.'io.containerd.internal.v1.opt']\npath = 1\n", "opt: path is not a string"),
        ("2.4.2", f"[{NRI}]\nplugin_request_timeout = true\n", 'plugin_request_timeout is not a duration such as "5s"'),
        (
            "1.7.24",
            f"[{NRI}]\nplugin_request_timeout = '2 s'\n",
            'plugin_request_timeout is not a duration such as "5s" or a number of nanoseconds',
        ),
    ],
)
def test_values_of_other_tables_are_decoded_too(aligned: Snapshot, version: str, text: str, message: str) -> None:
    node = runtime(containerd(runtime_text(aligned, "version = 2\n" + text), version))
    assert [defect.code for defect in node.defects] == ["containerd-value-type"]
    assert node.defects[0].message.endswith(message)


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("1.6.20", f"version = 2\n[{NRI}]\ndisable = 'true'\n"),
        ("1.7.24", f"version = 2\ndisabled_plugins = ['io.containerd.nri.v1.nri']\n[{NRI}]\ndisable = 1\n"),
        ("2.4.2", f"version = 3\ndisabled_plugins = ['io.containerd.nri.v1.nri']\n[{NRI}]\ndisable = 1\n"),
        ("1.7.24", "disabled_plugins = ['cri']\n[plugins.cri]\ncontainerd = 3\n"),
        ("2.4.2", "version = 2\n[plugins.cri]\ncontainerd = 3\n"),
        ("2.4.2", f"version = 2\n[{V2}.containerd]\ndefault_runtime = 3\n"),
    ],
)
def test_a_value_that_is_not_decoded_may_have_any_type(aligned: Snapshot, version: str, text: str) -> None:
    assert "containerd-value-type" not in codes(containerd(runtime_text(aligned, text), version))


@pytest.mark.parametrize("pattern", ["/etc/a/[*.toml", "/etc/a/[]*.toml", "/etc/a/*[a-]", "/etc/*\\\\"])
def test_a_pattern_that_go_refuses_is_reported(aligned: Snapshot, pattern: str) -> None:
    node = runtime_text(aligned, f'version = 2\nimports = ["{pattern}"]\n')
    assert codes(node) == ["containerd-import-pattern"]


def test_up_to_1_7_deprecated_tables_are_handlers(aligned: Snapshot) -> None:
    text = "version = 2\n" + handler(V2, "true")
    for key in ("default_runtime", "untrusted_workload_runtime"):
        text += handler(V2, "false").replace("runtimes.runc", key)
    snapshot = containerd(runtime_text(aligned, text), "1.7.24")
    node = runtime(snapshot)
    assert [(handler.name, handler.configured) for handler in node.handlers] == [
        ("default", CGROUPFS),
        ("runc", SYSTEMD),
        ("untrusted", CGROUPFS),
    ]
    assert (node.default_handler, driver(snapshot).runtime) == ("default", None)
    assert [handler.source for handler in node.handlers] == [RUNTIME_FILE] * 3
    newer = runtime(containerd(runtime_text(aligned, text), "2.4.2"))
    assert ([handler.name for handler in newer.handlers], newer.default_handler) == (["runc"], "runc")


@pytest.mark.parametrize(
    ("version", "text", "off"),
    [
        ("1.7.24", "disabled_plugins = ['nri']\n[plugins.nri]\ndisable = false\n", True),
        ("1.7.24", "disabled_plugins = ['io.containerd.nri.v1.nri']\n[plugins.nri]\ndisable = false\n", False),
        ("2.4.2", "disabled_plugins = ['nri']\n", False),
        ("2.4.2", "version = 3\ndisabled_plugins = ['io.containerd.nri.v1.nri']\n", True),
    ],
)
def test_the_name_that_disables_nri_depends_on_the_schema(
    aligned: Snapshot, version: str, text: str, off: bool
) -> None:
    assert runtime(containerd(runtime_text(aligned, text), version)).nri.configured is not off


@pytest.mark.parametrize(("last", "named"), [(2, False), (5, True)])
def test_up_to_2_2_only_the_last_file_can_be_too_new(aligned: Snapshot, last: int, named: bool) -> None:
    node = imports(aligned, f"version = {last}\n", f"version = {7 - last}\n")
    assert ("containerd-config-too-new" in codes(containerd(node, "1.7.24"))) is named
    assert "containerd-config-too-new" in codes(containerd(node, "2.4.2"))


@pytest.mark.parametrize(
    ("version", "line", "invalid"),
    [
        ("1.6.20", "[plugins.foo]\n", True),
        ("1.6.20", '[plugins."a.b.c.d"]\n', False),
        ("1.7.24", '[plugins."a.b.c.d"]\n', True),
        ("1.7.24", '[plugins."io.containerd.x"]\n', True),
        ("1.7.24", '[plugins."io.containerd.x.v1.y.z"]\n', False),
        ("1.7.24", 'disabled_plugins = ["io.containerd.cri"]\n', True),
        ("2.4.2", "[plugins.foo]\n", False),
        ("2.4.2", 'disabled_plugins = ["a.b"]\n', False),
        ("2.4.2", 'required_plugins = ["cri"]\n', True),
    ],
)
def test_names_of_plugins_by_release(aligned: Snapshot, version: str, line: str, invalid: bool) -> None:
    node = runtime_text(containerd(aligned, version), "version = 2\n" + line)
    assert ("containerd-plugin-name-invalid" in codes(node)) is invalid


def test_a_byte_order_mark_keeps_containerd_2_from_starting(aligned: Snapshot) -> None:
    text = "\ufeffversion = 2\n" + handler(V2, "true")
    assert driver(runtime_text(containerd(aligned, "1.7.24"), text)).runtime is SYSTEMD
    snapshot = runtime_text(containerd(aligned, "2.4.2"), text)
    node = runtime(snapshot)
    assert driver(snapshot).runtime is None
    assert node.config.problem is not None
    assert node.config.problem.message == "begins with a byte order mark; containerd 2 does not start with it"


UNKNOWN_RELEASE = {
    "schema 2": ("version = 2\n" + handler(V2, "true"), None, SYSTEMD),
    "schema 3": ("version = 3\n" + handler(V3, "true"), None, SYSTEMD),
    "nothing": ("", None, CGROUPFS),
    "schema 1, which 2.0 to 2.2 lose": (handler("plugins.cri", "true"), None, None),
    "a table of schema 2 in schema 3": ("version = 3\n" + handler(V2, "true"), None, None),
    "no runc, which only 2.x has built in": ("version = 2\n" + handler(V2, "true", "nvidia"), None, None),
    "a letter case that 1.x does not read": (
        "version = 2\n" + handler(V2, "true").replace(".runtimes", ".Runtimes"),
        None,
        None,
    ),
    "an import": ("version = 2\nimports = ['/etc/containerd/conf.d/*']\n" + handler(V2, "true"), "", None),
    "an import of nothing": (
        "version = 2\nimports = ['/etc/containerd/conf.d/*']\n" + handler(V2, "true"),
        None,
        SYSTEMD,
    ),
}


@pytest.mark.parametrize("case", UNKNOWN_RELEASE)
def test_the_driver_of_an_unknown_release_is_the_one_of_all_releases(aligned: Snapshot, case: str) -> None:
    main, drop_in, known = UNKNOWN_RELEASE[case]
    node = runtime_text(unknown_release(aligned), main)
    facts = facts_of(node if drop_in is None else file(node, NVIDIA, drop_in))
    assert (facts.runtime.version, facts.driver.runtime) == (None, known)


def test_a_dump_has_options_as_the_file_spells_them(aligned: Snapshot) -> None:
    """As 2.4.2 dumps them: the default of runc, and the key of the file, which is effective."""
    main = f"version = 3\n[{V3}.containerd.runtimes.runc.options]\nsystemdcgroup = true\n"
    node = dumped(runtime_text(containerd(aligned, "2.4.2"), main), main + "SystemdCgroup = false\n")
    (runc,) = runtime(node).handlers
    assert (runc.configured, runc.source) == (SYSTEMD, RUNTIME_FILE)


def test_nri_is_disabled_in_any_letter_case(aligned: Snapshot) -> None:
    text = 'version = 3\n[plugins."io.containerd.nri.v1.nri"]\nDisable = true\n'
    assert not runtime(runtime_text(containerd(aligned, "2.4.2"), text)).nri.configured


@pytest.mark.parametrize(
    ("version", "main", "text"),
    [
        ("2.0.5", "version = 2\n" + handler(V2, "true"), "version = 3\n" + handler(V3, "false")),
        ("2.1.0", "version = 3\n" + handler(V3, "true"), "version = 3\n[broken\n"),
        ("2.1.0", "version = 3\n" + handler(V3, "true"), "version = 3\n" + handler(V3, '"false"')),
        ("2.1.0", "version = 3\n" + handler(V3, "true"), "version = 3\n"),
    ],
)
def test_an_unreliable_dump_is_ignored(aligned: Snapshot, version: str, main: str, text: str) -> None:
    (runc,) = runtime(dumped(runtime_text(containerd(aligned, version), main), text)).handlers
    assert (runc.configured, runc.source) == (SYSTEMD, RUNTIME_FILE)


@pytest.mark.parametrize("version", ["2.0.6", "2.0.50", "2.1.0"])
def test_later_dumps_show_what_was_migrated(aligned: Snapshot, version: str) -> None:
    node = runtime_text(containerd(aligned, version), "version = 2\n" + handler(V2, "true"))
    (runc,) = runtime(dumped(node, "version = 3\n" + handler(V3, "false"))).handlers
    assert runc.configured is CGROUPFS


@pytest.mark.parametrize(
    ("version", "text", "configured"),
    [
        ("1.7.24", "[plugins.nri]\n" + ON, True),
        ("1.7.24", '[plugins."io.containerd.nri.v1.nri"]\n' + ON, False),
        ("1.7.24", 'version = 2\n[plugins."io.containerd.nri.v1.nri"]\n' + ON, True),
        ("1.7.24", "version = 2\n[plugins.nri]\n" + ON, False),
        ("2.1.0", "version = 3\nplugins = 3\n", True),
        ("2.1.0", "version = 3\n[plugins]\n'io.containerd.nri.v1.nri' = 3\n", True),
        ("2.3.0", 'version = 4\n[plugins."io.containerd.nri.v1.nri"]\ndisable = true\n', False),
    ],
)
def test_nri_is_read_in_each_schema(aligned: Snapshot, version: str, text: str, configured: bool) -> None:
    assert runtime(runtime_text(containerd(aligned, version), text)).nri.configured is configured


RELATIVE = 'socket_path = "run/x.sock"\n'


@pytest.mark.parametrize(
    ("version", "main", "drop_in", "named"),
    [
        ("2.4.2", f"[{NRI}]\n{RELATIVE}", "", RUNTIME_FILE),
        ("2.4.2", f"[{NRI}]\n{RELATIVE}", f"[{NRI}]\ndisable = false\n", RUNTIME_FILE),
        ("2.4.2", f"[{NRI}]\n{RELATIVE}", f"[{NRI}]\nsocket_path = '/run/x.sock'\n", None),
        ("2.4.2", "", f"[{NRI}]\n{RELATIVE}", NVIDIA),
        ("2.4.2", f"[plugins.nri]\n{RELATIVE}", "", None),
        ("1.7.24", f"[{NRI}]\n{RELATIVE}", f"[{NRI}]\ndisable = false\n", None),
        ("1.7.24", f"[{NRI}]\n{RELATIVE}", "", RUNTIME_FILE),
        ("1.6.20", f"[{NRI}]\n{RELATIVE}", "", None),
    ],
)
def test_a_relative_nri_socket_is_reported_if_it_is_effective(
    aligned: Snapshot, version: str, main: str, drop_in: str, named: str | None
) -> None:
    text = f"version = 2\nimports = ['{NVIDIA}']\n" + handler(V2, "true") + main
    node = containerd(file(runtime_text(aligned, text), NVIDIA, "version = 2\n" + drop_in), version)
    defects = [defect for defect in runtime(node).defects if defect.code == "nri-socket-relative"]
    expected = [(named, 'socket_path = "run/x.sock"')] if named else []
    assert [(defect.file, defect.message) for defect in defects] == expected


def test_a_socket_older_than_containerd_is_stale(aligned: Snapshot) -> None:
    assert not runtime(aligned).nri.socket_stale
    assert runtime(put(aligned, 4e9, "runtime", "processes", 0, "started_at")).nri.socket_stale
    assert not runtime(put(aligned, None, "runtime", "processes", 0, "started_at")).nri.socket_stale


SILENT = {
    "a built-in handler with an option in 2.x": (
        "2.1.0",
        f"version = 3\n[{V3}.containerd.runtimes.runc.options]\nSystemdCgroup = true\n",
    ),
    "nothing": ("1.7.24", "version = 2\n"),
    "a key of another schema without handlers": ("1.7.24", f"version = 2\n[{V3}.cni]\nbin_dir = '/x'\n"),
    "old and new keys where both are read": ("2.1.0", "version = 2\n" + handler(V2, "true") + handler(V3, "true")),
    "a schema that the release reads": ("2.3.0", "version = 4\n"),
    "an unknown release": ("unreleased", "version = 4\n"),
    "the old runtime with its old switch": (
        "1.6.0",
        f"version = 2\n[{V2}]\nsystemd_cgroup = true\n[{V2}.containerd.runtimes.runc]\n"
        'runtime_type = "io.containerd.runtime.v1.linux"\n',
    ),
    "the old switch where nothing reads it": ("2.0.0", f"version = 2\n[{V2}]\nsystemd_cgroup = true\n"),
    "a default that is built in": ("1.7.24", f'version = 2\n[{V2}.containerd]\ndefault_runtime_name = "runc"\n'),
    "a default that is declared": (
        "1.7.24",
        f'version = 2\n[{V2}.containerd]\ndefault_runtime_name = "x"\n' + handler(V2, "true", "x"),
    ),
}


@pytest.mark.parametrize("case", SILENT)
def test_a_file_without_a_defect_has_no_finding(aligned: Snapshot, case: str) -> None:
    version, text = SILENT[case]
    assert codes(runtime_text(containerd(aligned, version), text)) == []


def test_an_undeclared_default_runtime_is_reported_in_the_last_file_that_sets_it(aligned: Snapshot) -> None:
    text = f'version = 2\n[{V2}.containerd]\ndefault_runtime_name = "nvidia"\n'
    node = imports(containerd(aligned, "2.1.0"), text)
    (defect,) = runtime(node).defects
    assert (defect.code, defect.file) == ("containerd-default-runtime-undeclared", NVIDIA)
    assert runtime(node).default_handler == "nvidia"


def test_handlers_other_than_runc_have_no_built_in_type(aligned: Snapshot) -> None:
    text = f"version = 3\n[{V3}.containerd.runtimes.nvidia.options]\nBinaryName = '/x'\n"
    (defect,) = runtime(runtime_text(containerd(aligned, "2.1.0"), text)).defects
    assert (defect.code, defect.message) == ("containerd-handler-without-type", "handler nvidia has no runtime_type")
