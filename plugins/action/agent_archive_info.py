# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action of agent_archive_info, which runs only on the controller: read the images in an archive."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from ..plugin_utils.agent.image_archive import AGENT_VARIABLES, VOLCANO_VARIABLES, ArchiveVariables, load_archive
from ..plugin_utils.agent.module_options import AGENT_ARCHIVE_INFO
from ..plugin_utils.node.action_base import ColocationAction
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.validators import ProfileError

SCHEDULER = "volcano.colocation.scheduler"
SHA256 = re.compile(r"sha256:[0-9a-f]{64}")


class ActionModule(ColocationAction):
    ARGUMENTS = AGENT_ARCHIVE_INFO

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        path, digest, variables = os.path.abspath(arguments["path"]), arguments["digest"] or "", self._variables()
        if digest and not SHA256.fullmatch(digest):
            raise ProfileError(
                variables.digest, f"{digest!r} is not a digest: use sha256: and 64 digits of 0-9 and a-f"
            )
        try:
            with open(path, "rb") as stream:
                archive = load_archive(stream, path, arguments["image"], digest, variables)
        except OSError as error:
            message = f"{path}: {error.strerror or error}. Nothing was changed. Set it to a file on the controller"
            raise ProfileError(variables.archive, message) from error
        return {"changed": False, "archive": archive.to_result()}

    def _variables(self) -> ArchiveVariables:
        """The variables of the role that reads the archive."""
        role = self._task._role
        return VOLCANO_VARIABLES if role is not None and role.get_name() == SCHEDULER else AGENT_VARIABLES
