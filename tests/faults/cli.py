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
    arguments = _parser().parse_args(argv)
    try:
        rows = chosen(
            short() if arguments.short else ROWS,
            arguments.cgroup,
            [KINDS[name] for name in arguments.only],
            arguments.row,
        )
    except NoSuchRow as error:
        say(str(error))
        return 1
    if arguments.list:
        print("\n".join(row.name for row in rows))
        return 0
    code = code_digest(CHECKOUT)
    results = Results(SHORT_RESULTS if arguments.short else RESULTS, None if arguments.any_code else code)
    if not arguments.report:
        _inject(rows if arguments.row else results.remaining(rows), results, code)
        results.tidy()
    return _finish(rows, results, None if arguments.short else DOCUMENT)


def _inject(rows: Sequence[Row], results: Results, code: str) -> None:
    # For the lab and Ansible.
    os.environ.update(environment(os.environ))
    directory = OUTPUT / "runs"
    directory.mkdir(parents=True, exist_ok=True)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, partial(_end, stop))
    say(f"{len(rows)} faults remain, code {code}")
    Rounds(results, code, lambda cgroup, keep: Chain(cgroup, directory, keep), say, stop).run(rows)


def _end(stop: threading.Event, number: int, _frame: object) -> None:
    """Exit immediately: results are on disk, and runs without a node would continue for minutes."""
    stop.set()
    say("interrupted; run the same command to continue")
    for cgroup in NODES:
        take_down(node_name(cgroup))
    os._exit(128 + number)


def _finish(rows: Sequence[Row], results: Results, document: Path | None) -> int:
    outcomes = results.outcomes()
    desired = {row.name for row in rows}
    chosen_outcomes = {name: outcome for name, outcome in outcomes.items() if name in desired}
    print(f"\n{report.text(rows, chosen_outcomes, results.repeated())}\n", flush=True)
    if document is not None:
        _write(document, outcomes, results)
    for name in sorted(chosen_outcomes):
        if chosen_outcomes[name].verdict is Verdict.FAILED:
            say(f"LOST: {name}: {'; '.join(chosen_outcomes[name].wrong)}")
    return 0 if report.all_kept(rows, chosen_outcomes) else 1


def _write(document: Path, outcomes: Mapping[str, Outcome], results: Results) -> None:
    """Write the table into the page if it is complete."""
    missing = results.remaining(ROWS)
    if missing:
        say(f"{document.name} is unchanged: {len(missing)} of {len(ROWS)} rows have no result yet")
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
