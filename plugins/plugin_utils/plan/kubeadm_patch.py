# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubeadm patch with the profile's kubelet settings: the next `kubeadm upgrade` regenerates the main file.

The patch is a separate file that is applied last, so no other file is changed. It has everything that the profile
sets, defaults too: it is merged into the configuration of the cluster, and kubeadm has its own defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..facts.config_file import value_at
from ..facts.kubeadm_patch_files import Patch
from ..profile.field_schema import KubeletField
from ..profile.node_profile import Profile
from ..releases.versions import minor
from .change_set import Change, Unsupported
from .desired_state import PlanInputs
from .kubelet_location import ConfigLocation, Strategy

TARGET = "kubeadm patch"
OWN_PATCH = "kubeletconfigurationzz-volcano-colocation+merge.yaml"
"""target[suffix][+patchtype].extension; kubeadm applies patches in the lexical order of their names."""
HEADER = "# Made by volcano.colocation for kubeadm --patches. Keep patches of your own in another file.\n"
SINCE = (1, 25)
"""kubernetes#110405: the target kubeletconfiguration. Older kubeadm ignores the file."""
DIFFERS = "kubeadm upgrade would set another value"
_UNSET, _UNCLEAR = object(), object()


def own_path(profile: Profile) -> str:
    """The collection's patch in the directory that the profile names."""
    return f"{str(profile.kubeadm_patches).rstrip('/')}/{OWN_PATCH}"


def keeps_main_file(inputs: PlanInputs) -> bool:
    """Whether kubeadm regenerates the file that has kubelet's settings."""
    location = inputs.kubelet_location
    return (
        inputs.facts.layout.name == "kubeadm"
        and isinstance(location, ConfigLocation)
        and location.strategy is Strategy.MAIN_FILE
    )


def unsupported_reason(inputs: PlanInputs) -> str | None:
    """Why this node gets no patch although the profile names a directory; None if it gets one."""
    kubelet, layout = inputs.kubelet, inputs.facts.layout.name
    version = minor(kubelet.version)
    if layout != "kubeadm":
        return f"the node's layout is {layout}, not kubeadm"
    if not keeps_main_file(inputs):
        return "its settings are in a drop-in, which kubeadm does not change"
    if version is not None and version < SINCE:
        return (
            f"kubeadm {kubelet.version} ignores patches of kubelet's configuration, as does every kubeadm before 1.25"
        )
    if kubelet.kubeadm_patches is None:
        return "the snapshot does not contain the patch directory"
    return None


def unsupported_patch(inputs: PlanInputs) -> tuple[Unsupported, ...]:
    """The requested patch if it is not written."""
    reason = unsupported_reason(inputs) if inputs.profile.kubeadm_patches else None
    return (Unsupported("kubeadm_patches", reason),) if reason else ()


def _patches_to_plan(inputs: PlanInputs) -> tuple[Patch, ...] | None:
    """The patches of a node that gets one; None for every other node."""
    patch_files = inputs.kubelet.kubeadm_patches
    return (
        None
        if not inputs.profile.kubeadm_patches or unsupported_reason(inputs) or patch_files is None
        else patch_files.patches
    )


def patched_value(patch: Patch, keys: tuple[str, ...]) -> Any:
    """The value that a patch sets for a field, ``_UNSET`` if it does not set it, or ``_UNCLEAR``."""
    if keys[0] in patch.touched or "*" in patch.touched:
        return _UNCLEAR
    if keys[0] not in patch.values:
        return _UNSET
    above = patch.values[keys[0]]
    if len(keys) == 1 or not isinstance(above, Mapping):
        return _UNCLEAR if above is None or len(keys) > 1 else above
    return above.get(keys[1], _UNSET) if above.get(keys[1], "") is not None else _UNCLEAR


def later_patches(patches: tuple[Patch, ...], own: str) -> tuple[Patch, ...]:
    """The patches that kubeadm applies after the own one."""
    return tuple(patch for patch in patches if patch.path.split("/") > own.split("/"))


def conflicting_fields(inputs: PlanInputs) -> Iterator[tuple[Patch, tuple[str, ...]]]:
    """(patch, keys) of fields for which a later patch sets another value than the profile."""
    patches = _patches_to_plan(inputs)
    for patch in later_patches(patches, own_path(inputs.profile)) if patches else ():
        for field, keys, desired in inputs.desired:
            value = patched_value(patch, keys)
            if value is not _UNSET and (value is _UNCLEAR or not field.means(value, desired)):
                yield patch, keys


def _is_right(patches: tuple[Patch, ...], field: KubeletField, keys: tuple[str, ...], desired: Any) -> bool:
    values = [value for patch in patches if (value := patched_value(patch, keys)) is not _UNSET]
    return bool(values) and values[-1] is not _UNCLEAR and field.means(values[-1], desired)


def patch_changes(inputs: PlanInputs) -> tuple[Change, ...]:
    """Changes of the own patch: desired values that all patches together do not set."""
    patches = _patches_to_plan(inputs)
    if patches is None:
        return ()
    path = own_path(inputs.profile)
    own: Mapping[str, Any] = next((patch.values for patch in patches if patch.path == path), {})
    return tuple(
        Change(TARGET, ".".join(keys), value_at(own, keys), desired, DIFFERS, frozenset(), path, keys)
        for field, keys, desired in inputs.desired
        if not _is_right(patches, field, keys, desired)
    )
