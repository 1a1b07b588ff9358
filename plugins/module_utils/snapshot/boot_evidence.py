# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the next kernel command line: only the parameters in boot loader files that concern cgroups."""

from __future__ import annotations

import re

from ..host import Host
from .file_evidence import capture, list_names

CGROUP_PARAMETERS = frozenset(
    {
        "systemd.unified_cgroup_hierarchy",
        "systemd.legacy_systemd_cgroup_controller",
        "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE",
        "cgroup_no_v1",
        "cgroup_disable",
        "cgroup_enable",
        "cgroup1_writeback",
        "swapaccount",
        "psi",
        "psi_v1",
        "rt_group_sched",
    }
)
"""The only parameters that are read from a command line: others may contain passwords."""
GRUB = "/etc/default/grub"
GRUB_DIRECTORY = "/etc/default/grub.d"
KERNEL_INSTALL = "/etc/kernel/cmdline"
ENTRIES = "/boot/loader/entries"
GRUB_ENVIRONMENTS = ("/boot/grub2/grubenv", "/boot/grub/grubenv")
MAX_FILES = 32
LONGEST = 1 << 12
"""Characters of a line. The kernel accepts 2,048 on x86, and at most this number on other architectures."""
_GRUB_LINES = ("GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT")
_ASSIGNMENT = re.compile(r"^[ \t]*(?:export[ \t]+)?(GRUB_CMDLINE_LINUX(?:_DEFAULT)?)(\+?)=(.*)$", re.MULTILINE)
_OPTIONS = re.compile(r"^options[ \t]+(.*)$", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


def cgroup_words(line: str) -> list[str]:
    """The parameters of a command line that concern cgroups, in order."""
    words = (word.strip("\"'") for word in line[:LONGEST].split())
    return [word for word in words if word.partition("=")[0] in CGROUP_PARAMETERS]


def grub_line(texts: list[str]) -> str:
    """The command line from /etc/default/grub and the files of grub.d, in the order in which grub-mkconfig reads them.

    Without a shell, variables that these files do not set are empty. Source: grub util/grub.d/10_linux.in.
    """
    values = dict.fromkeys(_GRUB_LINES, "")
    for text in texts:
        for name, more, value in _ASSIGNMENT.findall(text):
            filled = _VARIABLE.sub(lambda match: values.get(match[1], ""), _unquote(value[:LONGEST]))
            values[name] = (values[name] + filled if more else filled)[:LONGEST]
    return " ".join(values[name] for name in _GRUB_LINES)


def _unquote(value: str) -> str:
    """The first word of a shell assignment without its outer quotes."""
    value = value.strip()
    quote = value[:1]
    if quote in ("'", '"'):
        return value[1:].partition(quote)[0]
    return (value.split() or [""])[0]


def _texts(host: Host, paths: list[str]) -> dict[str, str]:
    texts = {path: capture(host, path).get("text") for path in paths[:MAX_FILES]}
    return {path: text for path, text in texts.items() if text is not None}


def _grub(host: Host) -> dict[str, list[str]]:
    dropped = [GRUB_DIRECTORY + "/" + name for name in list_names(host, GRUB_DIRECTORY) if name.endswith(".cfg")]
    texts = _texts(host, [GRUB, *dropped])
    return {GRUB: cgroup_words(grub_line(list(texts.values())))} if texts else {}


def grub_environment(text: str) -> dict[str, str]:
    """The variables of a grubenv file."""
    lines = (line[:LONGEST] for line in text.splitlines() if line[:1] != "#")
    return dict(line.partition("=")[::2] for line in lines if "=" in line)


def _entries(host: Host) -> dict[str, list[str]]:
    """By entry of the Boot Loader Specification: the entry that grubenv selects, else all except rescue entries."""
    paths = [
        ENTRIES + "/" + name for name in list_names(host, ENTRIES) if name.endswith(".conf") and "rescue" not in name
    ]
    variables: dict[str, str] = {}
    for text in _texts(host, list(GRUB_ENVIRONMENTS)).values():
        variables.update(grub_environment(text))
    chosen = "%s/%s.conf" % (ENTRIES, variables.get("saved_entry", ""))
    texts = _texts(host, [chosen] if chosen in paths else paths)
    lines = {path: " ".join(_OPTIONS.findall(text))[:LONGEST] for path, text in texts.items()}
    return {
        path: cgroup_words(_VARIABLE.sub(lambda match: variables.get(match[1], ""), line))
        for path, line in lines.items()
    }


def boot(host: Host) -> dict[str, list[str]]:
    """By file that defines a next kernel command line: its parameters that concern cgroups; no missing files."""
    installed = {path: cgroup_words(text) for path, text in _texts(host, [KERNEL_INSTALL]).items()}
    return {**_grub(host), **installed, **_entries(host)}
