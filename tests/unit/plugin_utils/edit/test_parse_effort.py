# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often an edit parses a text: independent of its length and of the changes."""

from __future__ import annotations

from collections import Counter
from types import ModuleType
from typing import Any

import pytest
import yaml

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit import readers
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.kubelet_text import edit_kubelet

LONG = "cgroupDriver: 'cgroupfs' # old\n" + "".join(f"key{number:05}: {number}\n" for number in range(5000))
CHANGES: dict[tuple[str, ...], Any] = {
    ("cgroupDriver",): "systemd",
    ("cpuManagerPolicy",): "static",
    ("systemReserved", "cpu"): "500m",
    ("key04999",): "x",
}


class Counting(ModuleType):
    """PyYAML, with its parsers and their events counted."""

    def __init__(self, counted: Counter[str]) -> None:
        super().__init__("yaml")
        self.__dict__.update(vars(yaml))

        class Parser(yaml.CSafeLoader):
            def __init__(self, text: str) -> None:
                counted["parsers"] += 1
                super().__init__(text)

            def get_event(self) -> Any:
                counted["events"] += 1
                return super().get_event()

        self.CSafeLoader = Parser


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    result: Counter[str] = Counter()
    counting = Counting(result)
    monkeypatch.setattr(readers, "library", lambda _name: counting)
    return result


def test_a_text_is_read_located_and_proven(counted: Counter[str]) -> None:
    edit_kubelet(LONG, CHANGES)
    assert counted["parsers"] == 3
    # A key and a value of each line, and what surrounds them.
    assert counted["events"] < 3 * (2 * (LONG.count("\n") + len(CHANGES)) + 20)


def test_a_text_with_all_desired_values_is_read_once(counted: Counter[str]) -> None:
    after = edit_kubelet(LONG, CHANGES)
    counted.clear()
    assert edit_kubelet(after, CHANGES) is after
    assert counted["parsers"] == 1
