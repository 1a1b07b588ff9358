# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All variables of roles and playbooks, from the argument specifications; `make docs` writes the list."""

from __future__ import annotations

from pathlib import Path

import yaml

from .places import CHECKOUT

OF_PLAYBOOKS = ("colocation_nodes", "colocation_scheduler")
"""Variables that playbooks read outside roles."""

MODULE = CHECKOUT / "plugins" / "plugin_utils" / "profile" / "variable_names.py"

_TEXT = '''# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All variables of roles and playbooks, written by `make docs` from the roles' argument specifications."""

from __future__ import annotations

VARIABLES = frozenset(
    {{
{names}
    }}
)
'''


def names() -> list[str]:
    """All names, sorted and unique."""
    variable_names = set(OF_PLAYBOOKS)
    for path in sorted((CHECKOUT / "roles").glob("*/meta/argument_specs.yml")):
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))["argument_specs"]
        variable_names.update(name for entry in entries.values() for name in entry.get("options", ()))
    return sorted(variable_names)


def module() -> str:
    """The text of the module with the list."""
    return _TEXT.format(names="\n".join(f'        "{name}",' for name in names()))


def write(path: Path = MODULE) -> None:
    path.write_text(module(), encoding="utf-8")
