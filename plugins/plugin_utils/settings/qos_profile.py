# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The QoS profile of a node, colocation_qos, checked before any node is read; and the levels that pods can have.

Source of the levels: volcano pkg/agent/apis/extension/qos.go (annotation volcano.sh/qos-level), handlers cpuqos and
memoryqos.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any

from ...module_utils.quantity import parse_quantity
from ...module_utils.settings.weight_scales import WEIGHT_MAX
from ..profile.validators import ProfileError


class QosLevel(str, Enum):
    LC = "LC"
    HLS = "HLS"
    LS = "LS"
    BE = "BE"


@dataclass(frozen=True)
class LevelNumbers:
    """cpu.qos_level and memory.qos_level as the agent writes them."""

    cpu: int
    memory: int


LEVEL_NUMBERS: Mapping[QosLevel, LevelNumbers] = {
    QosLevel.LC: LevelNumbers(2, 0),
    QosLevel.HLS: LevelNumbers(2, 0),
    QosLevel.LS: LevelNumbers(1, 0),
    QosLevel.BE: LevelNumbers(-1, -1),
}


_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")
UID = re.compile(r"[A-Za-z0-9-]+")
MAX_AMOUNT = 1 << 63
RESERVED_WEIGHT = "reserved"
"""The weight is computed from the reservation."""


@dataclass(frozen=True)
class Amount:
    """A share, greater than 0 and at most 1, or an absolute amount; ``text`` is the value of the option."""

    text: str
    share: Fraction | None = None
    absolute: Fraction = Fraction(0)

    def of(self, whole: Fraction) -> Fraction:
        return self.absolute if self.share is None else self.share * whole


def parse_amount(variable: str, value: Any) -> Amount | None:
    """``60%``, ``2.5`` or ``4Gi``; None for an empty text. ProfileError for anything else."""
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    percent = _PERCENT.fullmatch(text)
    if percent:
        share = Fraction(percent[1]) / 100
        if not 0 < share <= 1:
            raise ProfileError(variable, f"{text} is not greater than 0% and at most 100%")
        return Amount(text, share=share)
    try:
        absolute = parse_quantity(text)
    except ValueError:
        raise ProfileError(
            variable, f"{text!r} is neither a share such as 60% nor an amount such as 2.5 or 4Gi"
        ) from None
    if not 0 < absolute < MAX_AMOUNT:
        raise ProfileError(variable, f"{text} is not greater than 0 and less than 2^63")
    return Amount(text, absolute=absolute)


@dataclass(frozen=True)
class BestEffort:
    cpu_quota: Amount | None = None
    memory_high: Amount | None = None
    memory_max: Amount | None = None
    pids_max: int | None = None
    cpu_idle: bool = False


@dataclass(frozen=True)
class LatencySensitive:
    memory_low: Amount | None = None
    memory_min: Amount | None = None
    cpu_burst: int | None = None


@dataclass(frozen=True)
class SystemProfile:
    """``cpu_weight``: reserved, a weight as text, or empty for systemd's default; ``memory``: low, min or none."""

    cpu_weight: str = RESERVED_WEIGHT
    memory: str = "low"


@dataclass(frozen=True)
class PodLevel:
    """A pod by its UID, or by namespace and name."""

    identity: Mapping[str, str]
    level: QosLevel


@dataclass(frozen=True)
class QosProfile:
    """None: the setting is not used. ``kernel_levels``: auto, two or multi, the values that cpu.qos_level accepts."""

    levels: frozenset[QosLevel] = frozenset((QosLevel.HLS, QosLevel.LS, QosLevel.BE))
    best_effort: BestEffort = field(default_factory=BestEffort)
    latency_sensitive: LatencySensitive = field(default_factory=LatencySensitive)
    system: SystemProfile = field(default_factory=SystemProfile)
    pods: tuple[PodLevel, ...] = ()
    kernel_levels: str = "auto"


def _parse_count(variable: str, value: Any) -> int | None:
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    if not text.isdecimal() or not 0 < int(text) < MAX_AMOUNT:
        raise ProfileError(variable, f"{text!r} is not a whole number above 0; empty does not set it")
    return int(text)


def _parse_weight(variable: str, value: Any) -> str:
    text = str(value or "").strip()
    if text not in ("", RESERVED_WEIGHT) and not (text.isdecimal() and 1 <= int(text) <= WEIGHT_MAX):
        raise ProfileError(variable, f"{text!r} is neither {RESERVED_WEIGHT} nor a weight from 1 to {WEIGHT_MAX}")
    return text


def _parse_pod(variable: str, value: Mapping[str, Any]) -> PodLevel:
    identity = {key: str(value[key]) for key in ("uid", "namespace", "name") if value.get(key)}
    if set(identity) not in ({"uid"}, {"namespace", "name"}):
        raise ProfileError(variable, "needs either uid, or namespace and name")
    if "uid" in identity and not UID.fullmatch(identity["uid"]):
        raise ProfileError(f"{variable}.uid", f"{identity['uid']!r} is not the UID of a pod")
    return PodLevel(identity, QosLevel(value["level"]))


def parse_qos_profile(options: Mapping[str, Any]) -> QosProfile:
    """QosProfile of the option ``profile`` of qos_plan, whose defaults are applied.

    ProfileError names the entry, such as ``profile.be.cpu_quota``.
    """
    be, ls, system = (options[group] for group in ("be", "ls", "system"))
    return QosProfile(
        levels=frozenset(QosLevel(level) for level in options["levels"]),
        best_effort=BestEffort(
            cpu_quota=parse_amount("profile.be.cpu_quota", be["cpu_quota"]),
            memory_high=parse_amount("profile.be.memory_high", be["memory_high"]),
            memory_max=parse_amount("profile.be.memory_max", be["memory_max"]),
            pids_max=_parse_count("profile.be.pids_max", be["pids_max"]),
            cpu_idle=bool(be["cpu_idle"]),
        ),
        latency_sensitive=LatencySensitive(
            memory_low=parse_amount("profile.ls.memory_low", ls["memory_low"]),
            memory_min=parse_amount("profile.ls.memory_min", ls["memory_min"]),
            cpu_burst=_parse_count("profile.ls.cpu_burst", ls["cpu_burst"]),
        ),
        system=SystemProfile(_parse_weight("profile.system.cpu_weight", system["cpu_weight"]), system["memory"]),
        pods=tuple(_parse_pod(f"profile.pods[{number}]", pod) for number, pod in enumerate(options["pods"])),
        kernel_levels=options["kernel_levels"],
    )
