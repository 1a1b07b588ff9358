# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action of bundle_info, which runs only on the controller: verify a bundle and describe it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..plugin_utils.bundle.bundle_content import load_bundle, render_content
from ..plugin_utils.bundle.bundle_plan import BUNDLE_INFO
from ..plugin_utils.bundle.collection_tarball import running_manifest
from ..plugin_utils.bundle.python_wheels import BOUNDS, missing_libraries, running_python
from ..plugin_utils.node.action_base import ColocationAction
from ..plugin_utils.node.transport import Node


class ActionModule(ColocationAction):
    ARGUMENTS = BUNDLE_INFO

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        directory = Path(arguments["directory"]).absolute()
        sha256, document = load_bundle(directory, arguments["sha256"].strip())
        missing = missing_libraries(BOUNDS.read_text(encoding="utf-8"))
        content = render_content(directory, sha256, document, running_manifest(), running_python(), missing)
        return {"changed": False, "bundle": content}
