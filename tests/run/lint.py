# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of the stage `lint`. `make lint TOOL=NAME` runs one of them; .pre-commit-config.yaml calls that."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from .places import CHECKOUT, PACKAGE, tool_environment

DOCSITE = f"{PACKAGE.removesuffix('.run')}.docsite"

LINT: Mapping[str, tuple[str, ...]] = {
    "ruff": ("ruff", "check", "."),
    "ruff-format": ("ruff", "format", "--check", "."),
    "mypy": ("mypy",),
    "vermin": ("vermin", "--target=3.7-", "--violations", "--no-tips", "plugins/modules", "plugins/module_utils"),
    "ansible-lint": ("ansible-lint",),
    "changelog": ("antsibull-changelog", "lint"),
    "plugin-docs": (
        *("antsibull-docs", "lint-collection-docs", "--plugin-docs", "--disallow-unknown-collection-refs", "."),
    ),
    "docs-site": ("python", "-m", DOCSITE),
    "licenses": ("reuse", "lint", "--lines"),
    "workflow": ("check-jsonschema", "--builtin-schema", "vendor.github-workflows", ".github/workflows/ci.yml"),
    "workflow-security": ("zizmor", "--offline", "--no-progress", "--persona", "pedantic", ".github"),
}
"""Commands by the name of the tool."""


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in LINT:
        print(f"name one of the tools: {' '.join(LINT)}", file=sys.stderr)
        return 2
    environment = tool_environment(os.environ)
    return subprocess.run(LINT[arguments[0]], cwd=CHECKOUT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
