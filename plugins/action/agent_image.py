# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of agent_image: look on the node, and send the archive only if it is needed there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleConnectionFailure

from ..plugin_utils.agent.image_archive import ARCHIVE_VARIABLE
from ..plugin_utils.agent.module_options import AGENT_IMAGE
from ..plugin_utils.node.action_base import ColocationAction
from ..plugin_utils.node.transport import ConnectionLost, Node
from ..plugin_utils.profile.validators import ProfileError

MODULE = "volcano.colocation.agent_image"
NEEDED = ("image", "archive", "sha256", "images")


class ActionModule(ColocationAction):
    ARGUMENTS = AGENT_IMAGE

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if arguments["state"] == "absent":
            return node.execute(MODULE, {"state": "absent", "ignore_containers": arguments["ignore_containers"]})
        missing = [name for name in NEEDED if not arguments[name]]
        if missing:
            raise ProfileError(
                ARCHIVE_VARIABLE, f"agent_image needs {', '.join(missing)}, which agent_archive_info returns"
            )
        looked = node.execute(MODULE, {**arguments, "archive": None})
        if looked.get("failed") or not looked.get("import_required") or self._task.check_mode:
            return looked
        try:
            return node.execute(MODULE, {**arguments, "archive": self._sent(arguments["archive"])})
        except AnsibleConnectionFailure as error:
            raise ConnectionLost(error) from error
        finally:
            self._remove_tmp_path(self._connection._shell.tmpdir)

    def _sent(self, archive: str) -> str:
        """Where the archive lies on the node: in Ansible's folder for this task, which is 0700 and the login user's."""
        shell = self._connection._shell
        if shell.tmpdir is None:
            self._make_tmp_path()
        path: str = shell.join_path(shell.tmpdir, "image.tar")
        self._transfer_file(archive, path)
        self._fixup_perms2((shell.tmpdir, path), execute=False)
        return path
