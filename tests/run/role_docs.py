# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""README.md of each role, which Ansible Galaxy requires, from its argument specification; `make docs` writes them."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from .places import CHECKOUT

ROLES = CHECKOUT / "roles"
MARKUP = re.compile(r"\b[CVO]\(([^)]*)\)")

_TEXT = """\
<!-- SPDX-FileCopyrightText: the volcano.colocation authors -->
<!-- SPDX-License-Identifier: GPL-3.0-or-later -->
# Role `volcano.colocation.{name}`

{description}.
The playbooks of the collection run this role.

| `tasks_from` | does |
|---|---|
{rows}

`ansible-doc -t role volcano.colocation.{name}` explains the entry points and their variables.
`meta/argument_specs.yml` declares them. `make docs` writes this file.
"""


def role_names() -> list[str]:
    return sorted(path.name for path in ROLES.iterdir())


def readme_path(name: str) -> Path:
    return ROLES / name / "README.md"


def render_readme(name: str) -> str:
    """The text of a role's README.md."""
    text = (ROLES / name / "meta" / "argument_specs.yml").read_text(encoding="utf-8")
    entries = {
        entry: MARKUP.sub(r"`\1`", specification["short_description"])
        for entry, specification in yaml.safe_load(text)["argument_specs"].items()
    }
    rows = "\n".join(f"| `{entry}` | {description} |" for entry, description in entries.items())
    return _TEXT.format(name=name, description=entries["main"], rows=rows)


def write() -> None:
    for name in role_names():
        readme_path(name).write_text(render_readme(name), encoding="utf-8")
