# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of systemd slices: what is one, where its cgroup is, and which slices it lies in (systemd.slice(5))."""

from __future__ import annotations

import re

from ..errors import ColocationError

SUFFIX = ".slice"
ROOT = "-.slice"
NAME_MAX = 255
"""src/basic/unit-name.h UNIT_NAME_MAX, which counts the closing zero."""

_VALID = re.compile(r"[A-Za-z0-9:_.\\-]")
"""src/basic/unit-name.c VALID_CHARS."""
_UNIT = re.compile(r"\.(?:automount|device|mount|path|scope|service|socket|swap|target|timer)$")
_CONTROLLER_FILE = re.compile(
    r"(?:cgroup|cpu|cpuacct|cpuset|io|blkio|memory|devices|pids|bpf-(?:firewall|devices|foreign|socket-bind"
    r"|restrict-network-interfaces|bind-network-interface))\."
)
"""src/basic/cgroup-util.c cg_needs_escape, with the controllers that systemd knows."""


def escape(text: str) -> str:
    r"""The text as a part of a unit's name, as systemd-escape(1) has it (src/basic/unit-name.c unit_name_escape).

    A dash becomes ``\x2d`` and nests no more; a slash becomes a dash.
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
    """Why this is no slice's name, and what to write instead; empty for a valid one.

    The rules are systemd's: src/basic/unit-name.c slice_name_is_valid, unit_name_is_valid.
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
        return "is another kind of unit than a slice" if _UNIT.search(name) else "does not end with .slice"
    stem = name[: -len(SUFFIX)]
    if not stem:
        return "has nothing before .slice"
    if "/" in stem:
        return "is a path; a slice's name has no slash, and each dash in it stands for one level"
    if "@" in stem:
        return "is a template or an instance of one, which no slice can be"
    wrong = sorted({char for char in stem if not _VALID.match(char)})
    if wrong:
        return f"has {', '.join(map(repr, wrong))}, and systemd takes only letters, digits and : - _ . \\ in names"
    if len(name) > NAME_MAX:
        return f"has {len(name)} characters, and systemd takes {NAME_MAX} at most"
    if not all(stem.split("-")):
        return r"has a level without a name, for each dash starts a level (\x2d is a dash that starts none)"
    return ""


def _suggest_name(name: str) -> str:
    """A valid name that is near; empty when there is none."""
    path = [part for part in _UNIT.sub("", name).split("/") if part not in ("", ".", "..")]
    stems = [part[: -len(SUFFIX)] if part.endswith(SUFFIX) else part for part in path]
    # a.slice/a-b.slice is the place of a-b.slice; a/b is meant as a-b.slice.
    nested = all(low.startswith(high + "-") for high, low in zip(stems, stems[1:]))
    stem = stems[-1] if stems and nested else "-".join(stems)
    plain = "-".join(filter(None, stem.split("-"))).encode("utf-8", "surrogateescape")
    better = "".join(chr(byte) if _VALID.match(chr(byte)) else _hexadecimal(byte) for byte in plain) + SUFFIX
    return "" if _reason(better) else better


def parents(name: str) -> tuple[str, ...]:
    """The slices that this one lies in, the nearest last; without the root slice. ColocationError for a wrong name."""
    return _levels(name)[:-1]


def expand(name: str) -> str:
    """The path of a slice as runc and kubelet compute it (opencontainers/cgroups systemd/common.go ExpandSlice)."""
    return "/".join(_levels(name))


def path(name: str) -> str:
    """Where systemd keeps a slice's cgroup, below the top (src/basic/cgroup-util.c cg_slice_to_path).

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
