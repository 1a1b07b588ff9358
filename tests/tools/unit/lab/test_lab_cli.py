# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.cli import NO_ANSWER, UNAVAILABLE, main
from ansible_collections.volcano.colocation.tests.run import execution
from ansible_collections.volcano.colocation.tests.support.lab.paper_nodes import create

CHECKOUT = Path(__file__).resolve().parents[4]
UP = ["up", "x", "--suite", "bookworm", "--cgroup", "v2", "--driver-kubelet", "systemd", "--driver-runtime", "systemd"]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLOCATION_LAB_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("COLOCATION_LAB_CACHE", str(tmp_path / "cache"))
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


def error_output(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err


@pytest.mark.parametrize("command", ["ssh", "reboot", "reset", "journal", "console"])
def test_an_unknown_node_is_reported_without_a_traceback(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "nowhere"]) == 1
    assert error_output(capsys).startswith("lab: there is no node 'nowhere'")


def test_down_succeeds_without_anything_to_stop() -> None:
    assert main(["down", "nowhere"]) == 0
    assert main(["down", "--all"]) == 0


def test_down_needs_names_or_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["down"])
    assert "--all" in error_output(capsys)


def test_a_node_without_a_vm_is_listed_and_taken_down(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create(state, "one")
    assert main(["list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["name"], listed["running"]) == ("one", False)
    assert main(["down", "one"]) == 0
    assert not (state / "one").exists()


def test_a_node_whose_machine_ended_shows_its_console(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    node = create(state, "one")
    (node.directory / "serial.log").write_text("early\nKernel panic\n")
    assert main(["journal", "one", "--lines", "1"]) == NO_ANSWER
    captured = capsys.readouterr()
    assert captured.out == "Kernel panic\n\nits machine has ended\n"
    assert "has ended" in captured.err


def test_no_inventory_for_a_node_that_cannot_be_reached(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create(state, "one")
    assert main(["inventory", "one"]) == 1
    assert "has ended" in error_output(capsys)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--nri", "on"], "no NRI"),
        (["--cpus", "0"], "cpus"),
        (["--kernel-arg", "a b"], "one word"),
        (["--kubelet-flag=--v=2 --v=3"], "one word"),
        (["--suite", "forky", "--kubelet", "debian"], "v1alpha2"),
    ],
)
def test_an_impossible_node_is_refused_before_anything_is_built(
    more: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*UP, *more]) == 1
    assert problem in error_output(capsys)
    assert not (tmp_path / "cache").exists()


def test_an_image_is_written_into_a_new_directory_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["image", str(tmp_path), *UP[2:]]) == 1
    assert error_output(capsys) == f"lab: {tmp_path} exists already: name a new directory\n"
    assert not (tmp_path / "cache").exists()


def test_a_node_is_not_booted_from_a_missing_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*UP, "--root", str(tmp_path / "gone")]) == 1
    assert "does not exist: create it with `image`" in error_output(capsys)
    assert not (tmp_path / "cache").exists()


def test_a_missing_program_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ansible_collections.volcano.colocation.tests.lab.requirements._SYSTEM", ())
    monkeypatch.setattr("ansible_collections.volcano.colocation.tests.lab.accel.has_device", lambda: False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["requirements"]) == 1
    packages = set(capsys.readouterr().out.split())
    assert {"qemu-system-x86", "mmdebstrap", "slirp4netns", "flex"} <= packages
    assert not [package for package in packages if package.startswith("golang")]
    assert main([*UP, "--kubelet", "none"]) == UNAVAILABLE
    assert error_output(capsys).splitlines()[-1] == "lab: mmdebstrap is not installed: apt-get install mmdebstrap"


def test_the_test_runner_uses_the_same_exit_status() -> None:
    assert UNAVAILABLE == execution.UNAVAILABLE


@pytest.mark.parametrize("argv", [[str(CHECKOUT / "tests" / "lab")], ["-m", "tests.lab"]])
def test_the_lab_runs_as_a_directory_and_as_a_module(argv: list[str], tmp_path: Path) -> None:
    cwd = CHECKOUT if "-m" in argv else tmp_path
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, *argv, "list", "--json"], cwd=cwd, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
