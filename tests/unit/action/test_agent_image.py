# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The archive is read on the controller, and sent only to nodes that need it, in a temporary directory."""

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
    """Records the module's arguments, and the files at the paths that it received."""

    def __init__(self, *responses: Result | Exception) -> None:
        self.responses = list(responses)
        self.arguments: list[dict[str, Any]] = []
        self.files: list[bytes] = []
        self.modes: list[int] = []
        self.directories: list[Path] = []

    def run(self, directory: Path, arguments: Mapping[str, Any], *, check: bool = False) -> Result:
        sent = self

        class InProcess(agent_image.ActionModule):
            def _execute_module(self, module_name: str, module_args: dict[str, Any], **_other: Any) -> Result:
                assert module_name == "volcano.colocation.agent_image"
                sent.look(module_args)
                response = sent.responses.pop(0)
                if isinstance(response, Exception):
                    raise response
                return response

        task = Task()
        task.args, task.check_mode = dict(arguments), check
        loader = DataLoader()
        context = PlayContext()
        connection = connection_loader.get("local", context, os.devnull)
        connection._shell.set_options(var_options={}, direct={"remote_tmp": str(directory), "system_tmpdirs": []})
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
            self.directories.append(path.parent)


NEEDED, PRESENT = {"changed": True, "import_required": True}, {"changed": False, "import_required": False}


@pytest.fixture(name="archive")
def _archive(tmp_path: Path) -> Path:
    path = tmp_path / "agent.tar"
    path.write_bytes(single()[0])
    return path


@pytest.fixture(name="image_options")
def _image_options(archive: Path) -> dict[str, Any]:
    archived = action("agent_archive_info", {"path": str(archive), "image": "volcanosh/vc-agent:v1.14.0"})["archive"]
    return {
        "image": archived["image"],
        "archive": archived["path"],
        "sha256": archived["sha256"],
        "images": archived["images"],
    }


def test_the_archive_is_sent_if_it_is_needed_and_then_deleted(tmp_path: Path, image_options: dict[str, Any]) -> None:
    sent = Sent(NEEDED, {"changed": True, "import_required": True, "image": {"name": NAME}})
    result = sent.run(tmp_path / "remote", image_options)
    assert result["image"] == {"name": NAME}
    assert [bool(arguments["archive"]) for arguments in sent.arguments] == [False, True]
    assert sent.files == [(tmp_path / "agent.tar").read_bytes()]
    assert sent.modes == [0o700]
    assert not [directory for directory in sent.directories if directory.exists()]


@pytest.mark.parametrize("end", [{"failed": True, "msg": "no"}, AnsibleConnectionFailure("cut")])
def test_it_is_also_deleted_after_a_failure(tmp_path: Path, image_options: dict[str, Any], end: Any) -> None:
    sent = Sent(NEEDED, end)
    result = sent.run(tmp_path / "remote", image_options)
    assert result["msg"] in ("no", "cut")
    assert sent.directories
    assert not [directory for directory in sent.directories if directory.exists()]


@pytest.mark.parametrize(
    ("response", "check"), [(PRESENT, False), (NEEDED, True), ({"failed": True, "msg": "no"}, False)]
)
def test_nothing_is_sent_if_it_is_not_needed(
    tmp_path: Path, image_options: dict[str, Any], response: Result, check: bool
) -> None:
    sent = Sent(response)
    assert response.items() <= sent.run(tmp_path / "remote", image_options, check=check).items()
    assert sent.arguments[0]["archive"] is None
    assert not (tmp_path / "remote").exists()


def test_the_removal_sends_nothing(tmp_path: Path) -> None:
    sent = Sent({"changed": False, "removed": [], "remaining": []})
    sent.run(tmp_path / "remote", {"state": "absent", "ignore_containers": ["volcano-agent"]})
    assert sent.arguments == [
        {"owner": "agent", "state": "absent", "ignore_containers": ["volcano-agent"], "timeout": 0}
    ]


def test_results_of_agent_archive_info_are_required(tmp_path: Path) -> None:
    result = Sent().run(tmp_path / "remote", {"image": NAME})
    assert "agent_image also needs archive, sha256, images, which agent_archive_info returns" in result["msg"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"path": "/nowhere.tar"}, "path: /nowhere.tar: No such file or directory"),
        ({"digest": "sha256:12"}, "digest: 'sha256:12' is not a digest"),
        ({"digest": digest(b"x")}, "with other digests than"),
        ({"image": "docker.io/volcanosh/vc-agent:v2"}, "does not contain docker.io/volcanosh/vc-agent:v2"),
    ],
)
def test_an_archive_that_does_not_match_is_refused(archive: Path, changes: dict[str, Any], message: str) -> None:
    result = action("agent_archive_info", {"path": str(archive), "image": NAME, **changes})
    assert result["failed"]
    assert message in result["msg"]
