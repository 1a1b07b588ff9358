# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""validate_variables, which runs only on the controller: the check of variables that all actions begin with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..plugin_utils.node.action_base import ColocationAction
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import Spec


class ActionModule(ColocationAction):
    ARGUMENTS: ClassVar[Spec] = {}

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"changed": False}
