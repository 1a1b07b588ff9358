# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubeadm's patches of kubelet's configuration lack of the profile: its next upgrade makes the main file anew.

The patch is a file of our own which is applied last, so that nobody else's file is changed. All that the profile sets
is written, defaults too: what the patch is merged into is the cluster's, and kubeadm has defaults of its own.
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
"""target[suffix][+patchtype].extension; kubeadm goes through the names in lexical order."""
HEADER = "# Made by volcano.colocation for kubeadm --patches. Keep patches of your own in another file.\n"
SINCE = (1, 25)
"""kubernetes#110405: the target kubeletconfiguration. kubeadm passes over the file before."""
DIFFERS = "kubeadm upgrade would bring another value"
_UNSET, _UNCLEAR = object(), object()


def own_path(profile: Profile) -> str:
    """The file that is ours in the folder of the profile."""
    return f"{str(profile.kubeadm_patches).rstrip('/')}/{OWN_PATCH}"


def keeps_main_file(inputs: PlanInputs) -> bool:
    """Whether kubeadm makes the file anew that kubelet's settings are written to."""
    place = inputs.kubelet_location
    return (
        inputs.facts.layout.name == "kubeadm"
        and isinstance(place, ConfigLocation)
        and place.strategy is Strategy.MAIN_FILE
    )


def unsupported_reason(inputs: PlanInputs) -> str | None:
    """Why this node gets no patch although a folder is named; None where it gets one."""
    kubelet, layout = inputs.kubelet, inputs.facts.layout.name
    version = minor(kubelet.version)
    if layout != "kubeadm":
        return f"the node's layout is {layout}, not kubeadm"
    if not keeps_main_file(inputs):
        return "its settings are in a drop-in, which kubeadm leaves as it is"
    if version is not None and version < SINCE:
        return f"kubeadm {kubelet.version} passes over patches of kubelet's configuration, as all before 1.25 do"
    if kubelet.kubeadm_patches is None:
        return "nobody looked into the folder when this snapshot was taken"
    return None


def unsupported_patch(inputs: PlanInputs) -> tuple[Unsupported, ...]:
    """The patch that was asked for and is not written."""
    reason = unsupported_reason(inputs) if inputs.profile.kubeadm_patches else None
    return (Unsupported("kubeadm_patches", reason),) if reason else ()


def _patches_to_plan(inputs: PlanInputs) -> tuple[Patch, ...] | None:
    """The patches of a node that gets one; None for every other node."""
    found = inputs.kubelet.kubeadm_patches
    return None if not inputs.profile.kubeadm_patches or unsupported_reason(inputs) or found is None else found.patches


def patched_value(patch: Patch, keys: tuple[str, ...]) -> Any:
    """What a file of patches makes of a field: a value, ``_UNSET`` where it leaves it, ``_UNCLEAR``."""
    if keys[0] in patch.touched or "*" in patch.touched:
        return _UNCLEAR
    if keys[0] not in patch.values:
        return _UNSET
    above = patch.values[keys[0]]
    if len(keys) == 1 or not isinstance(above, Mapping):
        return _UNCLEAR if above is None or len(keys) > 1 else above
    return above.get(keys[1], _UNSET) if above.get(keys[1], "") is not None else _UNCLEAR


def later_patches(patches: tuple[Patch, ...], own: str) -> tuple[Patch, ...]:
    """The files that kubeadm applies after ours."""
    return tuple(each for each in patches if each.path.split("/") > own.split("/"))


def conflicting_fields(inputs: PlanInputs) -> Iterator[tuple[Patch, tuple[str, ...]]]:
    """(file, keys) of fields that a file applied after ours sets to something else than the profile."""
    patches = _patches_to_plan(inputs)
    for patch in later_patches(patches, own_path(inputs.profile)) if patches else ():
        for field, keys, wanted in inputs.desired:
            found = patched_value(patch, keys)
            if found is not _UNSET and (found is _UNCLEAR or not field.means(found, wanted)):
                yield patch, keys


def _is_right(patches: tuple[Patch, ...], field: KubeletField, keys: tuple[str, ...], wanted: Any) -> bool:
    found = [value for patch in patches if (value := patched_value(patch, keys)) is not _UNSET]
    return bool(found) and found[-1] is not _UNCLEAR and field.means(found[-1], wanted)


def patch_changes(inputs: PlanInputs) -> tuple[Change, ...]:
    """What our patch has to say that the patches together do not say yet."""
    patches = _patches_to_plan(inputs)
    if patches is None:
        return ()
    path = own_path(inputs.profile)
    own: Mapping[str, Any] = next((each.values for each in patches if each.path == path), {})
    return tuple(
        Change(TARGET, ".".join(keys), value_at(own, keys), wanted, DIFFERS, frozenset(), path, keys)
        for field, keys, wanted in inputs.desired
        if not _is_right(patches, field, keys, wanted)
    )
