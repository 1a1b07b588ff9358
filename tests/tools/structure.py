# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts files, functions and packages of the plugins: ``python3 tests/tools/structure.py``."""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

KINDS = ("modules", "action", "callback", "doc_fragments", "module_utils", "plugin_utils")
LAYERS = ("module_utils", "plugin_utils")
"""Directories whose subdirectories are separate packages."""
COLLECTION = ("ansible_collections", "volcano", "colocation", "plugins")
MARK = "__init__"
DRIVER = "cgroup_driver"
"""A setting; the files that mention it show how widely one setting is spread."""
ALIGNMENT = (
    ("action", "node_align"),
    ("modules", "node_align"),
    ("modules", "node_snapshot"),
    ("modules", "node_transaction"),
)
"""What the role ``node`` runs to change a node; each setting passes through files that these load."""
ROLE = Path("roles", "node")

Dotted = tuple[str, ...]
"""The parts of a name: ``("module_utils", "cgroup", "names")``."""
Name = TypeVar("Name", str, Dotted)
"""A node of a graph of imports."""


@dataclass(frozen=True)
class PluginFile:
    """``imports``: the files of this collection that it imports. ``functions``: the lines of each, by its name."""

    name: Dotted
    text: str
    imports: frozenset[Dotted]
    functions: Mapping[str, int]

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @property
    def is_mark(self) -> bool:
        return self.name[-1] == MARK

    @property
    def package(self) -> str:
        """The first directory below module_utils or plugin_utils; files directly in these are one package."""
        deep = self.name[0] in LAYERS and len(self.name) > 2
        return "/".join(self.name[:2]) if deep else self.name[0]


def load(plugins: Path) -> tuple[PluginFile, ...]:
    """Every Python file below ``plugins``, except empty package marks."""
    texts = {_dotted(path, plugins): path.read_text(encoding="utf-8") for path in sorted(plugins.rglob("*.py"))}
    files = (_plugin_file(name, text, frozenset(texts)) for name, text in texts.items())
    return tuple(file for file in files if not file.is_mark or file.text.strip())


def _dotted(path: Path, plugins: Path) -> Dotted:
    return path.relative_to(plugins).with_suffix("").parts


@cache
def _plugin_file(name: Dotted, text: str, known: frozenset[Dotted]) -> PluginFile:
    tree = ast.parse(text)
    imported = {target for node in ast.walk(tree) for target in _imported(node, name, known)}
    return PluginFile(name, text, frozenset(imported - {name}), dict(_functions(tree)))


def _imported(node: ast.AST, importer: Dotted, known: frozenset[Dotted]) -> Iterator[Dotted]:
    """Imported files; ``from . import x`` means the file x if it exists, otherwise a name in ``__init__``."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _file(_inside(tuple(alias.name.split("."))), known)
    elif isinstance(node, ast.ImportFrom):
        parts = tuple(node.module.split(".")) if node.module else ()
        base = importer[: -node.level] + parts if node.level else _inside(parts)
        if base is None:
            return
        for alias in node.names:
            yield from _file((*base, alias.name) if (*base, alias.name) in known else base, known)


def _inside(parts: Dotted) -> Dotted | None:
    """A name of this collection without the common prefix; None for any other name."""
    count = len(COLLECTION)
    return parts[count:] if parts[:count] == COLLECTION else None


def _file(name: Dotted | None, known: frozenset[Dotted]) -> Iterator[Dotted]:
    if name is not None:
        yield from (candidate for candidate in (name, (*name, MARK)) if candidate in known)


def _functions(tree: ast.AST, above: str = "") -> Iterator[tuple[str, int]]:
    """(name, lines) of each function and method, including decorators and nested definitions."""
    for node in ast.iter_child_nodes(tree):
        name = above
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{above}.{node.name}" if above else node.name
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield name, (node.end_lineno or node.lineno) - first + 1
        yield from _functions(node, name)


def importers(files: tuple[PluginFile, ...]) -> dict[Dotted, int]:
    """The number of importers of each file."""
    counts = {file.name: 0 for file in files}
    for file in files:
        for target in file.imports & counts.keys():
            counts[target] += 1
    return counts


def package_graph(files: tuple[PluginFile, ...]) -> dict[str, set[str]]:
    """The packages that each package imports."""
    packages = {file.name: file.package for file in files}
    graph: dict[str, set[str]] = {file.package: set() for file in files}
    for file in files:
        graph[file.package] |= {packages[target] for target in file.imports & packages.keys()} - {file.package}
    return graph


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of packages that all reach each other, each sorted."""
    reached = {package: _reachable(package, graph) for package in graph}
    groups = {
        tuple(sorted(other for other in reached[package] if package in reached[other]))
        for package in graph
        if package in reached[package]
    }
    return sorted(map(list, groups))


def _reachable(start: Name, graph: Mapping[Name, set[Name]]) -> set[Name]:
    reached: set[Name] = set()
    waiting = list(graph.get(start, ()))
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += graph.get(name, ())
    return reached


def way(plugins: Path) -> list[str]:
    """Files through which DRIVER passes under its name, from the role's variable to the proof on the node.

    They are those of the role, and those that the alignment of a node loads; documentation and comments do not count.
    """
    files = {file.name: file for file in load(plugins)}
    graph = {name: set(file.imports) for name, file in files.items()}
    loaded = set(ALIGNMENT).union(*(_reachable(name, graph) for name in ALIGNMENT)) & files.keys()
    passing = (f"plugins/{'/'.join(name)}.py" for name in sorted(loaded) if _has_driver(files[name].text))
    return [*_role_files(plugins.parent), *passing]


def _role_files(checkout: Path) -> Iterator[str]:
    for path in sorted((checkout / ROLE).rglob("*.yml")):
        if DRIVER in path.read_text(encoding="utf-8"):
            yield path.relative_to(checkout).as_posix()


@cache
def _has_driver(text: str) -> bool:
    return DRIVER in text and DRIVER in set(_words(text))


def _words(text: str) -> Iterator[str]:
    """Identifiers and whole strings; ``?`` marks an optional key in a schema."""
    for node in ast.walk(ast.parse(text)):
        for attribute in ("id", "attr", "arg", "name", "value"):
            word = getattr(node, attribute, None)
            if isinstance(word, str):
                yield word.lstrip("?")


def namesakes(files: tuple[PluginFile, ...]) -> dict[str, list[str]]:
    """Files of module_utils and plugin_utils with the same name, by that name."""
    paths_by_name: dict[str, list[str]] = {}
    for file in files:
        if file.name[0] in LAYERS and not file.is_mark:
            paths_by_name.setdefault(file.name[-1], []).append("/".join(file.name))
    return {name: paths for name, paths in sorted(paths_by_name.items()) if len(paths) > 1}


def longest(files: tuple[PluginFile, ...]) -> tuple[int, str]:
    """(lines, where) of the longest function."""
    functions = (
        (lines, f"{'/'.join(file.name)}.py {name}") for file in files for name, lines in file.functions.items()
    )
    return max(functions, default=(0, "none"))


def report(plugins: Path) -> Iterator[str]:
    """The counts as lines of text."""
    files = load(plugins)
    counts = {kind: sum(file.name[0] == kind for file in files) for kind in KINDS}
    yield f"files: {len(files)} ({', '.join(f'{kind} {count}' for kind, count in counts.items())})"
    marks = len(list(plugins.rglob(f"{MARK}.py"))) - sum(file.is_mark for file in files)
    yield f"empty {MARK}.py, not counted as files: {marks}"
    yield f"lines: {sum(file.lines for file in files)}, median {statistics.median(file.lines for file in files):g}"
    imported = importers(files)
    single = [name for name, count in imported.items() if count == 1 and name[0] in LAYERS]
    yield f"files with one importer: {len(single)}"
    lines, where = longest(files)
    yield f"longest function: {lines} lines, {where}"
    yield f"files that mention {DRIVER}: {sum(DRIVER in file.text for file in files)}"
    passed = way(plugins)
    yield f"files on the way of {DRIVER}: {len(passed)}"
    yield from (f"  {path}" for path in passed)
    same = namesakes(files)
    yield f"names of several files: {len(same)}"
    yield from (f"  {name}: {', '.join(paths)}" for name, paths in same.items())
    yield from _graph_lines(package_graph(files))


def _graph_lines(graph: Mapping[str, set[str]]) -> Iterator[str]:
    yield f"packages: {len(graph)}, imports between them: {sum(map(len, graph.values()))}"
    yield from (f"  {package}: {', '.join(sorted(graph[package])) or 'none'}" for package in sorted(graph))
    groups = cycles(graph)
    yield f"groups of packages that import each other: {len(groups)}"
    yield from (f"  {', '.join(group)}" for group in groups)


def main(arguments: list[str]) -> int:
    plugins = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[2] / "plugins"
    if not load(plugins):
        sys.stderr.write(f"{plugins} has no Python files. Name the plugins directory of a checkout.\n")
        return 2
    sys.stdout.writelines(f"{line}\n" for line in report(plugins))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
