# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.slices import unit_files
from ansible_collections.volcano.colocation.plugins.module_utils.slices.cgroup_controllers import ControllerUnit
from ansible_collections.volcano.colocation.plugins.module_utils.slices.properties import (
    RULES,
    default_setting,
    parse_settings,
)
from ansible_collections.volcano.colocation.plugins.module_utils.slices.property_values import Machine
from ansible_collections.volcano.colocation.plugins.module_utils.slices.unit_files import (
    assignments,
    render_unit_file,
    without_values,
)
from ansible_collections.volcano.colocation.tests.support.node.scripted_host import AnsweringHost


def test_only_assignments_of_the_slice_section_are_read() -> None:
    text = (
        "[Unit]\nCPUWeight=1\n[Slice]\n# CPUWeight=2\n; CPUWeight=3\n CPUWeight = 4 \nMemoryMax=\\\n5\n[Install]\nX=6\n"
    )
    assert list(assignments(text)) == [("CPUWeight", "4"), ("MemoryMax", "5")]


def test_values_are_removed_and_other_lines_stay() -> None:
    text = "[Unit]\nBefore=a\n\n[Slice]\nCPUWeight=1\nTasksMax=2\n\n[Install]\nWantedBy=b\n"
    assert without_values(text) == "[Unit]\nBefore=a\n\n\n[Install]\nWantedBy=b\n"
    assert without_values("# x\n[Slice]\nCPUWeight=1\n") == "# x\n"


def test_drop_in_directories_of_a_nested_slice_begin_with_the_nearest() -> None:
    assert unit_files.drop_in_directories("a-b-c.slice") == ("a-b-c.slice.d", "a-b-.slice.d", "a-.slice.d", "slice.d")
    assert unit_files.drop_in_directories("a.slice") == ("a.slice.d", "slice.d")
    assert unit_files.drop_in_directories("-.slice") == ("-.slice.d", "slice.d")


def test_of_drop_ins_with_one_name_the_nearest_applies(tmp_path: Path) -> None:
    """systemd.unit(5): /etc overrides /usr, the unit's own directory shared ones; all are sorted by file name."""
    for path in (
        "usr/lib/systemd/system/a-b.slice.d/20.conf",
        "etc/systemd/system/a-b.slice.d/20.conf",
        "etc/systemd/system/a-.slice.d/20.conf",
        "etc/systemd/system/slice.d/10.conf",
        "run/systemd/system.control/a-b.slice.d/50-X.conf",
        "etc/systemd/system/a-b.slice.d/README",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    drop_ins = unit_files.read_drop_ins(AnsweringHost(tmp_path), "a-b.slice")
    assert [drop_in.path for drop_in in drop_ins] == [
        "/etc/systemd/system/slice.d/10.conf",
        "/etc/systemd/system/a-b.slice.d/20.conf",
        "/run/systemd/system.control/a-b.slice.d/50-X.conf",
    ]
    assert unit_files.runtime_drop_ins("a-b.slice", drop_ins) == ("/run/systemd/system.control/a-b.slice.d/50-X.conf",)


SETTINGS = {
    "CPUWeight": 200,
    "CPUQuota": "250%",
    "CPUQuotaPeriodSec": "10ms",
    "AllowedCPUs": "0-3 8",
    "MemoryHigh": "50%",
    "MemoryMax": "1.5G",
    "TasksMax": "25%",
    "IOReadBandwidthMax": ["/dev/vda 10M"],
    "IODeviceLatencyTargetSec": "/dev/vda 25ms",
    "MemoryAccounting": True,
}


def verified(path: Path) -> str:
    """The output of systemd-analyze for this file; its exit status is 0 even for ignored lines."""
    done = subprocess.run(["systemd-analyze", "verify", str(path)], capture_output=True, text=True, check=False)
    return "".join(line for line in done.stderr.splitlines() if path.name in line)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")
def test_systemd_accepts_every_line(tmp_path: Path) -> None:
    helper = ControllerUnit(r"a\x2db-c.slice", ("cpuset", "hugetlb"))
    (tmp_path / helper.unit).write_text(helper.text())
    settings = parse_settings(SETTINGS, Machine(1000, 4096, 1000))
    old = [default_setting(name) for name, rule in RULES.items() if rule.since < 247]
    texts = {
        r"a\x2db-c.slice": render_unit_file("100% of it", ["kubelet.service"], [helper.unit], settings),
        "defaults.slice": render_unit_file("Defaults", [], [], old),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        assert verified(tmp_path / name) == ""
    wrong = texts["defaults.slice"].replace("TasksMax=infinity", "TasksMax=endless")
    (tmp_path / "wrong.slice").write_text(wrong)
    assert "endless" in verified(tmp_path / "wrong.slice")
