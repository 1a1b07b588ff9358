# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's command line, the one it runs with and the one its unit would start next, as values of its fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils.systemd.unit_syntax import (
    LONGEST,
    environment_files,
    is_pattern,
    matches_pattern,
    parse_environment,
    section_settings,
    split_words,
)
from ..profile.field_schema import FieldType, KubeletField
from ..profile.kubelet_fields import OBSERVED
from .kubelet_state import Flag

REMOVED_FLAGS: dict[str, tuple[tuple[int, int], str]] = {
    # By flag: since when kubelet does not start with it (``unknown flag``).
    # CHANGELOG-1.24, kubernetes#106907: gone with dockershim
    "--experimental-dockershim-root-directory": ((1, 24), "kubernetes#106907"),
    "--docker-endpoint": ((1, 24), "kubernetes#106907"),
    "--image-pull-progress-deadline": ((1, 24), "kubernetes#106907"),
    "--network-plugin": ((1, 24), "kubernetes#106907"),
    "--network-plugin-mtu": ((1, 24), "kubernetes#106907"),
    "--cni-conf-dir": ((1, 24), "kubernetes#106907"),
    "--cni-bin-dir": ((1, 24), "kubernetes#106907"),
    "--cni-cache-dir": ((1, 24), "kubernetes#106907"),
    # CHANGELOG-1.26, kubernetes#112120, KEP-2845: of klog only -v and --vmodule stay
    "--add-dir-header": ((1, 26), "kubernetes#112120"),
    "--alsologtostderr": ((1, 26), "kubernetes#112120"),
    "--log-backtrace-at": ((1, 26), "kubernetes#112120"),
    "--log-dir": ((1, 26), "kubernetes#112120"),
    "--log-file": ((1, 26), "kubernetes#112120"),
    "--log-file-max-size": ((1, 26), "kubernetes#112120"),
    "--logtostderr": ((1, 26), "kubernetes#112120"),
    "--one-output": ((1, 26), "kubernetes#112120"),
    "--skip-headers": ((1, 26), "kubernetes#112120"),
    "--skip-log-headers": ((1, 26), "kubernetes#112120"),
    "--stderrthreshold": ((1, 26), "kubernetes#112120"),
    # blog 2023-03-17, upcoming changes in Kubernetes v1.27; minikube#16112
    "--container-runtime": ((1, 27), "minikube#16112"),
    # kubernetes#133779, kubeadm#3281
    "--pod-infra-container-image": ((1, 35), "kubernetes#133779"),
}


_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ARGUMENTS = re.compile(r"KUBELET_\w*ARGS")
PROGRAMS = ("kubelet", "hyperkube")


Word = tuple[str, str]
"""A word of a command line and where it stands."""


def flags(line: Sequence[Word]) -> tuple[Flag, ...]:
    """The long flags of a command line, ``--name=value`` or ``--name value``; ``_`` in a name is ``-`` (pflag)."""
    found = []
    for position, (word, source) in enumerate(line):
        if not word.startswith("--") or word == "--":
            continue
        name, equals, value = word.partition("=")
        following = line[position + 1][0] if position + 1 < len(line) else None
        found.append(Flag(name.replace("_", "-"), value if equals else following, source))
    return tuple(found)


def running_flags(argv: Sequence[str]) -> tuple[Flag, ...]:
    """Flags of the running kubelet."""
    return flags([(word, "kubelet's command line") for word in argv])


def next_line(evidence: Mapping[str, Any]) -> tuple[Word, ...]:
    """The command line of kubelet's unit with its environment put in; empty when no unit that starts kubelet was seen.

    systemd.service(5): an empty ExecStart= resets; $NAME alone is split at white space, ${NAME} is not.
    EnvironmentFile= beats Environment=, the later file the earlier one; UnsetEnvironment= beats both, before variables
    are put in (systemd src/core/exec-invoke.c, exec_invoke). A colon before the program leaves them as they are.
    """
    texts = {path: evidence["files"].get(path, {}).get("text") for path in evidence.get("unit_files", ())}
    paths = _matching(_environment_paths(texts), evidence)
    if None in texts.values() or not all(_readable(path, evidence["files"]) for path in paths):
        return ()
    variables = _variables(texts, paths, evidence["files"])
    command: tuple[str, str] | None = None
    for path, text in texts.items():
        for key, value in section_settings(text or ""):
            if key == "ExecStart":
                command = (value, path) if value else None
    if command is None:
        return ()
    prefix = command[0][: len(command[0]) - len(command[0].lstrip("@-:+!|"))]
    line = _expanded(command[0][len(prefix) :], command[1], None if ":" in prefix else variables)
    return line if line and line[0][0].rpartition("/")[2] in PROGRAMS else ()


def environment_flags(evidence: Mapping[str, Any]) -> tuple[Flag, ...]:
    """Flags in KUBELET_*ARGS of every environment file that was seen."""
    line = [
        (word, f"{name} in {path}")
        for path in evidence.get("environment_files", ())
        for name, value in parse_environment(evidence["files"].get(path, {}).get("text", "")).items()
        if _ARGUMENTS.fullmatch(name)
        for word in split_words(value)
    ]
    return flags(line)


def _environment_paths(texts: Mapping[str, str | None]) -> list[str]:
    """The environment files of a unit in the order in which they are read; an empty one resets."""
    paths: list[str] = []
    for text in texts.values():
        for value in environment_files(text or ""):
            paths = [*paths, value.lstrip("-")] if value else []
    return paths


def _matching(paths: Sequence[str], evidence: Mapping[str, Any]) -> list[str]:
    """The paths with the files of each pattern in its place; a pattern whose files are not known stays."""
    found: list[str] = []
    for path in paths:
        known = evidence["files"].get(path, {})
        if is_pattern(path) and known.get("kind") == "pattern" and "error" not in known:
            found += sorted(each for each in evidence.get("environment_files", ()) if matches_pattern(each, path))
        else:
            found.append(path)
    return found


def _readable(path: str, files: Mapping[str, Any]) -> bool:
    """Whether what is in a file is known: specifiers and what could not be taken along are not."""
    return path in files and (files[path].get("kind") == "missing" or "text" in files[path])


def _variables(texts: Mapping[str, str | None], paths: Sequence[str], files: Mapping[str, Any]) -> dict[str, Word]:
    """Each variable of the unit with its value and the file that gives it."""
    inline: dict[str, Word] = {}
    for unit, text in texts.items():
        for key, value in section_settings(text or ""):
            if key == "Environment":
                assigned = [each.partition("=") for each in split_words(value)]
                inline = {**inline, **{name: (given, f"{name} in {unit}") for name, _equals, given in assigned}}
                inline = inline if value else {}
    for path in paths:
        found = parse_environment(files[path].get("text", ""))
        inline.update({name: (value, f"{name} in {path}") for name, value in found.items()})
    unset = _unset(texts)
    return {name: word for name, word in inline.items() if not {name, f"{name}={word[0]}"} & unset}


def _unset(texts: Mapping[str, str | None]) -> set[str]:
    """Names, or names with the value that they must have, of UnsetEnvironment=; an empty one resets."""
    found: set[str] = set()
    for text in texts.values():
        for key, value in section_settings(text or ""):
            if key == "UnsetEnvironment":
                found = {*found, *split_words(value)} if value else set()
    return found


def _expanded(command: str, path: str, variables: Mapping[str, Word] | None) -> tuple[Word, ...]:
    """The words of a command; () where its variables would make it longer than any command line. None: it has none."""
    line: list[Word] = []
    size = 0
    for word in split_words(command):
        if variables is None:
            line.append((word, path))
            continue
        names = [found[1] or found[2] for found in _VARIABLE.finditer(word)]
        size += len(word) + sum(len(variables[name][0]) for name in names if name in variables)
        if size > LONGEST:
            return ()
        whole = re.fullmatch(r"\$(\w+)", word)
        if whole:
            value, source = variables.get(whole[1], ("", path))
            line += [(each, source) for each in split_words(value)]
        else:
            line.append((_VARIABLE.sub(lambda found: variables.get(found[1] or found[2], ("", ""))[0], word), path))
    return tuple(line)


def flag_value(field: KubeletField, found: Sequence[Flag]) -> Any:
    """What a field's flags say in the shape the file would have it; None without one. Texts keep their quotes."""
    given = [flag for flag in found if flag.name == field.flag]
    if not given:
        return None
    if field.type is FieldType.SWITCH:
        return _switch(given[-1])
    texts = [flag.value or "" for flag in given]
    if field.type is FieldType.TABLE:
        return dict(_pair(each, "=") for text in texts for each in text.split(",") if each)
    if field.type is FieldType.THRESHOLDS:
        return dict(_pair(each, "<") for text in texts for each in text.split(",") if each)
    if field.type is FieldType.LIST:
        return [each for text in texts for each in text.split(",") if each]
    if field.type is FieldType.MEMORY:
        return [_reserved_memory(each) for text in texts for each in text.split(";") if each]
    return given[-1].value


def _switch(flag: Flag) -> Any:
    """pflag takes no following word for a switch's value; without ``=`` it means true."""
    value = "true" if flag.value is None or flag.value.startswith("-") else flag.value
    return {"true": True, "1": True, "t": True, "false": False, "0": False, "f": False}.get(value.lower(), True)


def _pair(text: str, separator: str) -> tuple[str, str]:
    key, _separator, value = text.partition(separator)
    return key.strip(), value.strip()


def _reserved_memory(text: str) -> dict[str, Any]:
    """``0:memory=1Gi,hugepages-2Mi=2Gi`` of --reserved-memory, options.go ReservedMemoryVar."""
    node, _colon, limits = text.partition(":")
    return {"numaNode": node, "limits": dict(_pair(each, "=") for each in limits.split(",") if each)}


def flag_values(found: Sequence[Flag]) -> dict[str, Any]:
    """Every observed field that a flag sets."""
    values = {field.key: flag_value(field, found) for field in OBSERVED}
    return {key: value for key, value in values.items() if value is not None}


def flag_source(field: KubeletField, found: Sequence[Flag]) -> str:
    """Who gives the flag of a field that has one."""
    return next(f"{flag.source}, {flag.name}" for flag in reversed(found) if flag.name == field.flag)
