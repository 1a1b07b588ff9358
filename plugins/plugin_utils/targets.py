# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions a node is to be upgraded to, as the options say them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .profile_error import ProfileError
from .versions import minor


@dataclass(frozen=True)
class Targets:
    """None: stays as it is."""

    kubernetes: tuple[int, int] | None = None
    containerd: tuple[int, int] | None = None
    systemd: int | None = None


def _release(options: Mapping[str, Any], option: str) -> tuple[int, int] | None:
    text = str(options.get(option) or "")
    if text and not re.fullmatch(r"v?\d{1,4}\.\d{1,4}(?:\.\d{1,6})?(?:[-+~].*)?", text):
        raise ProfileError(option, f"{text!r} is not a version such as 1.36")
    return minor(text)


def parse_targets(options: Mapping[str, Any]) -> Targets:
    """Targets of module options; ProfileError names the option that holds no version."""
    systemd = str(options.get("target_systemd") or "")
    if systemd and not re.fullmatch(r"v?\d{1,4}(?:[.~-].*)?", systemd):
        raise ProfileError("target_systemd", f"{systemd!r} is not a version such as 258")
    return Targets(
        kubernetes=_release(options, "target_kubernetes"),
        containerd=_release(options, "target_containerd"),
        systemd=int(re.findall(r"\d+", systemd)[0]) if systemd else None,
    )
