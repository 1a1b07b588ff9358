# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists the mutations of cosmic-ray for a source text, and applies one; requests and responses are JSON lines.

Runs in the virtual environment of requirements/mutation.txt, without this collection.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from cosmic_ray import mutating, plugins
from cosmic_ray.ast import ast_nodes, get_ast


def respond(request: dict[str, Any]) -> dict[str, Any]:
    """With an operator the changed text; without one all mutations as [operator, occurrence, line, column]."""
    source = request["source"]
    if "operator" not in request:
        return {"mutations": list(mutations(source))}
    operator = plugins.get_operator(request["operator"])()
    return {"mutated": mutating.mutate_code(source, operator, request["occurrence"])}


def mutations(source: str) -> Iterator[tuple[str, int, int, int]]:
    """The mutations of `cosmic-ray init`, with one walk over the tree instead of one for each of 211 operators."""
    nodes = list(ast_nodes(get_ast(source)))
    for name in plugins.operator_names():
        operator = plugins.get_operator(name)
        if not operator.arguments():
            positions = (position for node in nodes for position in operator().mutation_positions(node))
            for occurrence, ((line, column), _end) in enumerate(positions):
                yield name, occurrence, line, column


def main() -> int:
    for line in sys.stdin:
        print(json.dumps(respond(json.loads(line))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
