# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records how many pods of the workload are available, at every change that the API server reports."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from . import workload
from .node import ROOT

COUNT = 'jsonpath={.status.availableReplicas}{"\\n"}'


class Watch:
    """Available replicas in ``counts``, in order; it grows while the watch runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.counts: list[int] = []
        self._process = process
        threading.Thread(target=self._read, daemon=True).start()

    def lasts(self) -> bool:
        """Whether the watch still runs, so that no change was missed."""
        return self._process.poll() is None

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.counts.append(int(line.strip() or 0))


@contextmanager
def watched() -> Iterator[Watch]:
    words = ("get", "deployment", workload.NAME, "--watch", "-o", COUNT)
    argv = [sys.executable, str(ROOT / "tests" / "lab"), "cluster", "kubectl", "--", *words]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Watch(process)
        finally:
            process.terminate()
