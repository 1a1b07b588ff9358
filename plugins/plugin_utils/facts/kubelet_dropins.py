# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The drop-ins of a folder as they were recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .config import read_kubelet_config
from .config_file import ConfigFile
from .kubelet_layers import refused_dropin


def read_dropins(
    folder: Mapping[str, Any], files: Mapping[str, Any], process: Mapping[str, Any] | None
) -> tuple[ConfigFile, ...]:
    """Each file of the folder in kubelet's order, with its problem if kubelet would not take it."""
    read = (read_kubelet_config(path, files[path], process) for path in folder.get("paths", ()))
    return tuple(refused_dropin(each) for each in read)


def unseen(folder: Mapping[str, Any]) -> str | None:
    """Why not every file of the folder was recorded; None where all were."""
    if folder.get("error"):
        return str(folder["error"])
    return f"{folder['left_out']} more of its files were not read" if folder.get("left_out") else None
