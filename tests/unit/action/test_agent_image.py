# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The archive is read on the controller, and reaches a node that needs it only, in a folder that is gone afterwards."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins.loader import connection_loader
from ansible.template import Templar

from ansible_collections.volcano.colocation.plugins.action import agent_image
from ansible_collections.volcano.colocation.tests.support.clusters.image_archives import NAME, digest, single
from ansible_collections.volcano.colocation.tests.support.tasks.in_process import action

Result = dict[str, Any]


class Sent:
    """What the module got, and what lay where it was told to look."""

    def __init__(self, *answers: Result | Exception) -> None:
        self.answers = list(answers)
        self.arguments: list[dict[str, Any]] = []
        self.files: list[bytes] = []
        self.modes: list[int] = []
        self.folders: list[Path] = []

    def run(self, folder: Path, arguments: Mapping[str, Any], *, check: bool = False) -> Result:
        sent = self

        class InProcess(agent_image.ActionModule):
            def _execute_module(self, module_name: str, module_args: dict[str, Any], **_others: Any) -> Result:
                assert module_name == "volcano.colocation.agent_image"
                sent.look(module_args)
                answer = sent.answers.pop(0)
                if isinstance(answer, Exception):
                    raise answer
                return answer

        task = Task()
        task.args, task.check_mode = dict(arguments), check
        loader = DataLoader()
        context = PlayContext()
        connection = connection_loader.get("local", context, os.devnull)
        connection._shell.set_options(var_options={}, direct={"remote_tmp": str(folder), "system_tmpdirs": []})
        one = InProcess(task, connection, context, loader, Templar(loader=loader, variables={}), None)
        one._load_name = "agent_image"
        try:
            result: Result = one.run(task_vars={"inventory_hostname": "node"})
        except AnsibleConnectionFailure as error:
            return {"unreachable": True, "msg": str(error)}
        return result

    def look(self, arguments: dict[str, Any]) -> None:
        self.arguments.append(arguments)
        if arguments.get("archive"):
            path = Path(arguments["archive"])
            self.files.append(path.read_bytes())
            self.modes.append(stat.S_IMODE(path.parent.stat().st_mode))
            self.folders.append(path.parent)


NEEDED, THERE = {"changed": True, "import_required": True}, {"changed": False, "import_required": False}


@pytest.fixture(name="archive")
def _archive(tmp_path: Path) -> Path:
    path = tmp_path / "agent.tar"
    path.write_bytes(single()[0])
    return path


@pytest.fixture(name="wanted")
def _wanted(archive: Path) -> dict[str, Any]:
    told = action("agent_archive_info", {"path": str(archive), "image": "volcanosh/vc-agent:v1.14.0"})["archive"]
    return {"image": told["image"], "archive": told["path"], "sha256": told["sha256"], "images": told["images"]}


def test_the_archive_is_sent_where_it_is_needed_and_then_gone(tmp_path: Path, wanted: dict[str, Any]) -> None:
    sent = Sent(NEEDED, {"changed": True, "import_required": True, "image": {"name": NAME}})
    result = sent.run(tmp_path / "remote", wanted)
    assert result["image"] == {"name": NAME}
    assert [bool(each["archive"]) for each in sent.arguments] == [False, True]
    assert sent.files == [(tmp_path / "agent.tar").read_bytes()]
    assert sent.modes == [0o700]
    assert not [each for each in sent.folders if each.exists()]


@pytest.mark.parametrize("end", [{"failed": True, "msg": "no"}, AnsibleConnectionFailure("cut")])
def test_it_is_gone_after_a_failure_as_well(tmp_path: Path, wanted: dict[str, Any], end: Any) -> None:
    sent = Sent(NEEDED, end)
    result = sent.run(tmp_path / "remote", wanted)
    assert result["msg"] in ("no", "cut")
    assert sent.folders
    assert not [each for each in sent.folders if each.exists()]


@pytest.mark.parametrize(("answer", "check"), [(THERE, False), (NEEDED, True), ({"failed": True, "msg": "no"}, False)])
def test_nothing_is_sent_where_it_is_not_needed(
    tmp_path: Path, wanted: dict[str, Any], answer: Result, check: bool
) -> None:
    sent = Sent(answer)
    assert answer.items() <= sent.run(tmp_path / "remote", wanted, check=check).items()
    assert sent.arguments[0]["archive"] is None
    assert not (tmp_path / "remote").exists()


def test_the_way_back_sends_nothing(tmp_path: Path) -> None:
    sent = Sent({"changed": False, "removed": [], "remaining": []})
    sent.run(tmp_path / "remote", {"state": "absent", "ignore_containers": ["volcano-agent"]})
    assert sent.arguments == [{"state": "absent", "ignore_containers": ["volcano-agent"]}]


def test_what_the_archive_tells_is_needed(tmp_path: Path) -> None:
    result = Sent().run(tmp_path / "remote", {"image": NAME})
    assert "agent_image also needs archive, sha256, images, which agent_archive_info returns" in result["msg"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"path": "/nowhere.tar"}, "colocation_agent_image_archive: /nowhere.tar: No such file or directory"),
        ({"digest": "sha256:12"}, "colocation_agent_image_digest: 'sha256:12' is not a digest"),
        ({"digest": digest(b"x")}, "with other digests than"),
        ({"image": "docker.io/volcanosh/vc-agent:v2"}, "does not contain docker.io/volcanosh/vc-agent:v2"),
    ],
)
def test_what_does_not_fit_is_refused(archive: Path, given: dict[str, Any], said: str) -> None:
    result = action("agent_archive_info", {"path": str(archive), "image": NAME, **given})
    assert result["failed"]
    assert said in result["msg"]
