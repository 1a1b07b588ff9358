# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings on many pods: the measurement and its targets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.volcano.colocation.plugins.modules.cgroup_qos import ARGUMENTS
from ansible_collections.volcano.colocation.tests.bench import qos_settings
from ansible_collections.volcano.colocation.tests.bench.figures import Spread
from ansible_collections.volcano.colocation.tests.bench.qos_cost import QosError, Stage, combined, qos_targets
from ansible_collections.volcano.colocation.tests.bench.qos_settings import counted_in, forget_times, make_pods, written
from ansible_collections.volcano.colocation.tests.bench.qos_work import OPTIONS, SIDES, Count, Pods, measured, one_round

from .runs import qos_round


def report(*rounds: dict[str, Any]) -> dict[str, Any]:
    return {"pods": 500, "settings": 6, "rounds": list(rounds)}


@pytest.fixture(name="pods")
def _pods(tmp_path: Path) -> Pods:
    return make_pods(tmp_path, 3)


@pytest.fixture(name="count")
def _count(tmp_path: Path) -> Count:
    return counted_in(tmp_path)


@pytest.mark.parametrize("number", [0, 1])
def test_both_write_every_file_and_the_second_run_none(pods: Pods, count: Count, number: int) -> None:
    if number:
        one_round(pods, 0, count)
    written_files = {name: measured_stage["written"] for name, measured_stage in one_round(pods, number, count).items()}
    # The whole run writes its record, too.
    assert written_files == {"bare": 18, "read": 0, "raw": 18, "whole": 19, "again": 0}
    assert not pods.wrong(SIDES[number])


def test_every_setting_has_another_text_on_the_other_side(pods: Pods) -> None:
    assert len(pods.wrong(SIDES[0])) == len(pods.files) == 3 * len(SIDES[0].settings)


def test_a_file_with_another_content_ends_the_measurement(pods: Pods, count: Count) -> None:
    with pytest.raises(SystemExit, match="18 files do not have the written content"):
        measured(pods, SIDES[0], lambda: None, count)


def test_options_are_those_of_the_module() -> None:
    checked = ArgumentSpecValidator(ARGUMENTS).validate({})
    assert checked.error_messages == []
    assert checked.validated_parameters == OPTIONS


def test_any_way_of_writing_counts(tmp_path: Path) -> None:
    for name in ("changed", "same", "replaced", "left"):
        (tmp_path / name).write_text("1")
    forget_times(tmp_path.iterdir())
    assert written(tmp_path.iterdir()) == 0
    (tmp_path / "changed").write_text("2")
    (tmp_path / "same").write_text("1")
    (tmp_path / "new").write_text("1")
    (tmp_path / "new").rename(tmp_path / "replaced")
    (tmp_path / "made").touch()
    assert written(tmp_path.iterdir()) == 4


def test_the_process_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(qos_settings, "MEMORY", str(tmp_path))
    assert qos_settings.main(2, 1) == 0
    assert '"pods": 2, "settings": 6' in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_ratios_are_taken_round_by_round() -> None:
    cost = combined(report(qos_round(20.0, 10.0, 30.0), qos_round(40.0, 20.0, 80.0), qos_round(20.0, 20.0, 100.0)))
    assert cost.what == "500 pods × 6 settings in files"
    assert cost.spread(Stage.RAW) == Spread(80.0, 30.0, 100.0)
    assert cost.in_bare_loops(Stage.RAW) == Spread(2.0, 1.5, 5.0)
    assert cost.in_bare_loops_that_read(Stage.RAW) == Spread(80 / 60, 1.0, 2.5)
    assert [target.reached for target in qos_targets(cost)] == [True, True]


def test_each_can_be_missed() -> None:
    times, writes = qos_targets(combined(report(qos_round(20.0, 20.0, 40.2), qos_round(20.0, 20.0, 40.2, again=1))))
    assert (times.reached, times.counted, times.value) == (False, False, "2.01 (2.01–2.01)")
    assert (writes.reached, writes.counted, writes.value) == (False, True, "1")


@pytest.mark.parametrize("stage", ["bare", "raw"])
def test_other_writes_are_not_compared(stage: str) -> None:
    one = qos_round(20.0, 10.0, 30.0)
    one[stage]["written"] = 2999
    with pytest.raises(QosError, match="3000 files must be written"):
        combined(report(qos_round(20.0, 10.0, 30.0), one))
