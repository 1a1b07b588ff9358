# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's main file: invalid YAML, values that kubelet does not decode, texts that cannot be edited, not a file."""

from __future__ import annotations

import os
from pathlib import Path

from ansible_collections.volcano.colocation.tests.support.tasks.node_image import KUBELET, KUBELET_TEXT
from ansible_collections.volcano.colocation.tests.unit.malformed.case import Case, Text, as_it_is

DRIVER = {"cgroup_driver": "systemd"}
PATH = f"/{KUBELET}"
CORRECT = "Until then the file is not changed."
AS_JSON = "begins with {, so kubelet reads it as JSON, which does not allow this:"
NOT_YAML = "a character that YAML does not allow"


def _at(line: int | None, message: str, text: Text) -> Case:
    """A text that is wrong in one line, or as a whole."""
    place = PATH if line is None else f"{PATH}:{line}"
    return Case("kubelet_config", DRIVER, (f"Nothing was changed. {place}: {message}", CORRECT), {KUBELET: text})


def _adds(line: int, message: str, lines: str) -> Case:
    """Lines after the eight lines of a valid file."""
    return _at(line, message, KUBELET_TEXT + lines)


def _twice(line: int, key: str, text: Text) -> Case:
    """kubelet uses the last one; other errors of the file are named too."""
    return Case("kubelet_config", DRIVER, (f"{PATH}:{line}: key '{key}' is set twice", CORRECT), {KUBELET: text})


def _bytes(added: bytes) -> Case:
    return _at(9, NOT_YAML, KUBELET_TEXT.encode() + b"a: " + added + b"\n")


def _field(line: str, message: str, place: str = "") -> Case:
    """A field that the task does not change, of a type that kubelet does not decode."""
    name = place or line.partition(":")[0]
    says = (
        f"{PATH}:9: kubelet does not start with this file: {name} is not {message}",
        "Correct the value, or remove it.",
    )
    return Case("kubelet_config", DRIVER, says, {KUBELET: f"{KUBELET_TEXT}{line}\n"})


def _kubelet_would_not_start(message: str, line: str) -> Case:
    """A value with which kubelet would not start."""
    says = (f"Nothing was changed. {PATH}", message, f"({PATH})")
    return Case("kubelet_config", DRIVER, says, {KUBELET: f"{KUBELET_TEXT}{line}\n"})


def _driver(line: int, message: str, text: str) -> Case:
    """The line of the driver, in a form that a splice cannot change."""
    changed = KUBELET_TEXT.replace("cgroupDriver: cgroupfs # the old one", text)
    return Case("kubelet_config", DRIVER, (f"Nothing was changed. {PATH}:{line}: ", message), {KUBELET: changed})


def _head(message: str, text: str) -> Case:
    says = (f"Nothing was changed. {PATH}: kubelet does not start with this file: {message}", "Begin it with the lines")
    return Case("kubelet_config", DRIVER, says, {KUBELET: text})


def _directory(root: Path) -> None:
    (root / KUBELET).unlink()
    (root / KUBELET).mkdir()


def _pipe(root: Path) -> None:
    (root / KUBELET).unlink()
    os.mkfifo(root / KUBELET)


def _dangling(root: Path) -> None:
    (root / KUBELET).unlink()
    (root / KUBELET).symlink_to("none.yaml")


def _itself(root: Path) -> None:
    (root / KUBELET).unlink()
    (root / KUBELET).symlink_to("config.yaml")


ALIASES = "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 10)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)

CASES = {
    "tab as indentation": _at(
        2, "a tab in the indentation. Indent by spaces.", "kind: KubeletConfiguration\n\tcgroupDriver: x\n"
    ),
    "tab in a mapping": _adds(10, "a tab in the indentation, or a value that begins with", "kubeReserved:\n\tcpu: 1\n"),
    "quote never closed": _adds(10, "a text without its closing quote", 'a: "x\n'),
    "mapping never closed": _adds(10, "a mapping in braces without its comma or closing brace", "a: {b: 1\n"),
    "list never closed": _adds(10, "a list in brackets without its comma or closing bracket", "a: [1\n"),
    "bracket never opened": _adds(9, "a closing bracket or another sign where a value must be", "a: ]\n"),
    "wrong indentation": _at(2, "a second colon on this line", "kind: KubeletConfiguration\n  a: b\n"),
    "half dedented": _at(3, "a line that is indented differently", "evictionHard:\n    a: 1\n  b: 2\n"),
    "two documents": _adds(9, "a second document in one file", "---\na: b\n"),
    "text behind the end": _adds(10, "text after the end of the document", "...\nfoo\n"),
    "a list": _at(1, "the document is not a mapping", "- a\n- b\n"),
    "one word": _at(1, "the document is not a mapping", "hello\n"),
    "no space behind the colon": _at(1, "the document is not a mapping", "cgroupDriver:cgroupfs\n"),
    "key twice": _adds(
        9, "key 'cgroupDriver' is set twice, first in line 4. Keep the one that is meant", "cgroupDriver: systemd\n"
    ),
    "inner key twice": _twice(11, "cpu", KUBELET_TEXT + "systemReserved:\n  cpu: 1\n  cpu: 2\n"),
    "alias of nothing": _adds(9, "undefined alias *x", "a: *x\n"),
    "alias of itself": _adds(9, "undefined alias *a", "a: &a [*a]\n"),
    "aliases without end": _at(5, "more than 100000 values", "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + ALIASES),
    "lists without end": _adds(9, "nested deeper than 100 levels", "a: " + "[" * 3000 + "]" * 3000 + "\n"),
    "mappings without end": _adds(9, "nested deeper than 100 levels", "a: " + "{b: " * 3000 + "1" + "}" * 3000 + "\n"),
    "merge of a number": _adds(9, "a merge key needs a mapping", "<<: 5\n"),
    "list as a key": _adds(9, "a key that is not a plain name", "? [a, b]\n: c\n"),
    "template left over": _adds(9, "a key that is not a plain name", "a: {{ driver }}\n"),
    "unknown tag": _adds(9, "the tag !x is not supported", "a: !x 5\n"),
    "other YAML version": _at(1, "a directive that is not supported", "%YAML 9.9\n---\n" + KUBELET_TEXT),
    "unknown directive": _at(1, "a directive that is not supported", "%FOO\n---\n" + KUBELET_TEXT),
    "reserved character": _adds(
        9, "a tab in the indentation, or a value that begins with a reserved character", "a: @x\n"
    ),
    "two values in a line": _adds(9, "a second colon on this line", "a: b: c\n"),
    "merge conflict": _adds(
        10, "a line, here or right above, that is not a key", "<<<<<<< HEAD\na: b\n=======\n>>>>>>> x\n"
    ),
    "NUL byte": _bytes(b"\0"),
    "Latin-1": _bytes(b"caf\xe9"),
    "half a surrogate": _bytes(b"\xed\xa0\x80"),
    "control character": _bytes(b"\x07"),
    "UTF-16": _at(1, NOT_YAML, KUBELET_TEXT.encode("utf-16")),
    "a program": _at(1, NOT_YAML, b"\x7fELF" + bytes(100)),
    "compressed": _at(1, NOT_YAML, b"\x1f\x8b\x08\0\0"),
    "byte order mark in the middle": _adds(9, "a line that is indented differently", "\ufeffa: 5\n"),
    "CRLF and a list never closed": _at(
        10, "a closing bracket or another sign", (KUBELET_TEXT + "a: [\n").replace("\n", "\r\n")
    ),
    "JSON cut off": _at(1, f"{AS_JSON} a missing comma, or a missing closing", '{"kind": "KubeletConfiguration"'),
    "JSON key twice": _twice(2, "a", '{"a": "b",\n "a": "c"}'),
    "JSON inner key twice": _twice(2, "cpu", '{"systemReserved":\n[{"cpu": "1", "cpu": "2"}]}'),
    "JSON with a comment": _at(
        2, f"{AS_JSON} a key without double quotes", '{"kind": "KubeletConfiguration",\n# x\n"a": 1}'
    ),
    "JSON with a comma too many": _at(
        2, f"{AS_JSON} a key without double quotes", '{"kind": "KubeletConfiguration",\n}'
    ),
    "JSON and more": _at(
        2, f"{AS_JSON} text after the end of the document", '{"kind": "KubeletConfiguration"}\nfoo: 1\n'
    ),
    "JSON without end": _at(None, "nested deeper than 100 levels", '{"a":' * 3000 + "1" + "}" * 3000),
    "JSON with a number that is none": _at(2, f"{AS_JSON} NaN", '{"a": "NaN",\n"b": NaN}'),
    "JSON in Latin-1": _at(1, "a character that JSON does not allow", b'{"a": "caf\xe9"}'),
    "flow style": _at(
        1, f"{AS_JSON} a key without double quotes", "{kind: KubeletConfiguration, cgroupDriver: cgroupfs}\n"
    ),
    "flow style behind empty lines": _at(
        3, f"{AS_JSON} a key without double quotes", "\n\n{kind: KubeletConfiguration}\n"
    ),
    "larger than any configuration": Case(
        "kubelet_config",
        DRIVER,
        (
            f"Nothing was changed. {PATH}: was not read: it has 1048577 bytes, more than",
            CORRECT,
            "Take out what is not configuration",
        ),
        {KUBELET: KUBELET_TEXT.ljust(1 << 20, "#") + "\n"},
    ),
    "empty": _head("apiVersion is not kubelet.config.k8s.io/v1beta1; kind is not", ""),
    "comments alone": _head("apiVersion is not", "# x\n"),
    "null": _head("apiVersion is not", "null\n"),
    "another kind": _head("kind is not KubeletConfiguration", KUBELET_TEXT.replace("KubeletC", "ClusterC")),
    "another version": _head("apiVersion is not", KUBELET_TEXT.replace("v1beta1", "v9")),
    "a list of kinds": _head("kind is not", KUBELET_TEXT.replace("KubeletConfiguration", "[KubeletConfiguration]")),
    "kubeconfig in its place": _head("apiVersion is not", "apiVersion: v1\nkind: Config\nclusters: []\n"),
    "driver with an anchor": _driver(4, "Write its value out plainly", "cgroupDriver: &d cgroupfs\nx: *d"),
    "driver with a tag": _driver(4, "Write its value out plainly", "cgroupDriver: !!str cgroupfs"),
    "driver is a mapping": _driver(4, "Delete or correct this key", "cgroupDriver: {a: b}"),
    "bare carriage returns": Case(
        "kubelet_config",
        DRIVER,
        (f"Nothing was changed. {PATH}:", "cgroupDriver does not begin its line", "Write it as a plain"),
        {KUBELET: KUBELET_TEXT.replace("\n", "\r")},
    ),
    "gates are a text": _field("featureGates: all", "a mapping of names to true or false"),
    "a gate is a word": _field("featureGates: {A: maybe}", "true or false", "featureGates.A"),
    "gates are a list": _field("featureGates: [A]", "a mapping of names to true or false"),
    "options are a list": _field("cpuManagerPolicyOptions: [a]", "a mapping of names to strings"),
    "options are a text": _field("topologyManagerPolicyOptions: x", "a mapping of names to strings"),
    "pids are a word": _field("podPidsLimit: many", "a whole number in the range of its type"),
    "pids are a fraction": _field("podPidsLimit: 1.5", "a whole number in the range of its type"),
    "pids are too many": _field("podPidsLimit: 99999999999999999999", "a whole number in the range of its type"),
    "pids are infinite": _field("podPidsLimit: .inf", "a whole number in the range of its type"),
    "port is a name": _field("readOnlyPort: http", "a whole number in the range of its type"),
    "port is a list": _field("readOnlyPort: [10255]", "a whole number in the range of its type"),
    "factor is a word": _field("memoryThrottlingFactor: lots", "a number"),
    "switch is a word": _field("failCgroupV1: maybe", "true or false"),
    "switch is a number": _field("cgroupsPerQOS: 1", "true or false"),
    "switch is a list": _field("failSwapOn: [true]", "true or false"),
    "root is a number": _field("cgroupRoot: 5", "a string"),
    "root is a list": _field("cgroupRoot: [a]", "a string"),
    "static pods are a list": _field("staticPodPath: [a]", "a string"),
    "scope is a mapping": _field("topologyManagerScope: {a: b}", "a string"),
    "unknown policy": _kubelet_would_not_start(
        "kubelet does not know cpuManagerPolicy dynamic", "cpuManagerPolicy: dynamic"
    ),
    "policy in small letters": _kubelet_would_not_start(
        "kubelet does not know memoryManagerPolicy static", "memoryManagerPolicy: static"
    ),
    "reservation is a text": _kubelet_would_not_start(
        "systemReserved is not a table of resources", "systemReserved: cpu=1"
    ),
    "reservation is a list": _kubelet_would_not_start(
        "kubeReserved is not a table of resources", "kubeReserved: [cpu]"
    ),
    "reservation is a number": _kubelet_would_not_start(
        "systemReserved.cpu is not a string", "systemReserved: {cpu: -1}"
    ),
    "amount is a word": _kubelet_would_not_start("'lots' is not a Kubernetes quantity", "systemReserved: {cpu: lots}"),
    "amount is beyond 64 bits": _kubelet_would_not_start("does not fit in 64 bits", "systemReserved: {cpu: 1e400}"),
    "amount has a wrong unit": _kubelet_would_not_start(
        "'1GB' is not a Kubernetes quantity", "systemReserved: {memory: 1GB}"
    ),
    "exponent is absurd": _kubelet_would_not_start(
        "'1E999999999' is not a Kubernetes quantity", "kubeReserved: {memory: 1E999999999}"
    ),
    "CPUs run backwards": _kubelet_would_not_start("5-1 runs backwards", "reservedSystemCPUs: 5-1"),
    "CPUs without end": _kubelet_would_not_start(
        "CPU 999999999999 does not exist", "reservedSystemCPUs: 0-999999999999"
    ),
    "CPUs half": _kubelet_would_not_start("'0-' is not a CPU list", "reservedSystemCPUs: 0-"),
    "memory is a word": _kubelet_would_not_start("reservedMemory is not a list", "reservedMemory: all"),
    "memory without limits": _kubelet_would_not_start("has an entry without limits", "reservedMemory: [{numaNode: 0}]"),
    "directory in its place": Case(
        "kubelet_config", DRIVER, (f"{PATH}: is a directory, not a regular file", CORRECT), spoil=_directory
    ),
    "pipe in its place": Case(
        "kubelet_config", DRIVER, (f"{PATH}: is a special file, not a regular file", CORRECT), spoil=_pipe
    ),
    "link to nothing": Case(
        "kubelet_config", DRIVER, (f"{PATH}: is a symbolic link", "replace the link with the file"), spoil=_dangling
    ),
    "link to itself": Case(
        "kubelet_config", DRIVER, (f"{PATH}: is a symbolic link", "replace the link with the file"), spoil=_itself
    ),
    "not there": Case(
        "kubelet_config", DRIVER, (f"{PATH}: kubelet runs without this file", "--config"), {KUBELET: None}, as_it_is
    ),
}
