# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where kubelet's settings are written on a node, and what is in force there once they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..facts.config_file import ConfigFile
from ..facts.kubelet_layers import (
    DROPINS_FREE_SINCE,
    DROPINS_SINCE,
    JSON_MERGE_SINCE,
    dropins_read,
    merge_override,
    merge_patch,
)
from ..facts.kubelet_state import Flag, KubeletFacts
from ..facts.node_layout import RANCHER
from ..facts.node_state import NodeFacts
from ..releases.versions import minor
from .change_set import Refusal

OWN_FILE = "90-volcano-colocation.conf"
VARIABLE = "KUBELET_CONFIG_DROPIN_DIR_ALPHA"


SUPERVISORS = ("k3s.service", "k3s-agent.service", "rke2-server.service", "rke2-agent.service")
"""k3s and RKE2 start kubelet themselves; install.sh of either names its unit by the node's role."""


class Strategy(str, Enum):
    """How a node keeps kubelet's settings; ``auto`` is only ever asked for."""

    AUTO = "auto"
    MAIN_FILE = "main-file"
    DROP_IN = "drop-in"
    K3S_DROP_IN = "k3s-drop-in"


@dataclass(frozen=True)
class ConfigLocation:
    """The file that settings go to, and the main file, which agents parse; None where kubelet reads none."""

    strategy: Strategy
    path: str
    main: str | None

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path for path in (self.path, self.main) if path))


def flag_text(found: Sequence[Flag], name: str) -> str | None:
    """The value of a flag on a command line: the last one wins."""
    return next((flag.value for flag in reversed(found) if flag.name == name), None)


def reads_main(kubelet: KubeletFacts) -> bool:
    """Whether kubelet is started with --config; of a command line that was not seen, the file's being there tells."""
    running = kubelet.start.running
    return kubelet.config.kind != "missing" and bool(not running or flag_text(running, "--config"))


def why_no_folder(facts: NodeFacts) -> str | None:
    """What keeps kubelet from reading a folder of drop-ins; None where one is in force. cmd/kubelet/app/server.go."""
    start, version = facts.kubelet.start, minor(facts.kubelet.version)
    if start.config_dir is None:
        return "kubelet is started without --config-dir"
    if not start.config_dir.startswith("/") or start.config_dir_exists is not True:
        return f"--config-dir {start.config_dir} is no folder"
    if facts.layout.kubelet_inside:
        return None
    if version is None:
        return "kubelet's version is not known, and before 1.28 it has no --config-dir"
    if version < DROPINS_SINCE:
        return f"kubelet {facts.kubelet.version} has no --config-dir"
    if version < DROPINS_FREE_SINCE and start.dropin_variable is not True:
        return f"kubelet {facts.kubelet.version} reads no --config-dir without {VARIABLE} in its environment"
    return None


def choose_location(facts: NodeFacts, asked: Strategy = Strategy.AUTO) -> ConfigLocation | Refusal:
    """The place of kubelet's settings, or why there is none of the kind that was asked for."""
    main = facts.kubelet.config.path if reads_main(facts.kubelet) else None
    missing = why_no_folder(facts)
    if asked is Strategy.DROP_IN and missing:
        return Refusal(
            "strategy-not-in-force",
            f"drop-ins were asked for, and {missing}",
            "Set kubelet_strategy (colocation_kubelet_strategy) to auto or main-file; flags are never added.",
            variable="kubelet_strategy",
        )
    if missing is None and asked is not Strategy.MAIN_FILE:
        kind = Strategy.K3S_DROP_IN if facts.layout.name in RANCHER else Strategy.DROP_IN
        return ConfigLocation(kind, f"{str(facts.kubelet.start.config_dir).rstrip('/')}/{OWN_FILE}", main)
    if main is None:
        return Refusal(
            "kubelet-config-missing",
            "kubelet runs without this file",
            "Start kubelet with --config and move its flags there; flags are never added by this collection.",
            file=facts.kubelet.config.path,
        )
    return ConfigLocation(Strategy.MAIN_FILE, main, main)


def reads_folder(kubelet: KubeletFacts) -> bool:
    """Whether the folder's files count: also where the version is unknown, for a kubelet that starts reads them."""
    start = kubelet.start
    usable = start.config_dir is not None and start.config_dir.startswith("/") and start.config_dir_exists is True
    return usable and dropins_read(minor(kubelet.version), start)


def decoded_files(facts: NodeFacts) -> tuple[ConfigFile, ...]:
    """The files that kubelet decodes and that parse. Of the one inside k3s nobody wrote a main file."""
    main = (facts.kubelet.config,) if reads_main(facts.kubelet) and not facts.layout.kubelet_inside else ()
    dropins = facts.kubelet.dropins if reads_folder(facts.kubelet) else ()
    return tuple(each for each in (*main, *dropins) if each.kind != "missing" and each.problem is None)


def kubelet_unit(facts: NodeFacts) -> str:
    """The unit whose restart restarts kubelet."""
    if facts.layout.name not in RANCHER:
        return "kubelet.service"
    units = facts.systemd.units
    active = [name for name in SUPERVISORS if units.get(name, {}).get("ActiveState") == "active"]
    return next((name for name in active if name.startswith(facts.layout.name)), "kubelet.service")


def runtime_unit(facts: NodeFacts) -> str:
    """The unit whose restart restarts the runtime: k3s and RKE2 start containerd themselves, and take it with them."""
    return kubelet_unit(facts) if facts.layout.regenerated else f"{facts.runtime.unit}.service"


def _order(folder: str, path: str) -> tuple[str, ...]:
    """filepath.WalkDir goes through each folder by name, and into the folders as they come."""
    return tuple(path[len(folder) :].strip("/").split("/"))


Layer = tuple[str, Mapping[str, Any]]


def config_layers(kubelet: KubeletFacts) -> tuple[Layer, ...]:
    """kubelet's files with their values, the weakest first; our own drop-in is among them, empty if unwritten."""
    main = [(kubelet.config.path, kubelet.config.values)] if reads_main(kubelet) else []
    if not reads_folder(kubelet):
        return tuple(main)
    folder = str(kubelet.start.config_dir).rstrip("/")
    found: dict[str, Mapping[str, Any]] = {f"{folder}/{OWN_FILE}": {}}
    found.update({each.path: each.values for each in kubelet.dropins})
    return (*main, *sorted(found.items(), key=lambda item: _order(folder, item[0])))


def merge_layers(found: Sequence[Layer], version: tuple[int, int] | None) -> Mapping[str, Any]:
    """One document as kubelet makes it of its files: 1.28 by mergo, later as a JSON merge patch (RFC 7386)."""
    merge = merge_override if version and version < JSON_MERGE_SINCE else merge_patch
    whole: Any = {}
    for number, (_path, values) in enumerate(found):
        whole = dict(values) if number == 0 else merge(whole, values)
    result: Mapping[str, Any] = whole
    return result


def with_values(found: Sequence[Layer], path: str, values: Mapping[tuple[str, ...], Any]) -> tuple[Layer, ...]:
    """The layers with some values of one file replaced."""
    return tuple((each, _with_changes(old, values) if each == path else old) for each, old in found)


def _with_changes(old: Mapping[str, Any], values: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    result = dict(old)
    for keys, value in values.items():
        place = result
        for key in keys[:-1]:
            inner = place.get(key)
            place[key] = dict(inner) if isinstance(inner, Mapping) else {}
            place = place[key]
        place[keys[-1]] = value
    return result
