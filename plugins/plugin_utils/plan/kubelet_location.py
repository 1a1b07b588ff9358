# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where kubelet's settings are written on a node, and how kubelet merges its files."""

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
"""k3s and RKE2 start kubelet themselves; their install.sh names the unit by the node's role."""


class Strategy(str, Enum):
    """Where a node has kubelet's settings; ``auto`` is only a request, never a result."""

    AUTO = "auto"
    MAIN_FILE = "main-file"
    DROP_IN = "drop-in"
    K3S_DROP_IN = "k3s-drop-in"


@dataclass(frozen=True)
class ConfigLocation:
    """The file that settings are written to, and the main file, which agents parse; None if kubelet reads none."""

    strategy: Strategy
    path: str
    main: str | None

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path for path in (self.path, self.main) if path))


def flag_text(flags: Sequence[Flag], name: str) -> str | None:
    """The value of a flag on a command line; the last one is effective."""
    return next((flag.value for flag in reversed(flags) if flag.name == name), None)


def reads_main(kubelet: KubeletFacts) -> bool:
    """Whether kubelet is started with --config; if its command line is unknown, whether the file exists."""
    running = kubelet.start.running
    if kubelet.config.kind == "missing" or kubelet.runs_without_file:
        return False
    return not running or bool(flag_text(running, "--config"))


def config_dir_obstacle(facts: NodeFacts) -> str | None:
    """Why kubelet does not read drop-ins of --config-dir; None if it reads them. Source: cmd/kubelet/app/server.go."""
    start, version = facts.kubelet.start, minor(facts.kubelet.version)
    if start.config_dir is None:
        return "kubelet is started without --config-dir"
    if not start.config_dir.startswith("/") or start.config_dir_exists is not True:
        return f"--config-dir {start.config_dir} is not a directory"
    if facts.layout.kubelet_inside:
        return None
    if version is None:
        return "kubelet's version is unknown, and kubelet before 1.28 has no --config-dir"
    if version < DROPINS_SINCE:
        return f"kubelet {facts.kubelet.version} has no --config-dir"
    if version < DROPINS_FREE_SINCE and start.dropin_variable is not True:
        return f"kubelet {facts.kubelet.version} ignores --config-dir without {VARIABLE} in its environment"
    return None


def choose_location(facts: NodeFacts, asked: Strategy = Strategy.AUTO) -> ConfigLocation | Refusal:
    """The location of kubelet's settings, or why the requested strategy has none."""
    main_path = facts.kubelet.config.path if reads_main(facts.kubelet) else None
    obstacle = config_dir_obstacle(facts)
    if asked is Strategy.DROP_IN and obstacle:
        return Refusal(
            "strategy-not-in-force",
            f"drop-ins were requested, but {obstacle}",
            "Set colocation_kubelet_strategy to auto or main-file; flags are never added.",
            variable="kubelet_strategy",
        )
    if obstacle is None and asked is not Strategy.MAIN_FILE:
        kind = Strategy.K3S_DROP_IN if facts.layout.name in RANCHER else Strategy.DROP_IN
        return ConfigLocation(kind, f"{str(facts.kubelet.start.config_dir).rstrip('/')}/{OWN_FILE}", main_path)
    if main_path is None:
        return Refusal(
            "kubelet-config-missing",
            "kubelet runs without this file",
            "Start kubelet with --config and move its flags there; flags are never added by this collection.",
            file=facts.kubelet.config.path,
        )
    return ConfigLocation(Strategy.MAIN_FILE, main_path, main_path)


def reads_config_dir(kubelet: KubeletFacts) -> bool:
    """Whether kubelet reads drop-ins of --config-dir; true for an unknown version, as one that starts reads them."""
    start = kubelet.start
    usable = start.config_dir is not None and start.config_dir.startswith("/") and start.config_dir_exists is True
    return usable and dropins_read(minor(kubelet.version), start)


def decoded_files(facts: NodeFacts) -> tuple[ConfigFile, ...]:
    """The valid files that kubelet decodes. A kubelet inside k3s has no main file written by a user."""
    main = (facts.kubelet.config,) if reads_main(facts.kubelet) and not facts.layout.kubelet_inside else ()
    dropins = facts.kubelet.dropins if reads_config_dir(facts.kubelet) else ()
    return tuple(config for config in (*main, *dropins) if config.kind != "missing" and config.problem is None)


def kubelet_unit(facts: NodeFacts) -> str:
    """The unit whose restart restarts kubelet."""
    if facts.layout.name not in RANCHER:
        return "kubelet.service"
    units = facts.systemd.units
    active = [name for name in SUPERVISORS if units.get(name, {}).get("ActiveState") == "active"]
    return next((name for name in active if name.startswith(facts.layout.name)), "kubelet.service")


def runtime_unit(facts: NodeFacts) -> str:
    """The unit whose restart restarts the runtime: k3s and RKE2 start containerd themselves and restart it too."""
    return kubelet_unit(facts) if facts.layout.regenerated else f"{facts.runtime.unit}.service"


def _order(directory: str, path: str) -> tuple[str, ...]:
    """The sort key for the order of filepath.WalkDir: by name in each directory, entering directories in place."""
    return tuple(path[len(directory) :].strip("/").split("/"))


Layer = tuple[str, Mapping[str, Any]]


def config_layers(kubelet: KubeletFacts) -> tuple[Layer, ...]:
    """kubelet's files with their values, lowest precedence first; with the own drop-in, empty if it does not exist."""
    main = [(kubelet.config.path, kubelet.config.values)] if reads_main(kubelet) else []
    if not reads_config_dir(kubelet):
        return tuple(main)
    directory = str(kubelet.start.config_dir).rstrip("/")
    layers: dict[str, Mapping[str, Any]] = {f"{directory}/{OWN_FILE}": {}}
    layers.update({config.path: config.values for config in kubelet.dropins})
    return (*main, *sorted(layers.items(), key=lambda item: _order(directory, item[0])))


def merge_layers(layers: Sequence[Layer], version: tuple[int, int] | None) -> Mapping[str, Any]:
    """The document that kubelet merges from its files: 1.28 by mergo, later as a JSON merge patch (RFC 7386)."""
    merge = merge_override if version and version < JSON_MERGE_SINCE else merge_patch
    document: Any = {}
    for number, (_path, values) in enumerate(layers):
        document = dict(values) if number == 0 else merge(document, values)
    result: Mapping[str, Any] = document
    return result


def with_values(layers: Sequence[Layer], path: str, values: Mapping[tuple[str, ...], Any]) -> tuple[Layer, ...]:
    """The layers with some values of one file replaced."""
    return tuple((layer_path, _with_changes(old, values) if layer_path == path else old) for layer_path, old in layers)


def _with_changes(old: Mapping[str, Any], values: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    result = dict(old)
    for keys, value in values.items():
        branch = result
        for key in keys[:-1]:
            inner = branch.get(key)
            branch[key] = dict(inner) if isinstance(inner, Mapping) else {}
            branch = branch[key]
        branch[keys[-1]] = value
    return result
