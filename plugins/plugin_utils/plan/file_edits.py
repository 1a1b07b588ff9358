# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file texts after a plan: one edit for each file, used for both the diff and the transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils.snapshot.file_evidence import CONFIG_LIMIT
from ..edit.containerd_text import BASE, edit_containerd, edit_template
from ..edit.document_changes import AppendItem, RemoveItem
from ..edit.flags_splice import remove_flags
from ..edit.kubelet_text import edit_kubelet
from ..edit.text_errors import EditError, UneditableFile, UnsupportedEdit, preload
from ..edit.toml_splice import edit_toml
from . import containerd_location, crio_changes, kubeadm_patch
from .change_set import Change

# Ansible loads an action once and forks a worker for each task and node: workers do not load these libraries again.
preload("yaml", "tomli")

NEW_TEXTS: Mapping[str, str] = {
    # The version is a separate change: it depends on the release.
    "containerd": "# Made by volcano.colocation. Keep settings of your own in another file.\n",
    containerd_location.TEMPLATE_TARGET: BASE,
    # Each drop-in needs apiVersion and kind: cmd/kubelet/app/server.go, mergeKubeletConfigurations.
    "kubelet": "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n",
    "cri-o": crio_changes.HEADER,
    kubeadm_patch.TARGET: kubeadm_patch.HEADER,
}


def text_sha256(text: str) -> str:
    """Hash of the bytes that a text of a node was read from."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True)
class FileEdit:
    """A file's text before and after; ``before`` is None if the file does not exist.

    ``section``: the part of the node that the file belongs to, so that restore can select it.
    """

    path: str
    before: str | None
    after: str
    section: str = "kubelet"

    @property
    def before_sha256(self) -> str | None:
        """Hash of the bytes on the node, which the transaction compares before it writes."""
        return None if self.before is None else text_sha256(self.before)


Editor = Callable[[str, Mapping[tuple[str, ...], Any]], str]

EDITORS: Mapping[str, Editor] = {
    "kubelet": edit_kubelet,
    "kubelet flag": remove_flags,
    kubeadm_patch.TARGET: edit_kubelet,
    "containerd": edit_containerd,
    containerd_location.TEMPLATE_TARGET: edit_template,
    "cri-o": edit_toml,
}
"""The editor of a file, by the target of the change."""
RUNTIMES = ("containerd", containerd_location.TEMPLATE_TARGET, "cri-o")


def captured_files(snapshot: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Evidence of every file that a plan may change, by path; other files do not exist on the node."""
    runtime = snapshot["runtime"]
    patches = (snapshot["kubelet"].get("kubeadm_patches") or {}).get("files", {})
    return {
        **snapshot["kubelet"]["files"],
        **patches,
        **runtime["files"],
        **(runtime.get("crio") or {}).get("files", {}),
        **((snapshot.get("distribution") or {}).get("template_files") or {}),
    }


def new_text(target: str) -> str:
    """The initial text of a new file."""
    return NEW_TEXTS.get(target, "")


def _desired_value(change: Change) -> Any:
    """If a list of containerd gains or loses one item, edit only that item: the others stay as written."""
    before, after = change.before, change.after
    if change.target != "containerd" or not isinstance(before, list) or not isinstance(after, list):
        return after
    if after[:-1] == before:
        return AppendItem(after[-1])
    removed = {item for item in before if item not in after}
    return RemoveItem(removed.pop()) if len(removed) == 1 else after


def _require_readable(text: str) -> None:
    """UnsupportedEdit if the next run could not read the text because it is too large."""
    size = len(text.encode("utf-8", "surrogateescape"))
    if size > CONFIG_LIMIT:
        raise UnsupportedEdit(
            f"it would have {size} bytes, and a configuration file of more than {CONFIG_LIMIT} (1 MiB) is not read",
            remedy="Take out what is not configuration, such as comments",
        )


def file_edits(snapshot: Mapping[str, Any], changes: Iterable[Change]) -> tuple[FileEdit, ...]:
    """One FileEdit for each file, in the order of the changes; UneditableFile if a text cannot be changed safely."""
    desired: dict[tuple[str, str], dict[tuple[str, ...], Any]] = {}
    for change in changes:
        if change.path is not None:
            desired.setdefault((change.path, change.target), {})[change.keys] = _desired_value(change)
    files = captured_files(snapshot)
    edits = []
    for (path, target), values in desired.items():
        before = files.get(path, {}).get("text")
        try:
            after = EDITORS[target](new_text(target) if before is None else before, values)
            _require_readable(after)
        except EditError as error:
            raise UneditableFile(path, error) from error
        edits.append(FileEdit(path, before, after, "runtime" if target in RUNTIMES else "kubelet"))
    return tuple(edits)
