# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two nodes of the lab's cluster, and runs of Ansible against both, as a user starts them."""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .node import Node, Run, ansible, begun, lab


@dataclass(frozen=True)
class Cluster:
    """``inventory`` is Molecule's, with the profile of each node."""

    first: Node
    second: Node
    inventory: str
    kubeconfig: str
    directory: Path

    @classmethod
    def of_scenario(cls, first: str, second: str, directory: Path) -> Cluster:
        """The cluster that a Molecule scenario has created."""
        inventory = os.environ["MOLECULE_INVENTORY_FILE"]
        kubeconfig = json.loads(lab("cluster", "up", "--json"))["kubeconfig"]
        nodes = [Node(name, inventory, directory) for name in (first, second)]
        return cls(nodes[0], nodes[1], inventory, kubeconfig, directory)

    def ansible(self, playbook: str, *arguments: str, **variables: Any) -> Run:
        return ansible(*self._named(playbook), *arguments, **self._known(variables))

    def begun(self, playbook: str, *arguments: str, **variables: Any) -> AbstractContextManager[Path]:
        return begun(*self._named(playbook), *arguments, **self._known(variables))

    def state(self) -> dict[str, tuple[str, str]]:
        """Files and processes of each node."""
        return {node.name: (node.tree(), node.services()) for node in (self.first, self.second)}

    def _named(self, playbook: str) -> tuple[str, Path, str, str]:
        return f"volcano.colocation.{playbook}", self.directory, "-i", self.inventory

    def _known(self, variables: dict[str, Any]) -> dict[str, Any]:
        return {"colocation_kubeconfig": self.kubeconfig, **variables}
