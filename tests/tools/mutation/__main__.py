# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes the code in many places, one at a time, and counts the changes that the unit tests find.

All results are in .cache/mutation. A run continues after an interruption; after a change of code or tests, only the
mutants that the change may affect run again.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence
from pathlib import Path

from ...run.execution import UNAVAILABLE
from ...run.places import CACHE, CHECKOUT
from ...run.stages import CPUS
from . import copies, cosmic, report, sandbox
from .observation import digest, observe
from .pool import Pool
from .records import Record
from .results import Results
from .sample import Mutant, draw
from .sandbox import Sandbox
from .trial import judge

DIRECTORY = CACHE / "mutation"
PARTS = ("plugins/plugin_utils", "plugins/module_utils")
TESTS = "tests/unit"
GENERATED = "_generated"
"""Suffix of the names of generated modules."""


def main(arguments: Sequence[str]) -> int:
    """Run the mutants; 1 if too few were found, UNAVAILABLE if mutated code cannot be isolated from the machine."""
    options = _parser().parse_args(arguments)
    if missing := sandbox.missing():
        print(missing)
        return UNAVAILABLE
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    pool = Pool([_workplace(number) for number in range(1, options.processes + 1)])
    records = recorded(options.tests, pool)
    samples = sampled(options)
    results = Results(DIRECTORY / "results.jsonl", records, options.budget)
    waiting = [mutant for sample in samples.values() for mutant in sample if results.find(mutant) is None]
    print(f"{len(waiting)} mutants to run, results of the others are known", flush=True)
    for number, (mutant, verdict) in enumerate(pool.map(functools.partial(judge, records, options.budget), waiting), 1):
        results.add(mutant, verdict)
        print(f"mutant {number} of {len(waiting)}: {report.line(mutant, verdict)}", flush=True)
    groups = [report.Group(path, tuple(results.of(sample))) for path, sample in samples.items()]
    text = "\n".join(report.lines(groups, options.minimum))
    (DIRECTORY / "report.txt").write_text(f"{text}\n", encoding="utf-8")
    print(text)
    return 0 if all(group.percentage >= options.minimum for group in groups) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mutation", description=__doc__)
    parser.add_argument("parts", nargs="*", default=PARTS, metavar="PATH", help="files or directories, each a sample")
    parser.add_argument("--sample", type=int, default=200, help="mutants of each; default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="which mutants; default: %(default)s")
    parser.add_argument("--minimum", type=float, default=90, help="per cent to find; default: %(default)s")
    parser.add_argument("--budget", type=float, default=240, help="CPU seconds of a mutant; default: %(default)s")
    parser.add_argument("--processes", type=int, default=CPUS, help="copies of the checkout; default: %(default)s")
    parser.add_argument("--tests", nargs="+", default=[TESTS], metavar="PATH", help="default: %(default)s")
    return parser


def _workplace(number: int) -> Sandbox:
    copy = DIRECTORY / f"copy-{number}"
    copies.make(CHECKOUT, copy)
    return sandbox.isolated(copy)


def recorded(paths: Sequence[str], pool: Pool) -> list[Record]:
    """A record of each test file; test files without a record, or whose code has changed, run."""
    files = [name for path in paths for name in test_files(CHECKOUT, path)]
    records: list[Record] = []
    digest_of = functools.cache(functools.partial(digest, CHECKOUT))
    observed = pool.map(functools.partial(observe, digest_of, DIRECTORY), files)
    for number, (file, record) in enumerate(observed, 1):
        if record is None:
            print(f"record {number} of {len(files)}: {file} could not be run, and finds no mutants", flush=True)
            continue
        failed = f", {len(record.failed)} failed: {' '.join(record.failed)}" if record.failed else ""
        print(f"record {number} of {len(files)}: {file}: {len(record.observed.tests)} tests{failed}", flush=True)
        records.append(record)
    return records


def test_files(checkout: Path, path: str) -> list[str]:
    if (checkout / path).is_file():
        return [path]
    return sorted(file.relative_to(checkout).as_posix() for file in (checkout / path).rglob("test_*.py"))


def sampled(options: argparse.Namespace) -> dict[str, list[Mutant]]:
    """The sample of each part."""
    samples: dict[str, list[Mutant]] = {}
    with cosmic.start(cosmic.provide()) as tool:
        for part in options.parts:
            sources = {path: (CHECKOUT / path).read_text(encoding="utf-8") for path in python_files(CHECKOUT, part)}
            mutations = [mutation for path, source in sources.items() for mutation in tool.mutations(path, source)]
            samples[part] = draw(mutations, sources, options.seed, tool.apply, options.sample)
            print(f"{part}: {len(mutations)} mutations, {len(samples[part])} mutants drawn", flush=True)
    return samples


def python_files(checkout: Path, path: str) -> list[str]:
    """The file, or all files of the directory that are not generated."""
    if (checkout / path).is_file():
        return [path]
    files = [file for file in (checkout / path).rglob("*.py") if not file.stem.endswith(GENERATED)]
    return sorted(file.relative_to(checkout).as_posix() for file in files)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
