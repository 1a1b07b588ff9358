# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The counts of a small tree of plugins; each of its files tests one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.tools.structure import (
    cycles,
    importers,
    load,
    longest,
    main,
    namesakes,
    package_graph,
    way,
)

FILES = {
    "modules/m.py": "from ansible_collections.volcano.colocation.plugins.module_utils.a import one\n",
    "action/x.py": "import os\nimport ansible_collections.volcano.colocation.plugins.plugin_utils.top\n",
    "doc_fragments/f.py": "",
    "module_utils/__init__.py": "",
    "module_utils/errors.py": "class E(Exception):\n    pass\n",
    "module_utils/a/__init__.py": "",
    "module_utils/a/one.py": "from ..errors import E\nfrom ..b import two\nfrom . import own, nothing\n",
    "module_utils/a/own.py": "import json\nfrom json import loads\n# cgroup_driver_source\n",
    "module_utils/b/two.py": "def late():\n    from ..c.three import f\n    return f\n",
    "module_utils/c/three.py": (
        "from ..a.one import x\n\n\nclass C:\n    @property\n    @staticmethod\n    def f(self):\n"
        "        def g():\n            return 1\n        return g\n"
    ),
    "plugin_utils/top.py": "from .d import *\nfrom .d.one import y\n",
    "plugin_utils/d/__init__.py": "KEPT = 1\n",
    "plugin_utils/d/one.py": "async def t(): ...\nrunning_cgroup_driver = 1\n",
    "plugin_utils/d/deep/four.py": "from ...top import z\nfrom ..one import t\nfrom .....elsewhere import z\n",
}


@pytest.fixture(name="plugins")
def _plugins(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_empty_package_marks_are_not_counted(plugins: Path) -> None:
    paths = {"/".join(file.name) + ".py" for file in load(plugins)}
    assert FILES.keys() - paths == {"module_utils/__init__.py", "module_utils/a/__init__.py"}
    assert paths <= FILES.keys()


def test_importers_of_each_file_are_counted(plugins: Path) -> None:
    assert {"/".join(name): count for name, count in importers(load(plugins)).items()} == {
        "action/x": 0,
        "doc_fragments/f": 0,
        "module_utils/a/one": 2,
        "module_utils/a/own": 1,
        "module_utils/b/two": 1,
        "module_utils/c/three": 1,
        "module_utils/errors": 1,
        "modules/m": 0,
        "plugin_utils/d/__init__": 1,
        "plugin_utils/d/deep/four": 0,
        "plugin_utils/d/one": 2,
        "plugin_utils/top": 2,
    }


def test_packages_that_import_each_other_are_reported_as_cycles(plugins: Path) -> None:
    graph = package_graph(load(plugins))
    assert graph == {
        "action": {"plugin_utils"},
        "doc_fragments": set(),
        "module_utils": set(),
        "module_utils/a": {"module_utils", "module_utils/b"},
        "module_utils/b": {"module_utils/c"},
        "module_utils/c": {"module_utils/a"},
        "modules": {"module_utils/a"},
        "plugin_utils": {"plugin_utils/d"},
        "plugin_utils/d": {"plugin_utils"},
    }
    assert cycles(graph) == [
        ["module_utils/a", "module_utils/b", "module_utils/c"],
        ["plugin_utils", "plugin_utils/d"],
    ]
    assert cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_names_and_functions(plugins: Path) -> None:
    files = load(plugins)
    assert namesakes(files) == {"one": ["module_utils/a/one", "plugin_utils/d/one"]}
    assert longest(files) == (6, "module_utils/c/three.py C.f")
    (three,) = [file for file in files if file.name[-1] == "three"]
    assert three.functions == {"C.f": 6, "C.f.g": 2}


def test_the_report_shows_the_counts_of_a_tree(plugins: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(plugins)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:9] == [
        "files: 12 (modules 1, action 1, callback 0, doc_fragments 1, module_utils 5, plugin_utils 4)",
        "empty __init__.py, not counted as files: 2",
        "lines: 32, median 2",
        "files with one importer: 5",
        "longest function: 6 lines, module_utils/c/three.py C.f",
        "files that mention cgroup_driver: 2",
        "files on the way of cgroup_driver: 0",
        "names of several files: 1",
        "  one: module_utils/a/one, plugin_utils/d/one",
    ]
    assert lines[9] == "packages: 9, imports between them: 8"
    assert "  module_utils/b: module_utils/c" in lines
    assert lines[-3:] == [
        "groups of packages that import each other: 2",
        "  module_utils/a, module_utils/b, module_utils/c",
        "  plugin_utils, plugin_utils/d",
    ]


def test_a_directory_without_plugins_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert "Name the plugins directory of a checkout." in capsys.readouterr().err


def test_the_plugins_of_this_checkout_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("files: ")


WAY = {
    "roles/node/vars/main.yml": "cgroup_driver: systemd\n",
    "roles/node/tasks/main.yml": "- name: Another setting\n",
    "roles/qos/vars/main.yml": "cgroup_driver: systemd\n",
    "plugins/action/node_align.py": "from ..plugin_utils.plan import draft\n",
    "plugins/modules/node_snapshot.py": "from ..module_utils.snapshot import of_attribute, of_key\n",
    "plugins/module_utils/snapshot/__init__.py": "",
    "plugins/module_utils/snapshot/of_attribute.py": "def f(client):\n    return client.cgroup_driver\n",
    "plugins/module_utils/snapshot/of_key.py": 'SCHEMA = {"?cgroup_driver": str}\n',
    "plugins/plugin_utils/plan/draft.py": 'from . import of_keyword, of_text\n"""The cgroup_driver."""\n',
    "plugins/plugin_utils/plan/of_keyword.py": "f(cgroup_driver=1)\n",
    "plugins/plugin_utils/plan/of_text.py": 'MESSAGE = "Set cgroup_driver"  # cgroup_driver\n',
    "plugins/plugin_utils/plan/not_loaded.py": "cgroup_driver = 1\n",
}


def test_the_way_of_the_driver_has_the_role_and_loaded_files_whose_code_has_its_name(tmp_path: Path) -> None:
    for name, text in WAY.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert way(tmp_path / "plugins") == [
        "roles/node/vars/main.yml",
        "plugins/module_utils/snapshot/of_attribute.py",
        "plugins/module_utils/snapshot/of_key.py",
        "plugins/plugin_utils/plan/of_keyword.py",
    ]
