# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profile that a node is judged against: each value, and whether it was set or is a default of the role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from .plan.kubelet_after import desired_fields
from .profile import Profile, parse_profile

PLACES = ("kubelet_strategy", "kubeadm_patches", "containerd_strategy")
"""Options that name no value of the node, but where values are written."""


class Source(str, Enum):
    """What is known of a value's origin: Ansible hands over the value of a variable, not the file that set it."""

    SET = "set"
    ROLE_DEFAULT = "role-default"


@dataclass(frozen=True)
class JudgedValue:
    """A value of the profile; ``option`` names it as the modules do, such as ``system_reserved.cpu``."""

    option: str
    value: Any
    source: Source


@dataclass(frozen=True)
class JudgedProfile:
    """``judged``: whether the node was compared with a profile; otherwise it has no ``values``."""

    judged: bool = False
    values: tuple[JudgedValue, ...] = ()

    def published(self) -> dict[str, Any]:
        """The section ``profile`` of the facts document."""
        return {"specified": self.judged, "options": [asdict(each) for each in self.values]}


def judged_profile(options: Mapping[str, Any]) -> tuple[Profile, JudgedProfile]:
    """The profile to judge by, and what a report says of it. ProfileError names a wrong option.

    Defaults of the role are a profile only beside a value that was set, or with ``compare_defaults``.
    """
    profile = parse_profile(options)
    values = tuple(_values(profile, frozenset(options.get("profile_defaults") or ())))
    if options.get("compare_defaults") or any(each.source is Source.SET for each in values):
        return profile, JudgedProfile(bool(values), values)
    return parse_profile({name: options.get(name) for name in PLACES}), JudgedProfile()


def _values(profile: Profile, defaults: frozenset[str]) -> Iterator[JudgedValue]:
    for option, value in _named(profile):
        yield JudgedValue(option, value, Source.ROLE_DEFAULT if option in defaults else Source.SET)


def _named(profile: Profile) -> Iterator[tuple[str, Any]]:
    for field, keys, value in desired_fields(profile):
        yield ".".join((field.option, *keys[1:])), value
    if profile.nri.enabled is not None:
        yield "nri.enabled", profile.nri.enabled
    for name, text in profile.nri.settings.items():
        yield f"nri.{name}", text
