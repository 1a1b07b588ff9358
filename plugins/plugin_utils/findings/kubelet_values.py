# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet is configured with, for rules of other subjects: a flag beats the file, as kubelet decides it."""

from __future__ import annotations

from typing import Any

from ...module_utils.snapshot.processes import option
from ..facts.model import NodeFacts


def value(facts: NodeFacts, key: str, flag: str) -> Any:
    """The text of a flag, or the file's value; None when neither speaks."""
    given = option(facts.kubelet.command_line, flag)
    return facts.kubelet.config.values.get(key) if given is None else given


def is_true(found: Any) -> bool:
    """A switch of YAML or of the command line, Go's strconv.ParseBool."""
    return found is True or str(found) in ("1", "t", "T", "true", "True", "TRUE")


def words(found: Any) -> tuple[str, ...]:
    """A list of YAML, or of a flag's comma-separated text."""
    if isinstance(found, str):
        return tuple(found.split(","))
    return tuple(map(str, found)) if isinstance(found, (list, tuple)) else ()
