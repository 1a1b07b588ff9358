# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records what a real Prometheus responses to the preflight: `python -m …tests.volcano.record_prometheus`, 10 s."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode

from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.usage_data import QUERIES
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.cluster import monitoring as lab_monitoring
from ansible_collections.volcano.colocation.tests.lab.cluster.monitoring import Monitoring, Target
from ansible_collections.volcano.colocation.tests.lab.cluster.simulated_host import Load
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root

FIXTURES = Path(__file__).parents[1] / "unit" / "fixtures" / "prometheus"
GOOD = {"worker-1": Target(Load(0.3, 0.2)), "worker-2": Target(Load(0.9, 0.1))}
CASES: dict[str, dict[str, Target]] = {
    "all-nodes": GOOD,
    "instance-is-address": {**GOOD, "worker-2": Target(Load(0.9, 0.1), relabel=())},
    "one-node": {"worker-1": GOOD["worker-1"]},
    "nothing": {},
    "young": {**GOOD, "worker-2": Target(Load(0.1, 0.1), age=120)},
    "stopped": {**GOOD, "worker-2": Target(Load(0.1, 0.1), ended=420)},
    "memory-twice": {**GOOD, "other": Target(Load(0.3, 0.6), node="worker-1")},
}
WRONG_QUERY = "rate("


def response_to(monitoring: Monitoring, query: str) -> str:
    """The response to an instant query, also one that Prometheus refuses."""
    try:
        return monitoring.get(f"/api/v1/query?{urlencode({'query': query})}")
    except HTTPError as error:
        return error.read().decode()


def main() -> None:
    programs = lab_monitoring.obtain(Cache(cache_root()))
    with tempfile.TemporaryDirectory() as directory:
        monitoring = Monitoring(programs, Path(directory), f"record-{Path(directory).name}")
        try:
            for name, targets in CASES.items():
                monitoring.set(targets)
                responses = {query: json.loads(response_to(monitoring, query)) for query in QUERIES}
                _write(name, responses)
            _write("refused", {WRONG_QUERY: json.loads(response_to(monitoring, WRONG_QUERY))})
        finally:
            monitoring.stop()


def _write(name: str, responses: dict[str, object]) -> None:
    (FIXTURES / f"{name}.json").write_text(json.dumps(responses, indent=1) + "\n")


if __name__ == "__main__":
    main()
