# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file texts a plan leads to: one splice a file, from which the diff and the transaction both come."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..edit.errors import EditError, UneditableFile
from ..edit.library import preload
from ..edit.toml_splice import edit_toml
from ..edit.yaml_splice import edit_yaml
from ..facts.model import NodeFacts
from .model import Change

# Ansible loads an action once and forks a worker for each task and node: what is loaded here, no worker loads again.
preload("ruamel.yaml", "tomlkit")

NEW_CONTAINERD_CONFIG = "version = 2\n"


@dataclass(frozen=True)
class FileEdit:
    """A file's text before and after; ``before`` is None when there is no such file."""

    path: str
    before: str | None
    after: str

    @property
    def before_sha256(self) -> str | None:
        """Hash of the bytes on the node, which the transaction compares before it writes."""
        if self.before is None:
            return None
        return hashlib.sha256(self.before.encode("utf-8", "surrogateescape")).hexdigest()


def _captured_text(snapshot: Mapping[str, Any], section: str, path: str) -> str | None:
    return snapshot[section]["files"][path].get("text")


def _wanted(changes: Iterable[Change], path: str) -> dict[tuple[str, ...], Any]:
    return {change.keys: change.after for change in changes if change.path == path}


def file_edits(snapshot: Mapping[str, Any], facts: NodeFacts, changes: Iterable[Change]) -> tuple[FileEdit, ...]:
    """FileEdits of the changes that write; UneditableFile when a text cannot be changed safely."""
    edits = []
    for section, path, splice, template in (
        ("kubelet", facts.kubelet.config.path, edit_yaml, ""),
        ("runtime", facts.runtime.config.path, edit_toml, NEW_CONTAINERD_CONFIG),
    ):
        wanted = _wanted(changes, path)
        if wanted:
            before = _captured_text(snapshot, section, path)
            try:
                after = splice(template if before is None else before, wanted)
            except EditError as error:
                raise UneditableFile(path, error) from error
            edits.append(FileEdit(path, before, after))
    return tuple(edits)
