# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/slices.md: the module accepts its examples."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.slices import unit_result
from ansible_collections.volcano.colocation.plugins.modules import systemd_slice

PAGE = (Path(__file__).parents[3] / "docs" / "slices.md").read_text(encoding="utf-8")
MODULE = "volcano.colocation.systemd_slice"


def tasks() -> list[Any]:
    texts = [*re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL), systemd_slice.EXAMPLES]
    return [task for text in texts for task in yaml.safe_load(text)]


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task["name"])
def test_its_examples_are_accepted(tmp_path: Path, task: dict[str, Any]) -> None:
    checked = ArgumentSpecValidator(systemd_slice.ARGUMENTS).validate(task[MODULE])
    assert checked.error_messages == []
    work = unit_result.prepare(Host(str(tmp_path)), checked.validated_parameters)
    assert work.plan.changed is (task[MODULE].get("state") != "absent")
