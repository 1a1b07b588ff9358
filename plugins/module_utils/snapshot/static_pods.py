# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about kubelet's folder of static pods: the names in it. What the files say is not taken along."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ..host import Host
from .files import names
from .kubelet_hints import hints
from .processes import option

FLAG = "--pod-manifest-path"
FIELD = "staticPodPath"
FOLDER_LIMIT = 8
NAME_LIMIT = 200


def static_pods(host: Host, words: list[str], texts: Iterable[str]) -> dict[str, Any]:
    """By folder that kubelet's command line or files name: the names of the files in it, sorted and bounded."""
    named = [option(words, FLAG), *(value for text in texts for _name, value in hints(text, FIELD))]
    folders = sorted({folder.rstrip("/") for folder in named if folder and os.path.isabs(folder)} - {""})
    return {folder: _files(host, folder) for folder in folders[:FOLDER_LIMIT]}


def _files(host: Host, folder: str) -> list[str]:
    """kubelet goes into no folder below (kubernetes pkg/kubelet/config/file.go)."""
    return [name for name in names(host, folder)[:NAME_LIMIT] if not host.is_folder(folder + "/" + name)]
