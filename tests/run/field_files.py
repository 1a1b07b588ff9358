# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that `make docs` writes from the table of kubelet's fields, whole or between two comments."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.field_schema import FieldType, KubeletField
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import (
    CGROUP_DRIVER,
    FIELDS,
    OBSERVED,
)

from . import field_docs
from .blocks import replace_block
from .places import CHECKOUT

FRAGMENT = CHECKOUT / "plugins" / "doc_fragments" / "kubelet_fields.py"
CONFIGZ = CHECKOUT / "plugins" / "module_utils" / "snapshot" / "kubelet_endpoints.py"
ROLE = CHECKOUT / "roles" / "node"
PAGE = CHECKOUT / "docs" / "kubelet.md"

WIDTH = 120
_HEAD = """\
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""
_FRAGMENT = f'''{_HEAD}"""Options that set kubelet's fields, written by `make docs` from profile/kubelet_fields."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
{{options}}
"""

    DRIVER = r"""
options:
{{driver}}
"""
'''


def texts() -> dict[Path, str]:
    """Each file with its current generated text."""
    return {
        FRAGMENT: _FRAGMENT.format(
            options="\n".join(_options(field for field in FIELDS if field is not CGROUP_DRIVER)),
            driver="\n".join(_options([CGROUP_DRIVER])),
        ),
        CONFIGZ: _in_file(CONFIGZ, 4, (f'"{field.key}",' for field in OBSERVED)),
        ROLE / "meta" / "argument_specs.yml": _in_file(ROLE / "meta" / "argument_specs.yml", 6, variables()),
        ROLE / "defaults" / "main.yml": _in_file(ROLE / "defaults" / "main.yml", 0, _defaults()),
        ROLE / "vars" / "main.yml": _vars(ROLE / "vars" / "main.yml"),
        PAGE: _page(PAGE.read_text(encoding="utf-8")),
    }


def write() -> None:
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")


def _page(text: str) -> str:
    for name, table in (("fields", field_docs.fields_table()), ("sources", field_docs.sources_table())):
        begin, end = f"<!-- {name}: written by make docs -->\n", f"<!-- end of {name} -->"
        text = replace_block(text, begin, f"\n{table}\n\n", end)
    return text


def _in_file(path: Path, indent: int, lines: Iterable[str]) -> str:
    return _block(path.read_text(encoding="utf-8"), "kubelet's fields", indent, lines)


def _vars(path: Path) -> str:
    text = _in_file(path, 2, (f'{field.option}: "{{{{ {_passed(field)} }}}}"' for field in FIELDS))
    return _block(text, "defaults of kubelet's fields", 0, _unset_defaults())


def _block(text: str, name: str, indent: int, lines: Iterable[str]) -> str:
    margin = " " * indent
    content = "".join(f"{margin}{line}\n" for line in lines)
    return replace_block(text, f"{margin}# {name}: written by make docs\n", content, f"{margin}# end of {name}\n")


def _options(fields: Iterable[KubeletField]) -> Iterator[str]:
    """Options of a module, indented."""
    for field in fields:
        spec = field.argument_spec()
        yield from (f"  {line}" for line in option_lines(field.option, field_docs.of_module(field), spec, 2))


def variables() -> Iterator[str]:
    """Variables of the role."""
    for field in FIELDS:
        spec = field.argument_spec()
        if field.type is FieldType.TEXT and field.choices:
            spec["choices"] = [*field.choices, ""]
        if _has_default(field):
            spec["default"] = field_docs.EMPTY[field.type]
        yield from option_lines(f"{field_docs.PREFIX}{field.option}", field_docs.of_role(field), spec, 6)


def option_lines(name: str, paragraphs: Iterable[str], spec: dict[str, Any], indent: int) -> Iterator[str]:
    """An option in the form of module documentation and argument specifications; ``indent`` spaces will precede it."""
    yield f"{name}:"
    yield "  description:"
    for paragraph in paragraphs:
        yield from _item(paragraph, WIDTH - indent)
    for key, value in spec.items():
        yield f"  {key}: {_flow(value)}"


def _item(paragraph: str, width: int) -> Iterator[str]:
    """An item of a list, in double quotes where YAML would read it differently."""
    text = paragraph if _plain(paragraph) else yaml.safe_dump(paragraph, default_style='"', width=1 << 20).strip()
    yield from textwrap.wrap(
        text,
        width,
        initial_indent="    - ",
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _plain(text: str) -> bool:
    try:
        return bool(yaml.safe_load(text) == text)
    except yaml.YAMLError:
        return False


def _flow(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return str(value) if value != "" else '""'


def _has_default(field: KubeletField) -> bool:
    return field.role_default is None and field.type in field_docs.EMPTY


def _defaults() -> Iterator[str]:
    """Defaults of the role."""
    for field in filter(_has_default, FIELDS):
        yield f"{field_docs.PREFIX}{field.option}: {_flow(field_docs.EMPTY[field.type])}"


def _passed(field: KubeletField) -> str:
    """The expression with which the role passes a variable; values that do not change the field are omitted."""
    variable = f"{field_docs.PREFIX}{field.option}"
    if field.role_default is not None:
        return f"{variable} | default('{field.role_default}') | default(omit, true)"
    if field_docs.EMPTY.get(field.type) == {}:
        return variable
    return f"{variable} | default(omit, true)" if _has_default(field) else f"{variable} | default(omit)"


def _unset_defaults() -> Iterator[str]:
    """The options that the role sets although their variable is not set, as an expression."""
    chosen = [field.option for field in FIELDS if field.role_default is not None]
    terms = (f"(['{option}'] if {field_docs.PREFIX}{option} is undefined else [])" for option in chosen)
    expression = "\n  + ".join(terms)
    yield from f"node_kubelet_defaults: >-\n  {{{{ {expression} }}}}".splitlines()
