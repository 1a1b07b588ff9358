# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether kubelet has the desired value of a field already."""

from __future__ import annotations

from typing import Any

from ..facts.kubelet_layers import shown
from ..kubelet_field_model import KubeletField
from ..versions import Version


def same(setting: KubeletField, found: Any, wanted: Any) -> bool:
    """Whether the file's value means the wanted one."""
    try:
        return setting.compare(found, wanted)
    except ValueError:
        return False


def is_default(setting: KubeletField, wanted: Any, version: Version | None) -> bool:
    """Whether the wanted value holds where the field is not set, now and after an upgrade."""
    return not setting.later and shown(wanted) == setting.default_in(version)
