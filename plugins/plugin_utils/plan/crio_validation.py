# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What CRI-O itself is asked about a new drop-in before anything stops."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..containerd_schema import release
from ..facts import crio_monitor
from ..facts.crio import MANAGER, NRI_ON_SINCE
from ..facts.model import RuntimeFacts
from .crio import NRI_KEYS, drop_in, printed
from .model import Change


def crio_validation(facts: RuntimeFacts, changes: Iterable[Change]) -> dict[str, Any]:
    """CRI-O reads our drop-in alone, over its defaults (cri-o internal/criocli/config.go; nothing is executed).

    Other files are left out: they may need each other, and who wins among them has been decided from their texts.
    """
    path = drop_in(facts)
    visible = [change for change in changes if change.path == path and _is_printed(facts, change)]
    expect = [
        {"table": list(change.keys[:-1]), "key": change.keys[-1], "value": printed(change.after)} for change in visible
    ]
    argv = ["crio", "--config=", "--config-dir={folder}", "config"]
    return {"name": "crio config", "argv": argv, "file": path, "expect": expect}


def _is_printed(facts: RuntimeFacts, change: Change) -> bool:
    """A value that is CRI-O's default is printed as a comment (pkg/config/template.go), a timeout in Go's spelling."""
    key = change.keys[-1]
    known = release(facts.version)
    defaults: dict[str, Any] = {name: default for name, _flag, default in NRI_KEYS.values()}
    defaults["enable_nri"] = known is not None and known >= NRI_ON_SINCE
    defaults.update({MANAGER[-1]: "systemd", crio_monitor.TOP[-1]: "system.slice"})
    return change.after != defaults[key] and not key.endswith("_timeout")
