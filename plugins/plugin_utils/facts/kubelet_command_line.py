# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's running and next command line, converted to values of its fields."""

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
    # By flag: the first version that does not start with it (``unknown flag``).
    # CHANGELOG-1.24, kubernetes#106907: removed with dockershim
    "--experimental-dockershim-root-directory": ((1, 24), "kubernetes#106907"),
    "--docker-endpoint": ((1, 24), "kubernetes#106907"),
    "--image-pull-progress-deadline": ((1, 24), "kubernetes#106907"),
    "--network-plugin": ((1, 24), "kubernetes#106907"),
    "--network-plugin-mtu": ((1, 24), "kubernetes#106907"),
    "--cni-conf-dir": ((1, 24), "kubernetes#106907"),
    "--cni-bin-dir": ((1, 24), "kubernetes#106907"),
    "--cni-cache-dir": ((1, 24), "kubernetes#106907"),
    # CHANGELOG-1.26, kubernetes#112120, KEP-2845: of klog's flags only -v and --vmodule remain
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
"""A word of a command line and its source."""


def parse_flags(line: Sequence[Word]) -> tuple[Flag, ...]:
    """The long flags of a command line, ``--name=value`` or ``--name value``; ``_`` in a name is ``-`` (pflag)."""
    flags = []
    for position, (word, source) in enumerate(line):
        if not word.startswith("--") or word == "--":
            continue
        name, equals, value = word.partition("=")
        following = line[position + 1][0] if position + 1 < len(line) else None
        flags.append(Flag(name.replace("_", "-"), value if equals else following, source))
    return tuple(flags)


def parse_running_flags(argv: Sequence[str]) -> tuple[Flag, ...]:
    """Flags of the running kubelet."""
    return parse_flags([(word, "kubelet's command line") for word in argv])


def parse_next_line(evidence: Mapping[str, Any]) -> tuple[Word, ...]:
    """The command line of kubelet's unit with expanded variables; empty if no unit that starts kubelet was recorded.

    systemd.service(5): an empty ExecStart= resets; $NAME as a whole word is split at whitespace, ${NAME} is not.
    EnvironmentFile= overrides Environment=, a later file an earlier one; UnsetEnvironment= overrides both, before
    variables are expanded (systemd src/core/exec-invoke.c, exec_invoke). A colon before the program disables expansion.
    """
    texts = {path: evidence["files"].get(path, {}).get("text") for path in evidence.get("unit_files", ())}
    paths = _expand_patterns(_environment_paths(texts), evidence)
    if None in texts.values() or not all(_is_readable(path, evidence["files"]) for path in paths):
        return ()
    variables = _read_variables(texts, paths, evidence["files"])
    command: tuple[str, str] | None = None
    for path, text in texts.items():
        for key, value in section_settings(text or ""):
            if key == "ExecStart":
                command = (value, path) if value else None
    if command is None:
        return ()
    prefix = command[0][: len(command[0]) - len(command[0].lstrip("@-:+!|"))]
    line = _expand_variables(command[0][len(prefix) :], command[1], None if ":" in prefix else variables)
    return line if line and line[0][0].rpartition("/")[2] in PROGRAMS else ()


def parse_environment_flags(evidence: Mapping[str, Any]) -> tuple[Flag, ...]:
    """Flags in KUBELET_*ARGS of all recorded environment files."""
    line = [
        (word, f"{name} in {path}")
        for path in evidence.get("environment_files", ())
        for name, value in parse_environment(evidence["files"].get(path, {}).get("text", "")).items()
        if _ARGUMENTS.fullmatch(name)
        for word in split_words(value)
    ]
    return parse_flags(line)


def _environment_paths(texts: Mapping[str, str | None]) -> list[str]:
    """The environment files of a unit in the order in which they are read; an empty EnvironmentFile= resets."""
    paths: list[str] = []
    for text in texts.values():
        for value in environment_files(text or ""):
            paths = [*paths, value.lstrip("-")] if value else []
    return paths


def _expand_patterns(paths: Sequence[str], evidence: Mapping[str, Any]) -> list[str]:
    """The paths; each pattern is replaced by its files, except a pattern whose files are unknown."""
    expanded: list[str] = []
    for path in paths:
        known = evidence["files"].get(path, {})
        if is_pattern(path) and known.get("kind") == "pattern" and "error" not in known:
            expanded += sorted(
                candidate for candidate in evidence.get("environment_files", ()) if matches_pattern(candidate, path)
            )
        else:
            expanded.append(path)
    return expanded


def _is_readable(path: str, files: Mapping[str, Any]) -> bool:
    """Whether the content of a file is known; that of paths with specifiers and of unrecorded files is not."""
    return path in files and (files[path].get("kind") == "missing" or "text" in files[path])


def _read_variables(texts: Mapping[str, str | None], paths: Sequence[str], files: Mapping[str, Any]) -> dict[str, Word]:
    """The variables of the unit, with their values and sources."""
    variables: dict[str, Word] = {}
    for unit, text in texts.items():
        for key, value in section_settings(text or ""):
            if key == "Environment":
                assignments = [assignment.partition("=") for assignment in split_words(value)]
                variables = {
                    **variables,
                    **{name: (assigned_value, f"{name} in {unit}") for name, _equals, assigned_value in assignments},
                }
                variables = variables if value else {}
    for path in paths:
        values = parse_environment(files[path].get("text", ""))
        variables.update({name: (value, f"{name} in {path}") for name, value in values.items()})
    unset = _unset_names(texts)
    return {name: word for name, word in variables.items() if not {name, f"{name}={word[0]}"} & unset}


def _unset_names(texts: Mapping[str, str | None]) -> set[str]:
    """The names, or NAME=VALUE pairs, of UnsetEnvironment=; an empty UnsetEnvironment= resets."""
    names: set[str] = set()
    for text in texts.values():
        for key, value in section_settings(text or ""):
            if key == "UnsetEnvironment":
                names = {*names, *split_words(value)} if value else set()
    return names


def _expand_variables(command: str, path: str, variables: Mapping[str, Word] | None) -> tuple[Word, ...]:
    """The words of a command; empty if it exceeds the longest command line. ``variables`` None: do not expand."""
    line: list[Word] = []
    size = 0
    for word in split_words(command):
        if variables is None:
            line.append((word, path))
            continue
        names = [match[1] or match[2] for match in _VARIABLE.finditer(word)]
        size += len(word) + sum(len(variables[name][0]) for name in names if name in variables)
        if size > LONGEST:
            return ()
        whole = re.fullmatch(r"\$(\w+)", word)
        if whole:
            value, source = variables.get(whole[1], ("", path))
            line += [(part, source) for part in split_words(value)]
        else:
            line.append((_VARIABLE.sub(lambda match: variables.get(match[1] or match[2], ("", ""))[0], word), path))
    return tuple(line)


def flag_value(field: KubeletField, flags: Sequence[Flag]) -> Any:
    """The value of a field's flags, in the type of kubelet's file; None without a flag. Texts keep their quotes."""
    field_flags = [flag for flag in flags if flag.name == field.flag]
    if not field_flags:
        return None
    if field.type is FieldType.SWITCH:
        return _parse_switch(field_flags[-1])
    texts = [flag.value or "" for flag in field_flags]
    if field.type is FieldType.TABLE:
        return dict(_split_pair(item, "=") for text in texts for item in text.split(",") if item)
    if field.type is FieldType.THRESHOLDS:
        return dict(_split_pair(item, "<") for text in texts for item in text.split(",") if item)
    if field.type is FieldType.LIST:
        return [item for text in texts for item in text.split(",") if item]
    if field.type is FieldType.MEMORY:
        return [_parse_reserved_memory(item) for text in texts for item in text.split(";") if item]
    return field_flags[-1].value


def _parse_switch(flag: Flag) -> Any:
    """A boolean flag: pflag does not read the following word as its value; without ``=`` it means true."""
    value = "true" if flag.value is None or flag.value.startswith("-") else flag.value
    return {"true": True, "1": True, "t": True, "false": False, "0": False, "f": False}.get(value.lower(), True)


def _split_pair(text: str, separator: str) -> tuple[str, str]:
    key, _separator, value = text.partition(separator)
    return key.strip(), value.strip()


def _parse_reserved_memory(text: str) -> dict[str, Any]:
    """``0:memory=1Gi,hugepages-2Mi=2Gi`` of --reserved-memory, options.go ReservedMemoryVar."""
    node, _colon, limits = text.partition(":")
    return {"numaNode": node, "limits": dict(_split_pair(item, "=") for item in limits.split(",") if item)}


def flag_values(flags: Sequence[Flag]) -> dict[str, Any]:
    """The values of all observed fields that a flag sets."""
    values = {field.key: flag_value(field, flags) for field in OBSERVED}
    return {key: value for key, value in values.items() if value is not None}


def flag_source(field: KubeletField, flags: Sequence[Flag]) -> str:
    """The source of the flag that sets a field."""
    return next(f"{flag.source}, {flag.name}" for flag in reversed(flags) if flag.name == field.flag)
