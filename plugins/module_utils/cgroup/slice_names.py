# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of systemd slices: valid names, the path of a slice's cgroup, and its parent slices (systemd.slice(5))."""

from __future__ import annotations

import re

from ..errors import ColocationError

SUFFIX = ".slice"
ROOT = "-.slice"
NAME_MAX = 255
"""src/basic/unit-name.h UNIT_NAME_MAX, which includes the final zero byte."""

_VALID = re.compile(r"[A-Za-z0-9:_.\\-]")
"""src/basic/unit-name.c VALID_CHARS."""
_UNIT = re.compile(r"\.(?:automount|device|mount|path|scope|service|socket|swap|target|timer)$")
_CONTROLLER_FILE = re.compile(
    r"(?:cgroup|cpu|cpuacct|cpuset|io|blkio|memory|devices|pids|bpf-(?:firewall|devices|foreign|socket-bind"
    r"|restrict-network-interfaces|bind-network-interface))\."
)
"""src/basic/cgroup-util.c cg_needs_escape, with systemd's controllers."""


def escape(text: str) -> str:
    r"""Escape a text for a unit's name, as systemd-escape(1) does (src/basic/unit-name.c unit_name_escape).

    A dash becomes ``\x2d``, which starts no level; a slash becomes a dash.
    """
    plain = text.encode("utf-8", "surrogateescape")
    escaped = "".join(_escape_byte(byte) for byte in plain)
    return _hexadecimal(ord(".")) + escaped[1:] if escaped.startswith(".") else escaped


def _escape_byte(byte: int) -> str:
    char = chr(byte)
    if char == "/":
        return "-"
    return char if _VALID.match(char) and char not in "-\\" else _hexadecimal(byte)


def _hexadecimal(byte: int) -> str:
    return "\\x%02x" % byte


def name_problem(name: str) -> str:
    """The reason why this is not the name of a slice, with a suggestion; empty for a valid name.

    Rules of systemd: src/basic/unit-name.c slice_name_is_valid, unit_name_is_valid.
    """
    if name == ROOT:
        return ""
    reason = _reason(name)
    if not reason:
        return ""
    better = _suggest_name(name)
    return f"{reason}: write {better}" if better else reason


def _reason(name: str) -> str:
    if not name.endswith(SUFFIX):
        return "is the name of another type of unit" if _UNIT.search(name) else "does not end with .slice"
    stem = name[: -len(SUFFIX)]
    if not stem:
        return "has nothing before .slice"
    if "/" in stem:
        return "is a path; the name of a slice has no slash, and each dash in it starts a level"
    if "@" in stem:
        return "is a template or an instance, which a slice cannot be"
    wrong = sorted({char for char in stem if not _VALID.match(char)})
    if wrong:
        return f"has {', '.join(map(repr, wrong))}, but systemd accepts only letters, digits and : - _ . \\ in names"
    if len(name) > NAME_MAX:
        return f"has {len(name)} characters, but systemd accepts at most {NAME_MAX}"
    if not all(stem.split("-")):
        return r"has a level without a name: each dash starts a level (\x2d is a dash that does not)"
    return ""


def _suggest_name(name: str) -> str:
    """A similar valid name; empty if there is none."""
    path = [part for part in _UNIT.sub("", name).split("/") if part not in ("", ".", "..")]
    stems = [part[: -len(SUFFIX)] if part.endswith(SUFFIX) else part for part in path]
    # a.slice/a-b.slice is the path of a-b.slice; a/b means a-b.slice.
    nested = all(low.startswith(high + "-") for high, low in zip(stems, stems[1:]))
    stem = stems[-1] if stems and nested else "-".join(stems)
    plain = "-".join(filter(None, stem.split("-"))).encode("utf-8", "surrogateescape")
    suggestion = "".join(chr(byte) if _VALID.match(chr(byte)) else _hexadecimal(byte) for byte in plain) + SUFFIX
    return "" if _reason(suggestion) else suggestion


def parents(name: str) -> tuple[str, ...]:
    """The parent slices, the nearest last, without the root slice. ColocationError for an invalid name."""
    return _levels(name)[:-1]


def expand(name: str) -> str:
    """The path of a slice as runc and kubelet compute it (opencontainers/cgroups systemd/common.go ExpandSlice)."""
    return "/".join(_levels(name))


def path(name: str) -> str:
    """The path of a slice's cgroup with systemd, below the top (src/basic/cgroup-util.c cg_slice_to_path).

    It differs from ``expand`` for names that look like kernel files: ``cpu.slice`` is in ``_cpu.slice``.
    """
    return "/".join("_" + level if _looks_like_a_file(level) else level for level in _levels(name))


def _looks_like_a_file(name: str) -> bool:
    return name[0] in "_." or bool(_CONTROLLER_FILE.match(name))


def _levels(name: str) -> tuple[str, ...]:
    reason = name_problem(name)
    if reason:
        raise ColocationError(f"{name!r} is not the name of a slice", f"It {reason}.")
    if name == ROOT:
        return ()
    parts = name[: -len(SUFFIX)].split("-")
    return tuple("-".join(parts[: count + 1]) + SUFFIX for count in range(len(parts)))
