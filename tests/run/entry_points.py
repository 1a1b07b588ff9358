# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of each entry point of a role, with a reference to ``main``, which has their descriptions.

ansible-core validates the variables of the entry point that a playbook names, so each of them declares all variables
that its tasks use. `make docs` writes them from those tasks and from ``main``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from .blocks import replace_block
from .places import CHECKOUT

ROLES = CHECKOUT / "roles"
MAIN = "main"

PHASES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "node": {
        "observe": ("observe", "preflight", "align", "verify", "kubeadm", "kubeadm_preflight"),
        "assess": ("assess",),
        "replay": ("replay",),
        "explain": ("explain",),
        "restore": ("restore", "restore_observe", "kubeadm_restore", "kubeadm_restore_preflight"),
    },
    "qos": {"reserve": ("reserve",), "verify": ("verify",)},
    "rollout": {"preflight": ("preflight", "drain", "failed", "release", "sizes", "summary")},
    "scheduler": {
        "install": ("install",),
        "preflight": ("preflight",),
        "audit": ("audit",),
        "uninstall": ("uninstall",),
        "restore": ("restore",),
        "images": ("images",),
        "remove_images": ("remove_images",),
    },
    "agent": {"verify": ("verify",)},
    "bundle": {"build": ("build",)},
}
"""By role and entry point: the task files whose variables are checked before any of them runs."""

REFERENCE = "As in C(main)."
WIDTH = 120
_KEYS = ("type", "elements", "required", "choices", "default")
_INDENT = 6
_IMPORT = re.compile(r"(?:import|include)_tasks:\s*(?:\n\s+file:\s*)?([\w/]+\.yml)")


def specification(role: str) -> Path:
    return ROLES / role / "meta" / "argument_specs.yml"


def used_variables(role: str, entry: str) -> frozenset[str]:
    """The variables in the task files of an entry point, in files that these import, and in variables of the role."""
    directory = ROLES / role
    pending = [directory / "tasks" / f"{name}.yml" for name in PHASES[role][entry]]
    texts: dict[Path, str] = {}
    while pending:
        path = pending.pop()
        if path not in texts:
            texts[path] = path.read_text(encoding="utf-8")
            pending += [directory / "tasks" / name for name in _IMPORT.findall(texts[path])]
    return frozenset(re.findall(r"\bcolocation_\w+", _with_role_variables(directory, "\n".join(texts.values()))))


def _with_role_variables(directory: Path, text: str) -> str:
    """The text, and the expressions of all variables of the role that it uses, directly or through another one."""
    path = directory / "vars" / "main.yml"
    remaining: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    while used := [name for name in remaining if re.search(rf"\b{name}\b", text)]:
        text += "".join(yaml.safe_dump(remaining.pop(name), width=1 << 20) for name in used)
    return text


def update(role: str) -> str:
    """The text of the role's argument specification with current entry points."""
    text = specification(role).read_text(encoding="utf-8")
    main = yaml.safe_load(text)["argument_specs"][MAIN]["options"]
    margin = " " * _INDENT
    for entry in PHASES[role]:
        used = used_variables(role, entry)
        options = {name: option for name, option in main.items() if name in used}
        content = "".join(f"{margin}{line}\n" for line in _lines(options))
        begin, end = (f"{margin}# {words} {entry}{tail}\n" for words, tail in _COMMENTS)
        text = replace_block(text, begin, content, end)
    return text


_COMMENTS = (("variables of", ": written by make docs"), ("end of variables of", ""))


def _lines(options: Mapping[str, Any]) -> Iterator[str]:
    for name, option in options.items():
        fields = [f"description: {REFERENCE}"]
        fields += [f"{key}: {_flow(option[key])}" for key in _KEYS if key in option]
        line = f"{name}: {{{', '.join(fields)}}}"
        if "options" not in option and len(line) <= WIDTH - _INDENT:
            yield line
            continue
        yield f"{name}:"
        yield from (f"  {field}" for field in fields)
        if "options" in option:
            yield "  options:"
            yield from (f"    {inner}" for inner in _lines(option["options"]))


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1 << 20)
    return text.removesuffix("...\n").strip().replace("''", '""')


def write() -> None:
    for role in PHASES:
        specification(role).write_text(update(role), encoding="utf-8")
