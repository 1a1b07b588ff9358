# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd's merge rules by release: texts of a main file and its drop-in, and their effective values."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_toml
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.config_file import ConfigFile, Problem
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.containerd_layers import (
    Layers,
    declared_handlers,
    merge_of,
    read_layers,
    source_of,
    systemd_cgroup_option,
)

MAIN = "/etc/containerd/config.toml"
DROP = "/etc/containerd/conf.d/50-x.toml"
V1, V2, V3 = ("plugins." + key for key in ("cri", '"io.containerd.grpc.v1.cri"', '"io.containerd.cri.v1.runtime"'))
ALL = 'imports = ["/etc/containerd/conf.d/*.toml"]\n'


def option(cri: str, value: str, name: str = "runc") -> str:
    return f"[{cri}.containerd.runtimes.{name}.options]\nSystemdCgroup = {value}\n"


def config(path: str, text: str | None) -> ConfigFile:
    return ConfigFile(path, "missing") if text is None else ConfigFile(path, "regular", read_toml(text))


def layers(version: str | None, main: str | None, **files: str | None) -> Layers:
    """Layers of a main file and drop-ins in conf.d, by name."""
    drop_ins = {f"/etc/containerd/conf.d/{name}.toml": text for name, text in files.items()}
    configs = {path: config(path, text) for path, text in {MAIN: main, **drop_ins}.items()}
    return read_layers(configs[MAIN], configs, version)


# release, main file, drop-in -> SystemdCgroup of runc, and its source file
TABLE = {
    "2.4 reads fields in any letter case": (
        "2.4.2",
        f"Version = 3\n[Plugins.{V3[8:]}.Containerd.RUNTIMES.runc.Options]\nsystemdcgroup = true\n",
        None,
        True,
        "m",
    ),
    "2.4 migrates fields in any letter case": (
        "2.4.2",
        f"Version = 2\n[{V2}.Containerd.Runtimes.runc.options]\nSystemdCgroup = true\n",
        None,
        True,
        "m",
    ),
    "2.4 reads names of plugins case-sensitively": (
        "2.4.2",
        "version = 3\n" + option(V3.replace("cri", "CRI"), "true"),
        None,
        None,
        None,
    ),
    "2.4 decodes its own default after a key in capitals": (
        "2.4.2",
        f"version = 3\n[{V3}.containerd.runtimes.runc.options]\nSYSTEMDCGROUP = true\n",
        None,
        None,
        "m",
    ),
    "2.4 prefers the key in lower case, whichever file has it": (
        "2.4.2",
        ALL + f"version = 3\n[{V3}.containerd.runtimes.runc.options]\nsystemdcgroup = true\n",
        "version = 3\n" + option(V3, "false"),
        True,
        "m",
    ),
    "2.4 takes the last of several versions": (
        "2.4.2",
        "version = 2\nVersion = 4\n" + option(V2, "true"),
        None,
        None,
        None,
    ),
    "2.4 imports in any letter case": (
        "2.4.2",
        ALL.replace("imports", "Imports") + "version = 3\n" + option(V3, "true"),
        "version = 3\n" + option(V3, "false"),
        False,
        "d",
    ),
    "1.7 reads an option in small letters": (
        "1.7.24",
        f"version = 2\n[{V2}.containerd.runtimes.runc.options]\nsystemdcgroup = true\n",
        None,
        True,
        "m",
    ),
    "1.7 reads a field in capitals": (
        "1.7.24",
        f"VERSION = 2\n[{V2}.containerd.RUNTIMES.runc.options]\nSystemdCgroup = true\n",
        None,
        True,
        "m",
    ),
    "1.7 reads no field with some capitals": (
        "1.7.24",
        f"version = 2\n[{V2}.containerd.Runtimes.runc.options]\nSystemdCgroup = true\n",
        None,
        None,
        None,
    ),
    "1.7 reads the exact one of several options": (
        "1.7.24",
        "version = 2\n" + option(V2, "false") + "systemdcgroup = true\n",
        None,
        False,
        "m",
    ),
    "1.7 replaces the whole table": (
        "1.7.24",
        ALL + "version = 2\n" + option(V2, "true"),
        option(V2, "false"),
        False,
        "d",
    ),
    "1.7 drops settings that a small drop-in does not have (containerd#5837)": (
        "1.7.24",
        ALL + "version = 2\n" + option(V2, "true"),
        f"version = 2\n[{V2}.registry]\nconfig_path = '/etc/certs'\n",
        None,
        None,
    ),
    "1.7 keeps tables of other plugins": (
        "1.7.24",
        ALL + "version = 2\n" + option(V2, "true"),
        "version = 2\n[plugins.'io.containerd.nri.v1.nri']\ndisable = false\n",
        True,
        "m",
    ),
    "1.6 with a file of schema 1": ("1.6.20", option(V1, "true"), None, True, "m"),
    "1.7 reads no bare name in schema 2": ("1.7.24", "version = 2\n" + option(V1, "true"), None, None, None),
    "1.7 reads no full name in schema 1": ("1.7.24", option(V2, "true"), None, None, None),
    "2.0 merges deeply": (
        "2.0.5",
        ALL + "version = 3\n" + option(V3, "true"),
        f"version = 3\n[{V3}.containerd.runtimes.runc.options]\nBinaryName = 'crun'\n",
        True,
        "m",
    ),
    "2.1 overrides below plugins, also with false": (
        "2.1.9",
        ALL + "version = 3\n" + option(V3, "true"),
        "version = 3\n" + option(V3, "false"),
        False,
        "d",
    ),
    "2.0 migrates schema 2": ("2.0.0", "version = 2\n" + option(V2, "true"), None, True, "m"),
    "2.0 to 2.2 rename a lone file of schema 1 and do not migrate it": ("2.1.9", option(V1, "true"), None, None, None),
    "2.1 with a lone file without version and new keys": ("2.1.9", option(V3, "true"), None, True, "m"),
    "2.1 takes the version of a drop-in for an old main file": (
        "2.1.9",
        ALL + option(V1, "true"),
        f"version = 2\n[{V2}.cni]\nconf_dir = '/x'\n",
        True,
        "m",
    ),
    "2.1 takes a drop-in of schema 1 for one of the main file's": (
        "2.1.9",
        ALL + "version = 2\n" + option(V2, "true"),
        "version = 1\n" + option(V1, "false"),
        False,
        "d",
    ),
    "2.1 keeps the main file's version over a drop-in without one": (
        "2.1.9",
        ALL + "version = 2\n" + option(V2, "true"),
        "",
        True,
        "m",
    ),
    "2.1 reads no bare name in schema 2": ("2.1.9", "version = 2\n" + option(V1, "true"), None, None, None),
    "1.7 takes version 0 for schema 1": ("1.7.24", "version = 0\n" + option(V1, "true"), None, True, "m"),
    "2.4 migrates a file of version 0": ("2.4.2", "version = 0\n" + option(V1, "true"), None, True, "m"),
    "2.3 migrates schema 1": ("2.3.0", option(V1, "true"), None, True, "m"),
    "1.6 takes schema 3 for 2": ("1.6.20", "version = 3\n" + option(V2, "true"), None, True, "m"),
    "1.6 looks for relative globs where it runs": (
        "1.6.20",
        'imports = ["conf.d/*.toml"]\nversion = 2\n' + option(V2, "true"),
        "version = 2\n" + option(V2, "false"),
        True,
        "m",
    ),
    "1.7 looks for relative globs beside the file": (
        "1.7.24",
        'imports = ["conf.d/*.toml"]\nversion = 2\n' + option(V2, "true"),
        "version = 2\n" + option(V2, "false"),
        False,
        "d",
    ),
    "2.1 reads new keys in an old file": ("2.1.0", "version = 2\n" + option(V3, "true"), None, True, "m"),
    "2.1 ignores old keys in a new file": ("2.1.0", "version = 3\n" + option(V2, "true"), None, None, None),
    "2.2 ignores them, too": ("2.2.4", "version = 3\n" + option(V2, "true"), None, None, None),
    "2.3 migrates old keys in a file of schema 3": ("2.3.0", "version = 3\n" + option(V2, "true"), None, True, "m"),
    "2.4 migrates old keys in a drop-in of schema 3": (
        "2.4.2",
        ALL + "version = 4\n" + option(V3, "false"),
        "version = 3\n" + option(V2, "true"),
        True,
        "d",
    ),
    "2.4 keeps new keys over old ones of one file": (
        "2.4.2",
        "version = 3\n" + option(V2, "true") + option(V3, "false"),
        None,
        False,
        "m",
    ),
    "2.4 ignores old keys in a file of schema 4": (
        "2.4.2",
        "version = 4\n" + option(V2, "true"),
        None,
        None,
        None,
    ),
    "2.2 uses the last version: the old main file is lost": (
        "2.2.0",
        ALL + "version = 2\n" + option(V2, "true"),
        f"version = 3\n[{V3}.cni]\nbin_dir = '/opt'\n",
        None,
        None,
    ),
    "2.2 uses the last version: an old drop-in only fills gaps": (
        "2.2.0",
        ALL + "version = 3\n" + option(V3, "true"),
        "version = 2\n" + option(V2, "false"),
        True,
        "m",
    ),
    "2.2 with a drop-in without version": (
        "2.2.0",
        ALL + "version = 3\n" + option(V3, "true"),
        option(V3, "false"),
        False,
        "d",
    ),
    "2.3 migrates each file": (
        "2.3.5",
        ALL + "version = 3\n" + option(V3, "true"),
        "version = 2\n" + option(V2, "false"),
        False,
        "d",
    ),
    "2.3 migrates a drop-in without version": (
        "2.3.5",
        ALL + "version = 4\n" + option(V3, "true"),
        option(V2, "false"),
        False,
        "d",
    ),
    "2.3 with a file of schema 4": ("2.3.0", "version = 4\n" + option(V3, "true"), None, True, "m"),
    "2.2 without a main file imports nothing": ("2.2.0", None, "version = 3\n" + option(V3, "true"), None, None),
    "2.2 with a main file without imports": (
        "2.2.0",
        "version = 3\n",
        "version = 3\n" + option(V3, "true"),
        None,
        None,
    ),
    "an image of schema 3 is read by the rules of 2.0": (
        None,
        ALL + "version = 3\n" + option(V3, "true"),
        "version = 3\n" + option(V3, "false", "kata"),
        True,
        "m",
    ),
    "an image of schema 2 is read by the rules of 1.x": (
        None,
        ALL + "version = 2\n" + option(V2, "true"),
        "version = 2\n" + option(V2, "true", "kata"),
        None,
        None,
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_the_effective_driver_and_its_source(case: str) -> None:
    version, main, drop_in, word, source = TABLE[case]
    merged = layers(version, main, **{"50-x": drop_in})
    assert systemd_cgroup_option(declared_handlers(merged.cri).get("runc")) is word
    assert source_of(merged, "runc") == {"m": MAIN, "d": DROP, None: None}[source]


TOP = {
    "a false cannot override": ("2.1.0", "no_pivot = true\n", "no_pivot = false\n", "no_pivot", True),
    "an empty text cannot override": ("2.1.0", 'root = "/a"\n', 'root = ""\n', "root", "/a"),
    "a text overrides": ("1.7.0", 'root = "/a"\n', 'root = "/b"\n', "root", "/b"),
    "lists grow": ("1.7.0", 'disabled_plugins = ["a"]\n', 'disabled_plugins = ["b"]\n', "disabled_plugins", ["a", "b"]),
    "an empty list removes nothing": ("2.1.0", 'disabled_plugins = ["cri"]\n', "disabled_plugins = []\n",
                                      "disabled_plugins", ["cri"]),
    "lists are joined": ("2.1.0", 'disabled_plugins = ["a"]\n', 'disabled_plugins = ["a", "b"]\n',
                         "disabled_plugins", ["a", "b"]),
    "tables of the server are merged": ("2.1.0", "[grpc]\nuid = 1\ngid = 2\n", "[grpc]\nuid = 0\ngid = 3\n",
                                        "grpc", {"uid": 1, "gid": 3}),
    "timeouts are replaced by name": ("2.1.0", "[timeouts]\na = '1s'\nb = '1s'\n", "[timeouts]\na = ''\n",
                                      "timeouts", {"a": "", "b": "1s"}),
}  # fmt: skip


@pytest.mark.parametrize("case", TOP)
def test_a_drop_ins_top_level_is_merged_as_containerd_merges_it(case: str) -> None:
    version, main, drop_in, key, value = TOP[case]
    assert layers(version, ALL + main, **{"50-x": drop_in}).values[key] == value


def test_imports_are_read_breadth_first_and_once() -> None:
    texts = {
        MAIN: 'version = 2\nimports = ["a.toml", "b.toml", "/etc/containerd/config.toml"]\n',
        "/etc/containerd/a.toml": 'imports = ["sub/*.toml", "b.toml"]\n',
        "/etc/containerd/b.toml": 'imports = ["a.toml"]\n',
        "/etc/containerd/sub/2.toml": "",
        "/etc/containerd/sub/1.toml": "",
        "/etc/containerd/sub/deep/3.toml": "",
    }
    configs = {path: config(path, text) for path, text in texts.items()}
    merged = read_layers(configs[MAIN], configs, "1.7.0")
    assert [layer.path.removeprefix("/etc/containerd/") for layer in merged.files] == [
        *("config.toml", "a.toml", "b.toml", "sub/1.toml", "sub/2.toml"),
    ]
    assert merged.missing == ()


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("/x/*.toml", ["/x/a.toml", "/x/b.toml"]),
        ("/x/[^a]*.toml", ["/x/b.toml"]),
        ("/*/b.toml", ["/x/b.toml"]),
        ("/x/[z-a]*", []),
        ("/y/*", []),
        ("/x/../x/b*", ["/x/b.toml"]),
    ],
)
def test_patterns_match_as_in_go(pattern: str, names: list[str]) -> None:
    paths = {MAIN: f'imports = ["{pattern}"]\n', "/x/a.toml": "", "/x/b.toml": "", "/x/c.conf": "", "/x/d/e.toml": ""}
    configs = {path: config(path, text) for path, text in paths.items()}
    assert [layer.path for layer in read_layers(configs[MAIN], configs, "2.1.0").files[1:]] == names


def test_imports_without_a_file_and_unrecorded_imports() -> None:
    configs = {
        MAIN: config(MAIN, 'imports = ["/gone.toml", "/unseen.toml", 7]\n'),
        "/gone.toml": config("/gone.toml", None),
    }
    merged = read_layers(configs[MAIN], configs, "1.7.0")
    assert merged.missing == ("/gone.toml",)
    assert merged.unrecorded == ("/unseen.toml", "/etc/containerd/7")


def test_a_file_that_cannot_be_read_is_a_layer_without_values() -> None:
    broken = ConfigFile(DROP, "regular", problem=Problem(DROP, "garbage", 1))
    configs = {MAIN: config(MAIN, ALL + "version = 2\n" + option(V2, "true")), DROP: broken}
    merged = read_layers(configs[MAIN], configs, "1.7.0")
    assert merged.files[1].problem
    assert systemd_cgroup_option(declared_handlers(merged.cri)["runc"]) is True


@pytest.mark.parametrize("text", ['imports = "x"\n', "plugins = 3\n", f'[{V2}]\ncontainerd = "x"\n', 'version = "3"\n'])
def test_unexpected_types_declare_no_handler(text: str) -> None:
    for version in ("1.7.0", "2.1.0", "2.3.0", None):
        assert declared_handlers(layers(version, text).cri) == {}
        assert source_of(layers(version, text), "runc") is None


@pytest.mark.parametrize(
    ("version", "schema", "rules"),
    [
        ("1.6.0", 3, "REPLACING"),
        ("2.0.0", 2, "DEEP"),
        ("v2.2.3", 2, "DEEP"),
        ("2.3.0", 2, "PER_FILE"),
        ("3.0.0", 4, "PER_FILE"),
        (None, 2, "REPLACING"),
        (None, 3, "DEEP"),
        (None, 4, "PER_FILE"),
    ],
)
def test_each_release_merges_by_its_own_rules(version: str | None, schema: int, rules: str) -> None:
    assert merge_of(version, schema).name == rules
