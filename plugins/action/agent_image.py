# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of agent_image: check the node, and send the archive only if it needs an import."""

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
            names = ("owner", "state", "ignore_containers", "timeout")
            return node.execute(MODULE, {name: arguments[name] for name in names})
        missing = [name for name in NEEDED if not arguments[name]]
        if missing:
            raise ProfileError(
                ARCHIVE_VARIABLE, f"agent_image also needs {', '.join(missing)}, which agent_archive_info returns"
            )
        checked = node.execute(MODULE, {**arguments, "archive": None})
        if checked.get("failed") or not checked.get("import_required") or self._task.check_mode:
            return checked
        try:
            return node.execute(MODULE, {**arguments, "archive": self._send_archive(arguments["archive"])})
        except AnsibleConnectionFailure as error:
            raise ConnectionLost(error) from error
        finally:
            self._remove_tmp_path(self._connection._shell.tmpdir)

    def _send_archive(self, archive: str) -> str:
        """Send the archive to Ansible's temporary directory on the node (mode 0700, login user); return its path."""
        shell = self._connection._shell
        if shell.tmpdir is None:
            self._make_tmp_path()
        path: str = shell.join_path(shell.tmpdir, "image.tar")
        self._transfer_file(archive, path)
        self._fixup_perms2((shell.tmpdir, path), execute=False)
        return path
