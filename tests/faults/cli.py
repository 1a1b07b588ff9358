# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fault injection's command line."""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from ..run.places import CHECKOUT
from . import report
from .chain import Chain, node_name, take_down
from .code import code_digest
from .fault import Kind
from .outcome import Outcome, Verdict
from .places import DOCUMENT, OUTPUT, RESULTS, SHORT_RESULTS, environment
from .results import Results
from .rounds import Rounds
from .rows import NODES, ROWS, NoSuchRow, Row, chosen, short

BEGAN = time.monotonic()
KINDS = {kind.name.lower().replace("_", "-"): kind for kind in Kind}


def main(argv: Sequence[str]) -> int:
    """0 when every row that was chosen was injected and none was lost; 1 otherwise."""
    given = _parser().parse_args(argv)
    try:
        rows = chosen(short() if given.short else ROWS, given.cgroup, [KINDS[name] for name in given.only], given.row)
    except NoSuchRow as error:
        say(str(error))
        return 1
    if given.list:
        print("\n".join(row.name for row in rows))
        return 0
    code = code_digest(CHECKOUT)
    results = Results(SHORT_RESULTS if given.short else RESULTS, None if given.any_code else code)
    if not given.report:
        _inject(rows if given.row else results.left(rows), results, code)
        results.tidy()
    return _finish(rows, results, None if given.short else DOCUMENT)


def _inject(rows: Sequence[Row], results: Results, code: str) -> None:
    # The lab and Ansible are called with it.
    os.environ.update(environment(os.environ))
    folder = OUTPUT / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, partial(_end, stop))
    say(f"{len(rows)} faults are left to be injected, code {code}")
    Rounds(results, code, lambda cgroup, keep: Chain(cgroup, folder, keep), say, stop).run(rows)


def _end(stop: threading.Event, number: int, _frame: object) -> None:
    """Leave at once: what is done is on disk, and runs without a node would go on for minutes."""
    stop.set()
    say("interrupted; the same command goes on from here")
    for cgroup in NODES:
        take_down(node_name(cgroup))
    os._exit(128 + number)


def _finish(rows: Sequence[Row], results: Results, document: Path | None) -> int:
    outcomes = results.outcomes()
    wanted = {row.name for row in rows}
    found = {name: outcome for name, outcome in outcomes.items() if name in wanted}
    print(f"\n{report.text(rows, found, results.repeated())}\n", flush=True)
    if document is not None:
        _write(document, outcomes, results)
    for name in sorted(found):
        if found[name].verdict is Verdict.LOST:
            say(f"LOST: {name}: {'; '.join(found[name].wrong)}")
    return 0 if report.all_kept(rows, found) else 1


def _write(document: Path, outcomes: Mapping[str, Outcome], results: Results) -> None:
    """The table into the page, once it is whole."""
    left = results.left(ROWS)
    if left:
        say(f"{document.name} stays as it is: {len(left)} of {len(ROWS)} rows have no result yet")
        return
    table = report.text(ROWS, outcomes, results.repeated())
    document.write_text(report.with_table(document.read_text(encoding="utf-8"), table), encoding="utf-8")
    say(f"written into {document}")


def say(line: str) -> None:
    print(f"[{time.monotonic() - BEGAN:7.1f}s] faults: {line}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tests/faults", description=__doc__)
    parser.add_argument("--cgroup", choices=sorted(NODES), help="rows of one cgroup version only")
    parser.add_argument("--only", action="append", default=[], choices=sorted(KINDS), help="rows of one kind only")
    parser.add_argument("--row", action="append", default=[], metavar="NAME", help="this row, with a result or not")
    parser.add_argument(
        "--short",
        action="store_true",
        help="six rows, three for each cgroup version; their results are not kept in the repository",
    )
    parser.add_argument("--list", action="store_true", help="print the names of the rows; boots nothing")
    parser.add_argument("--report", action="store_true", help="only the tables of the results so far; boots nothing")
    parser.add_argument(
        "--any-code", action="store_true", help="count results that were made with earlier code of the collection, too"
    )
    return parser
