# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rule of refusal is, and the rules that hold for every file."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...facts.config_file import ConfigFile, advice
from ..change_set import Refusal
from ..draft import PlanDraft

Rule = Callable[[PlanDraft], Iterator[Refusal]]


def unsafe_file(config: ConfigFile) -> Iterator[Refusal]:
    if not plain_path(config.path):
        yield Refusal(
            "config-path-not-plain",
            "is not an absolute path without . and .. in it, and where it leads depends on who reads it",
            "Name the file by its plain path in the service's --config.",
            file=config.path,
        )
    elif config.kind == "symlink":
        yield Refusal(
            "config-is-symlink",
            "is a symbolic link; replacing it would cut the link, following it would change a file of someone else",
            "Name the real file in the service's --config, or replace the link by the file.",
            file=config.path,
        )
    else:
        yield from unreadable_file(config)


def plain_path(path: str) -> bool:
    """Whether a path is what node_transaction takes: document_reader.py, require_absolute."""
    return path.startswith("/") and "\0" not in path and set(path.split("/")[1:]).isdisjoint(("", ".", ".."))


def unreadable_file(config: ConfigFile) -> Iterator[Refusal]:
    problem = config.problem or config.ignored
    if problem:
        yield Refusal(
            "config-unreadable",
            problem.message,
            advice("Correct the file; it is left as it is.", problem),
            file=config.path,
            line=problem.line,
        )
