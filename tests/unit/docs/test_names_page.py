# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/names.md is correct: new names exist, and old names are only used where they lead to the new ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.node.action_base import (
    RENAMED,
    UnknownVariable,
    require_known,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.variable_names import VARIABLES
from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT, sources
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import ALIGNED, FIXTURES
from ansible_collections.volcano.colocation.tests.unit.docs.test_findings_page import ON_PAGE, REFUSALS
from ansible_collections.volcano.colocation.tests.unit.docs.test_module_docs import ACTIONS, MODULES, SPECS, texts

PAGE = Path("docs/names.md")
OLD_NAMES_LEAD_ON = {PAGE, Path("meta/runtime.yml"), Path("plugins/plugin_utils/node/action_base.py")}
FRAGMENTS = Path("changelogs/changelog.yaml")
"""Has the names of fragments, of which one is an old name. CHANGELOG.md has the same texts without them."""
WORDS = {"image"}
"""Old names that are also common words."""


class Row(NamedTuple):
    old: str
    new: str
    reason: str


def table() -> dict[str, list[Row]]:
    """The rows of the page by the heading above them."""
    rows_by_heading: dict[str, list[Row]] = {}
    for part in re.split(r"^## ", (CHECKOUT / PAGE).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        rows = re.findall(r"^\| `(\S+)` \| `(\S+)` \| (\S.*) \|$", part, re.MULTILINE)
        rows_by_heading[part.partition("\n")[0]] = [Row(*row) for row in rows]
    return rows_by_heading


TABLE = table()
MODULE_NAMES = {row.new: row.old for row in TABLE["Modules"]}


def each_row(heading: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", TABLE[heading], ids=lambda row: row.old)


def test_the_tables_are_these() -> None:
    assert list(TABLE) == [
        "Modules",
        "Options",
        "Values of options",
        "Results",
        "Facts document",
        "Registered variables",
        "Variables of roles and playbooks",
        "Findings",
        "Refusals",
    ]
    lines = (CHECKOUT / PAGE).read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("| `") for line in lines) == sum(map(len, TABLE.values()))


def test_each_table_is_sorted_and_names_nothing_twice() -> None:
    for rows in TABLE.values():
        assert [row.old for row in rows] == sorted({row.old for row in rows})
        assert not {row.old for row in rows} & {row.new for row in rows}


def test_the_page_is_linked() -> None:
    assert f"]({PAGE.name})" in (CHECKOUT / "docs/contributing.md").read_text(encoding="utf-8")


def test_old_modules_lead_to_existing_ones() -> None:
    redirects = {row.old: {"redirect": f"volcano.colocation.{row.new}"} for row in TABLE["Modules"]}
    routing = read_yaml((CHECKOUT / "meta/runtime.yml").read_text(encoding="utf-8"))["plugin_routing"]
    assert routing["modules"] == redirects
    assert routing["action"] == {
        old: to for old, to in redirects.items() if to["redirect"].rpartition(".")[2] in ACTIONS
    }
    assert MODULE_NAMES.keys() <= set(MODULES)


def option(path: str) -> tuple[Mapping[str, Any], str]:
    """The specification that has an option, by its path, and the option's name."""
    module, *above, name = path.split(".")
    spec = SPECS[module]
    for part in above:
        spec = spec[part]["options"]
    return spec, name


@each_row("Options")
def test_the_old_name_of_an_option_is_an_alias(row: Row) -> None:
    spec, name = option(row.new)
    assert spec[name]["aliases"] == [row.old.rpartition(".")[2]]
    assert row.old.rpartition(".")[2] not in spec


def test_no_option_has_another_alias() -> None:
    assert sorted(_aliased(SPECS)) == sorted(row.new for row in TABLE["Options"])


def _aliased(specs: Mapping[str, Any]) -> Iterator[str]:
    for module, spec in specs.items():
        for name, one in spec.items():
            if "aliases" in one:
                yield f"{module}.{name}"
            yield from _aliased({f"{module}.{name}": one.get("options") or {}})


@each_row("Values of options")
def test_an_option_takes_the_new_value_only(row: Row) -> None:
    (path, old), new = row.old.split("="), row.new.partition("=")[2]
    spec, name = option(path)
    assert new in spec[name]["choices"]
    assert old not in spec[name]["choices"]


def documented(path: str) -> bool:
    """Whether RETURN of a module has a key, by its path; without ``contains``, its parent's description has it."""
    path, _equals, value = path.partition("=")
    module, *parts = path.split(".")
    if module not in MODULES:
        return False
    keys: dict[str, Any] = read_yaml(texts(module).RETURN)
    description = ""
    for part in parts:
        if part in keys:
            description, keys = str(keys[part]["description"]), keys[part].get("contains") or {}
        elif keys or f"C({part})" not in description:
            return False
    return not value or f"V({value})" in description


@each_row("Results")
def test_a_result_has_the_new_key_only(row: Row) -> None:
    assert documented(row.new)
    assert not documented(row.old)


def test_roles_and_playbooks_read_the_new_keys() -> None:
    old = {row.old.split(".")[1] for row in TABLE["Results"] if row.old.count(".") == 1}
    pattern = re.compile(rf"\b(?:agent|node|qos|rollout|scheduler)_\w+\.(?:plan\.)?({'|'.join(old)})\b(?!\.)")
    files = [path for path in sources() if path.parts[0] in ("roles", "playbooks", "molecule")]
    assert {str(path): old_keys for path in files if (old_keys := set(pattern.findall(read(path))) - NEW_KEYS)} == {}


NEW_KEYS = {row.new.split(".")[1] for row in TABLE["Results"]}


@each_row("Facts document")
def test_the_facts_have_the_new_key_only(row: Row) -> None:
    facts = json.loads((FIXTURES / "facts" / f"{ALIGNED}.json").read_text(encoding="utf-8"))
    section, name = row.new.split(".")
    assert name in facts[section]
    assert row.old.split(".")[1] not in facts[section]


@each_row("Registered variables")
def test_roles_register_the_new_name(row: Row) -> None:
    assert any(f"register: {row.new}\n" in read(path) for path in sources() if path.parts[0] == "roles")


def test_variables_are_known_by_their_new_names_and_the_message_has_it() -> None:
    renamed = {row.old: row.new for row in TABLE["Variables of roles and playbooks"]}
    assert renamed == RENAMED
    assert set(renamed.values()) <= VARIABLES
    assert not renamed.keys() & VARIABLES
    for old, new in renamed.items():
        with pytest.raises(UnknownVariable, match=f"^Variable {old} has a new name: {new}. The node was not read"):
            require_known([old])


def test_findings_and_refusals_have_the_new_codes_only() -> None:
    for heading, codes in (("Findings", set(ON_PAGE)), ("Refusals", set(REFUSALS))):
        assert {row.new for row in TABLE[heading]} <= codes
        assert not {row.old for row in TABLE[heading]} & codes


def read(path: Path) -> str:
    return (CHECKOUT / path).read_text(encoding="utf-8", errors="replace")


def old_names() -> re.Pattern[str]:
    """Old names, which must not be used. A module's may also be a file's: after a dot only the full name counts."""
    modules = "|".join(row.old for row in TABLE["Modules"])
    variables = [
        row.old for name in ("Registered variables", "Variables of roles and playbooks") for row in TABLE[name]
    ]
    codes = [row.old for name in ("Findings", "Refusals") for row in TABLE[name] if row.old not in WORDS]
    return re.compile(
        rf"(?<![\w./])(?:{modules})(?!\w)|volcano\.colocation\.(?:{modules})(?!\w)"
        rf"|(?<!\w)(?:{'|'.join(variables)})(?!\w)|(?<![\w-])(?:{'|'.join(codes)})(?![\w-])"
    )


def test_the_old_names_are_not_used() -> None:
    pattern = old_names()
    paths = [path for path in sources() if path not in {*OLD_NAMES_LEAD_ON, FRAGMENTS}]
    assert {str(path): sorted(names) for path in paths if (names := set(pattern.findall(read(path))))} == {}
