# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import shlex
from pathlib import Path

import yaml

from ansible_collections.volcano.colocation.tests.lab.inventory import render, write
from ansible_collections.volcano.colocation.tests.support.lab.paper_nodes import create


def test_each_node_has_what_ansible_needs_to_reach_it(tmp_path: Path) -> None:
    nodes = [create(tmp_path, "one", 2201), create(tmp_path, "two", 2202)]
    hosts = yaml.safe_load(render(nodes))["all"]["children"]["lab"]["hosts"]
    assert {name: host["ansible_port"] for name, host in hosts.items()} == {"one": 2201, "two": 2202}
    for host in hosts.values():
        assert host["ansible_host"] == "127.0.0.1"
        assert host["ansible_user"] == "root"
        assert host["ansible_python_interpreter"] == "/usr/bin/python3"
        assert host["ansible_ssh_private_key_file"] == str(tmp_path / "id_ed25519")


def test_connections_are_shared_and_host_keys_forgotten(tmp_path: Path) -> None:
    hosts = yaml.safe_load(render([create(tmp_path)]))["all"]["children"]["lab"]["hosts"]
    words = shlex.split(hosts["one"]["ansible_ssh_args"])
    options = dict(word.split("=", 1) for word in words if word != "-o")
    assert options["StrictHostKeyChecking"] == "no"
    assert options["UserKnownHostsFile"] == "/dev/null"
    assert options["ControlMaster"] == "auto"
    # ssh adds a suffix of 17 characters while it makes the socket.
    assert len(options["ControlPath"]) + 17 < 108


def test_the_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "inventory.yml"
    path.write_text("old")
    assert yaml.safe_load(write([create(tmp_path)], path).read_text())["all"]
    assert [path.name for path in tmp_path.iterdir() if "inventory" in path.name] == ["inventory.yml"]
