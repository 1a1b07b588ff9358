# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wanted of a cluster, from the module's options; what contradicts itself is refused here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..profile.validators import ProfileError
from .actions import WANTED
from .admission import Admission, read_admission
from .conf import WantedConf
from .priority_classes import PriorityClass, read_classes
from .queues import Queue, read_queues
from .watermarks import Watermarks, read_metrics, read_usage, read_watermarks


@dataclass(frozen=True)
class Wanted:
    """``conf`` and ``admission`` are None where they are left alone."""

    namespace: str
    deployment: str
    configmap: str
    key: str
    conf: WantedConf | None = None
    classes: tuple[PriorityClass, ...] = ()
    queues: tuple[Queue, ...] = ()
    admission: Admission | None = None
    watermarks: Watermarks | None = None

    @property
    def needs_volcano(self) -> bool:
        """Whether anything of it would be nothing without Volcano's scheduler."""
        return bool(self.conf or self.queues)


def read_wanted(options: Mapping[str, Any]) -> Wanted:
    """The wanted state; ProfileError names the option that no cluster can have."""
    classes = read_classes("priority_classes", options["priority_classes"])
    admission, watermarks = options["admission"], options["watermarks"]
    return Wanted(
        options["namespace"],
        options["deployment"],
        options["configmap"],
        options["configmap_key"],
        _conf(options) if options["edit_configmap"] else None,
        classes,
        read_queues("queues", options["queues"]),
        _admission(admission, classes, options["namespace"]) if admission else None,
        read_watermarks("watermarks", _but_system(watermarks), watermarks["system"]) if watermarks else None,
    )


def _conf(options: Mapping[str, Any]) -> WantedConf:
    dropped = tuple(options["dropped_actions"])
    for each in dropped:
        if each in WANTED:
            raise ProfileError("dropped_actions", f"{each} is one that colocation needs")
    usage, metrics = options["usage"], options["metrics"]
    return WantedConf(
        dropped,
        read_usage("usage", usage["cpu"], usage["memory"], keep_off=usage["enable_predicate"]) if usage else None,
        read_metrics("metrics", metrics["type"], metrics["address"], metrics["interval"]) if metrics else None,
    )


def _admission(given: Mapping[str, Any], classes: tuple[PriorityClass, ...], namespace: str) -> Admission:
    """Volcano's own namespace is left out: the agent's trial pods there say BE and ask for cpu, against the rules."""
    found = read_admission("admission", given, classes)
    return replace(found, excluded=tuple(dict.fromkeys((*found.excluded, namespace))))


def _but_system(watermarks: Mapping[str, Any]) -> dict[str, int | None]:
    return {name: value for name, value in watermarks.items() if name != "system"}
