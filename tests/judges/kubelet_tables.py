# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes plugins/plugin_utils/releases/kubelet_generated.py from kubelet's own types, gates and flags.

``python -m ansible_collections.volcano.colocation.tests.judges.kubelet_tables`` writes it; the stage ``judges`` checks
that it is current.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.judges.kubelet_judge import KubeletJudge
from ansible_collections.volcano.colocation.tests.judges.kubelet_probes import gate_needs, limits
from ansible_collections.volcano.colocation.tests.judges.process import JudgeProcess
from ansible_collections.volcano.colocation.tests.lab import programs
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root
from ansible_collections.volcano.colocation.tests.lab.program_table import FAMILIES, KUBELET_JUDGE

PATH = Path(__file__).resolve().parents[2] / "plugins" / "plugin_utils" / "releases" / "kubelet_generated.py"
KUBELETS = tuple(known for known in FAMILIES if KUBELET_JUDGE in [program.name for program in known.programs])

LINE = 120

_HEADER = '''\
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Types, bounds, words, gates and flags of each kubelet that the tests build; tests/judges/kubelet_tables.py writes it.

``FIELD_KINDS``: the kind of each field by its path; ``[]`` is an item of a list, ``{}`` a value of a table.
``LIMITS``: the least and the greatest value of a field, of durations in milliseconds; ``WORDS``: those that it takes.
``GATES``: the default of each feature gate, and whether it is locked to that; ``GATE_NEEDS``: gates that have to be on
with a gate. ``FLAGS``: the type of each flag.
"""

from __future__ import annotations

from collections.abc import Mapping

Table = Mapping[str, str]
'''


def judge_of(name: str) -> KubeletJudge:
    """The judge of a family; it is built unless the cache has it."""
    built = programs.obtain(Cache(cache_root()), name, [KUBELET_JUDGE])
    return KubeletJudge(JudgeProcess(built.path(KUBELET_JUDGE)), built.family.version)


def tables(judge: KubeletJudge) -> dict[str, dict[str, str]]:
    """The tables of the kubelet of one release."""
    return {
        "FIELD_KINDS": dict(sorted(kinds(judge.table("types"), ""))),
        **limits(judge),
        "GATE_NEEDS": gate_needs(judge),
        "GATES": {name: _gate(stages[-1]) for name, stages in sorted(judge.table("gates").items())},
        "FLAGS": dict(sorted(_flags(judge.table("flags")))),
    }


def kinds(kind: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    yield path, kind["kind"]
    for name, field in kind.get("fields", {}).items():
        yield from kinds(field, f"{path}.{name}" if path else name)
    if "item" in kind:
        yield from kinds(kind["item"], path + ("[]" if kind["kind"] == "list" else "{}"))


def _gate(stage: Mapping[str, Any]) -> str:
    return str(stage["default"]).lower() + (" locked" if stage["locked"] else "")


def _flags(flags: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, flag in flags.items():
        yield name, flag["type"]
        if flag.get("shorthand"):
            yield f"-{flag['shorthand']}", flag["type"]


def render(tables_by_version: Mapping[tuple[int, int], Mapping[str, Mapping[str, str]]]) -> str:
    """The generated module: the oldest release in full, and the differences of each later one."""
    first, *later = sorted(tables_by_version)
    parts = [_HEADER]
    for name in tables_by_version[first]:
        parts.append(f"_{name}: Table = {{\n{_entries(tables_by_version[first][name])}}}\n")
        versions = [f"    {first}: _{name},\n"]
        before = tables_by_version[first][name]
        for version in later:
            now = tables_by_version[version][name]
            suffix = f"_{name}_{version[0]}_{version[1]}"
            removed = sorted(set(before) - set(now))
            changed = {key: value for key, value in now.items() if before.get(key) != value}
            parts.append(f"{suffix}_GONE = frozenset(\n    (\n{_names(removed)}    )\n)\n" if removed else "")
            inherited = (
                f"{{key: kind for key, kind in _{name}.items() if key not in {suffix}_GONE}}" if removed else f"_{name}"
            )
            parts.append(f"{suffix}: Table = {{\n    **{inherited},\n{_entries(changed)}}}\n")
            versions.append(f"    {version}: {suffix},\n")
        parts.append(f"{name}: Mapping[tuple[int, int], Table] = {{\n{''.join(versions)}}}\n")
    return "\n".join(filter(None, parts))


def _entries(table: Mapping[str, str]) -> str:
    return "".join(_entry(f'    "{key}": "{value}",') for key, value in table.items())


def _entry(line: str) -> str:
    return f"{line}  # noqa: E501\n" if len(line) > LINE else f"{line}\n"


def _names(names: list[str]) -> str:
    return "".join(f'        "{name}",\n' for name in names)


def main() -> int:
    judges = [judge_of(known.name) for known in KUBELETS]
    PATH.write_text(render({judge.version: tables(judge) for judge in judges}))
    for judge in judges:
        judge.process.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
