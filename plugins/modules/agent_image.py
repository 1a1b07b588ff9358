#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module that imports an image from an archive on a node."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_image
short_description: Import an image without a registry
version_added: 0.1.0
description:
  - Checks whether the container runtime that kubelet uses has the image with the name and the id of an archive. If
    not, the module sends the archive to the node, imports it with containerd's C(ctr), and checks the runtime again.
  - Uses the results of M(volcano.colocation.agent_archive_info).
  - Records imported images in C(/var/lib/volcano-colocation/images.json), and removes only recorded images.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  image:
    description: The full name of the image. Required with O(state=present).
    type: str
  owner:
    description:
      - What the image is for. It is recorded, and O(state=absent) removes only images of this owner.
    type: str
    choices: [agent, volcano]
    default: agent
  state:
    description:
      - V(present) imports the image if it is missing.
      - V(absent) removes images that this module imported. An image remains if a container uses it, running or not, or
        if it also has another name.
    type: str
    choices: [present, absent]
    default: present
  archive:
    description: Path of the archive on the controller. Required with O(state=present).
    type: path
  sha256:
    description: The SHA-256 of the archive, which is verified before the import. Required with O(state=present).
    type: str
  images:
    description: The images in the archive, one for each architecture. Required with O(state=present).
    type: list
    elements: dict
    default: []
    aliases: [holds]
    suboptions:
      architecture:
        description: The image's architecture, such as V(amd64).
        type: str
        required: true
      id:
        description: The image's id, which is the digest of its configuration.
        type: str
        required: true
      digests:
        description: All digests of the image.
        type: list
        elements: str
        default: []
  ignore_containers:
    description:
      - Names of containers that will have ended before the image is removed. In check mode with O(state=absent), they
        do not count as users of an image.
    type: list
    elements: str
    default: []
    aliases: [leaving]
  timeout:
    description:
      - With O(state=absent), seconds to wait until containers that use the images have been removed. kubelet removes
        ended containers once a minute.
    type: int
    default: 0
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Read the archive
  volcano.colocation.agent_archive_info:
    path: /srv/images/vc-agent.tar
    image: docker.io/volcanosh/vc-agent:v1.14.0
  delegate_to: localhost
  become: false
  run_once: true
  register: agent_archived

- name: Import its image on the node
  volcano.colocation.agent_image:
    image: "{{ agent_archived.archive.image }}"
    archive: "{{ agent_archived.archive.path }}"
    sha256: "{{ agent_archived.archive.sha256 }}"
    images: "{{ agent_archived.archive.images }}"
"""

RETURN = r"""
image:
  description:
    - The C(name), the C(id) that the runtime reports (in check mode, the id after an import), and in C(before) the
      previous id of this name.
  returned: with O(state=present)
  type: dict
import_required:
  description: Whether an import was, or in check mode is, necessary.
  returned: with O(state=present)
  type: bool
runtime:
  description: The runtime that kubelet uses.
  returned: with O(state=present)
  type: str
removed:
  description: Names of images that were removed, or whose record was removed since they no longer exist.
  returned: with O(state=absent)
  type: list
  elements: str
remaining:
  description: Imported images that remain, each with C(name), C(id), C(reason), and the C(container) that uses it.
  returned: with O(state=absent)
  type: list
  elements: dict
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.agent.image_import import ensure_absent, ensure_present
from ..module_utils.errors import ColocationError
from ..module_utils.host import Clock, Host

IMAGE_OPTIONS = {
    "architecture": {"type": "str", "required": True},
    "id": {"type": "str", "required": True},
    "digests": {"type": "list", "elements": "str", "default": []},
}
ARGUMENTS = {
    "image": {"type": "str"},
    "owner": {"type": "str", "choices": ["agent", "volcano"], "default": "agent"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "archive": {"type": "path"},
    "sha256": {"type": "str"},
    "images": {"type": "list", "elements": "dict", "default": [], "aliases": ["holds"], "options": IMAGE_OPTIONS},
    "ignore_containers": {"type": "list", "elements": "str", "default": [], "aliases": ["leaving"]},
    "timeout": {"type": "int", "default": 0},
}


def main() -> None:
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True, required_if=[("state", "present", ("image",))])
    host = Host()
    try:
        if module.params["state"] == "absent":
            result = ensure_absent(host, module.params, Clock(), check=module.check_mode)
        else:
            result = ensure_present(host, module.params, os.uname().machine, Clock())
    except ColocationError as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
