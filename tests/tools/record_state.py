# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records what a state of the collection writes to nodes and clusters, with the code and test helpers of that state.

    python tests/tools/record_state.py COMMIT [NAME...]

checks the commit out into a temporary directory, runs state_recordings.py with the packages of that checkout, and
writes all files of tests/unit/fixtures/upgrade/COMMIT, or only the files NAME.json.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
RECORDINGS = CHECKOUT / "tests" / "tools" / "state_recordings.py"
FIXTURES = CHECKOUT / "tests" / "unit" / "fixtures" / "upgrade"


def main(commit: str, *names: str) -> None:
    """Record the named documents of a commit, or all."""
    with tempfile.TemporaryDirectory() as directory:
        old = Path(directory) / "ansible_collections" / "volcano" / "colocation"
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", str(CHECKOUT), str(old)], check=True)
        subprocess.run(["git", "-C", str(old), "checkout", "--quiet", commit], check=True)
        environment = {**os.environ, "PYTHONPATH": directory, "ANSIBLE_COLLECTIONS_PATH": directory}
        target = FIXTURES / commit
        target.mkdir(parents=True, exist_ok=True)
        argv = [sys.executable, str(RECORDINGS), str(target), *names]
        subprocess.run(argv, env=environment, cwd=directory, check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
