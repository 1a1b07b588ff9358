# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd's file: invalid TOML, values that containerd does not decode, texts that cannot be edited, imports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ansible_collections.volcano.colocation.tests.support.tasks.node_image import RUNTIME, RUNTIME_TEXT
from ansible_collections.volcano.colocation.tests.unit.malformed.case import Case, Text

DRIVER = {"cgroup_driver": "systemd"}
NRI = {"nri": {"enabled": True, "socket_path": "/run/n.sock"}}
PATH = f"/{RUNTIME}"
CORRECT = "Until then the file is not changed."
CRI = 'plugins."io.containerd.grpc.v1.cri"'
RUNC = f"{CRI}.containerd.runtimes.runc"
PLUGIN = '"io.containerd.nri.v1.nri"'
REMAINING = RUNTIME_TEXT.partition("\n")[2]


def _at(line: int, message: str, text: Text) -> Case:
    return Case(
        "containerd_config", DRIVER, (f"Nothing was changed. {PATH}:{line}: {message}", CORRECT), {RUNTIME: text}
    )


def _adds(line: int, message: str, lines: str | bytes) -> Case:
    """Lines after the six lines of a valid file."""
    added = lines if isinstance(lines, bytes) else lines.encode()
    return _at(line, message, RUNTIME_TEXT.encode() + added)


def _schema(message: str, line: str) -> Case:
    says = (f"Nothing was changed. {PATH}: its schema version is {message};", "Migrate the file yourself")
    return Case("containerd_config", DRIVER, says, {RUNTIME: f"{line}\n{REMAINING}"})


def _shape(line: int, message: str, text: str, options: Mapping[str, object] | None = None) -> Case:
    """TOML that containerd would not decode, in the table of the setting."""
    says = (f"Nothing was changed. {PATH}:{line}: ", message)
    return Case("containerd_config", options or DRIVER, says, {RUNTIME: text})


def _imports(message: str, imports: str, files: dict[str, Text] | None = None) -> Case:
    says = (f"Nothing was changed. {PATH}: ", message)
    return Case("containerd_config", DRIVER, says, {RUNTIME: f"version = 2\n{imports}\n{REMAINING}", **(files or {})})


def _link(root: Path) -> None:
    (root / RUNTIME).rename(root / "etc/real.toml")
    (root / RUNTIME).symlink_to("../real.toml")


def _directory(root: Path) -> None:
    (root / RUNTIME).unlink()
    (root / RUNTIME).mkdir()


TYPE = "Correct or delete this key"
BY_HAND = "Change its elements by hand"
NOT_READ = "the effect of its imports depends on containerd's release, which is unknown. Remove imports"
IMPORTED = 'imports = ["/etc/containerd/x.toml"]'
X = "etc/containerd/x.toml"

CASES = {
    "table never closed": _adds(7, "a table header without its closing bracket", "[plugins\n"),
    "text never closed": _adds(7, "a text without its closing quote", 'a = "x\n'),
    "long text never closed": _adds(8, "the text ends within a value", 'a = """x\n'),
    "list never closed": _adds(8, "the text ends within a value", "a = [1,\n"),
    "key twice": _at(
        2, "key 'version' is set twice, first in line 1. Keep the one that is meant", "version = 2\nversion = 2\n"
    ),
    "table twice": _adds(7, f"table [{RUNC}] is declared twice, first in line 3. Move", f"[{RUNC}]\n"),
    "inner key twice": _adds(7, "a key that the same braces have twice", "a = {b = 1, b = 2}\n"),
    "value and table": _adds(9, "a.b is a table here and a plain value in line 8", "[a]\nb=1\n[a.b]\nc=1\n"),
    "list and table": _adds(8, "a is a table and a list of tables, first in line 7", "[[a]]\n[a]\n"),
    "bare word": _adds(7, "a key without an equals sign and a value", "foo\n"),
    "no value": _adds(7, "a missing value, or a value that is not TOML", "foo =\n"),
    "value without quotes": _adds(7, "a missing value, or a value that is not TOML", "foo = bar\n"),
    "two values": _adds(7, "unexpected characters after a value", "a = 1 2\n"),
    "wrong escape": _adds(7, "a backslash in a text that is not an escape", 'a = "\\q"\n'),
    "impossible date": _adds(7, "unexpected characters after a value", "a = 2020-13-45\n"),
    "leading zero": _adds(7, "unexpected characters after a value", "a = 01\n"),
    "NUL byte": _adds(7, "a control character", b'a = "\0"\n'),
    "control character": _adds(7, "a control character", b"# \x07\n"),
    "bytes": _at(1, "a line that is neither a key with a value", bytes(range(256))),
    "UTF-16": _at(1, "a line that is neither a key with a value", RUNTIME_TEXT.encode("utf-16")),
    "carriage returns": _at(1, "unexpected characters after a value", RUNTIME_TEXT.replace("\n", "\r")),
    "YAML": _at(1, "a key without an equals sign and a value", "version: 2\nplugins: {}\n"),
    "JSON": _at(1, "a line that is neither a key with a value", '{"version": 2}'),
    "template left over": _adds(7, "a line that is neither a key with a value", "{% if x %}\n"),
    "merge conflict": _adds(7, "a line that is neither a key with a value", "<<<<<<< HEAD\n"),
    "lists without end": Case(
        "containerd_config",
        DRIVER,
        (f"{PATH}: nested too deeply", CORRECT),
        {RUNTIME: RUNTIME_TEXT + "a = " + "[" * 3000 + "]" * 3000 + "\n"},
    ),
    "keys without end": Case(
        "containerd_config",
        DRIVER,
        (f"{PATH}: nested too deeply", CORRECT),
        {RUNTIME: RUNTIME_TEXT + ".".join("a" * 1500) + " = 1\n"},
    ),
    "larger than any configuration": Case(
        "containerd_config",
        DRIVER,
        (f"{PATH}: was not read: it has ", "more than a configuration file may have", CORRECT),
        {RUNTIME: RUNTIME_TEXT + "# " + "x" * (1 << 20) + "\n"},
    ),
    "schema 0": _schema("1", "version = 0"),
    "schema 1": _schema("1", "version = 1"),
    "schema 9": _schema("9", "version = 9"),
    "schema below 0": _schema("-2", "version = -2"),
    "schema of a text": _schema("not an integer", 'version = "2"'),
    "schema of a fraction": _schema("not an integer", "version = 2.0"),
    "schema of a switch": _schema("not an integer", "version = true"),
    "schema of a list": _schema("not an integer", "version = [2]"),
    "no schema": _schema("1", ""),
    "plugins are a text": _shape(2, TYPE, 'version = 2\nplugins = "x"\n'),
    "plugins are a list": _shape(2, TYPE, 'version = 2\nplugins = ["x"]\n'),
    "plugin is a text": _shape(3, TYPE, 'version = 2\n[plugins]\n"io.containerd.grpc.v1.cri" = "x"\n'),
    "containerd is a number": _shape(3, TYPE, f"version = 2\n[{CRI}]\ncontainerd = 5\n"),
    "runtimes are a text": _shape(3, TYPE, f'version = 2\n[{CRI}.containerd]\nruntimes = "runc"\n'),
    "runtimes are a list": _shape(2, BY_HAND, f"version = 2\n[[{CRI}.containerd.runtimes]]\na=1\n"),
    "runc is a text": _shape(3, TYPE, f'version = 2\n[{CRI}.containerd.runtimes]\nrunc = "x"\n'),
    "options are a text": _shape(
        4, TYPE, f'version = 2\n[{RUNC}]\nruntime_type = "io.containerd.runc.v2"\noptions = "x"\n'
    ),
    "options are a list": _shape(7, BY_HAND, f"{RUNTIME_TEXT}[[{RUNC}.options]]\na=1\n"),
    "driver is a table": _shape(7, "SystemdCgroup is a table", f"{RUNTIME_TEXT}[{RUNC}.options.SystemdCgroup]\na=1\n"),
    "NRI is a text": _shape(3, TYPE, f'version = 2\n[plugins]\n{PLUGIN} = "x"\n', NRI),
    "NRI is a list": _shape(7, BY_HAND, f"{RUNTIME_TEXT}[[plugins.{PLUGIN}]]\na=1\n", NRI),
    "NRI's switch is a table": _shape(7, "disable is a table", f"{RUNTIME_TEXT}[plugins.{PLUGIN}.disable]\na=1\n", NRI),
    "disabled plugins are a text": Case(
        "containerd_config",
        DRIVER,
        (f"{PATH}: disabled_plugins is not a list of strings; containerd does not start", "Correct the value"),
        {RUNTIME: f'disabled_plugins = "cri"\n{RUNTIME_TEXT}'},
    ),
    "required plugins are numbers": Case(
        "containerd_config",
        DRIVER,
        (f"{PATH}: required_plugins is not a list of strings; containerd does not start", "Correct the value"),
        {RUNTIME: f"required_plugins = [5]\n{RUNTIME_TEXT}"},
    ),
    "plugin of another schema": Case(
        "containerd_config",
        DRIVER,
        (f'{PATH}: "cri" is not the name of a plugin in schema 2', "Correct the file first"),
        {RUNTIME: 'version = 2\n[plugins.cri.containerd.runtimes.runc]\nruntime_type="io.containerd.runc.v2"\n'},
    ),
    "default runtime of no name": Case(
        "containerd_config",
        DRIVER,
        (f'{PATH}: default_runtime_name = "nope"; the CRI plugin would not start', "Correct the file first"),
        {RUNTIME: f'{RUNTIME_TEXT}[{CRI}.containerd]\ndefault_runtime_name = "nope"\n'},
    ),
    "imports what is not there": _imports("/etc/containerd/none.toml does not exist", 'imports = ["none.toml"]'),
    "imports a pattern that is none": _imports("/etc/containerd/[.toml does not exist", 'imports = ["[.toml"]'),
    "imports a text": _imports("imports is not a list of strings; containerd does not start with it", 'imports = "/x"'),
    "imports a number": _imports(
        "imports is not a list of strings; containerd does not start with it", "imports = [5]"
    ),
    "imports a name with NUL": _imports("which was not read. Import fewer", 'imports = ["/etc/x\\u0000.toml"]'),
    "imports a directory": _imports(NOT_READ, 'imports = ["/etc/containerd"]'),
    "imports what imports it": _imports(NOT_READ, IMPORTED, {X: 'version = 2\nimports = ["config.toml"]\n'}),
    "imports no TOML": _imports(NOT_READ, IMPORTED, {X: "a = [\n"}),
    "imports bytes": _imports(NOT_READ, IMPORTED, {X: bytes(range(256))}),
    "imports two MiB": _imports(NOT_READ, IMPORTED, {X: "# " + "x" * (1 << 21)}),
    "imports a chain": _imports(
        NOT_READ,
        'imports = ["c0.toml"]',
        {f"etc/containerd/c{n}.toml": f'version = 2\nimports = ["c{n + 1}.toml"]\n' for n in range(100)},
    ),
    "link in its place": Case(
        "containerd_config", DRIVER, (f"{PATH}: is a symbolic link", "replace the link with the file"), spoil=_link
    ),
    "directory in its place": Case(
        "containerd_config", DRIVER, (f"{PATH}: is a directory, not a regular file", CORRECT), spoil=_directory
    ),
}
