#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module that has an image from an archive imported on a node."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_image
short_description: Have the Volcano agent's image on a node without a registry
version_added: 0.1.0
description:
  - Asks the container runtime that kubelet uses whether it has an image under its name and with the id that an
    archive says. Only where it has not, the archive is sent to the node and imported with containerd's own C(ctr),
    after which the runtime is asked again.
  - Uses the results of M(volcano.colocation.agent_archive_info).
  - Notes in C(/var/lib/volcano-colocation/images.json) what it imported, and takes nothing else away.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  image:
    description: The whole name of the image. Needed with O(state=present).
    type: str
  state:
    description:
      - V(present) has the image there.
      - V(absent) removes what this module imported, as far as no container, running or not, was made of it and nobody
        gave it another name.
    type: str
    choices: [present, absent]
    default: present
  archive:
    description: Path of the archive on the controller. Needed with O(state=present).
    type: path
  sha256:
    description: The SHA-256 of that file, without which it is not imported.
    type: str
  images:
    description: The images in it, by architecture.
    type: list
    elements: dict
    default: []
    aliases: [holds]
    suboptions:
      architecture:
        description: As images name it, such as V(amd64).
        type: str
        required: true
      id:
        description: The digest of its configuration.
        type: str
        required: true
      digests:
        description: All its digests.
        type: list
        elements: str
        default: []
  ignore_containers:
    description:
      - Names of containers that will have ended before the image goes. With O(state=absent) they do not count in check
        mode.
    type: list
    elements: str
    default: []
    aliases: [leaving]
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

- name: Have its image on the node
  volcano.colocation.agent_image:
    image: "{{ agent_archived.archive.image }}"
    archive: "{{ agent_archived.archive.path }}"
    sha256: "{{ agent_archived.archive.sha256 }}"
    images: "{{ agent_archived.archive.images }}"
"""

RETURN = r"""
image:
  description:
    - C(name), C(id) by the runtime's word (in check mode of what would be there), and C(before), the id that was there
      under this name.
  returned: with O(state=present)
  type: dict
import_required:
  description: Whether the archive had, or in check mode has, to be imported.
  returned: with O(state=present)
  type: bool
runtime:
  description: The runtime that kubelet uses.
  returned: with O(state=present)
  type: str
removed:
  description: Names of images that were taken away, or are known no more because they were gone.
  returned: with O(state=absent)
  type: list
  elements: str
remaining:
  description: What was imported and stays, each with C(name), C(id), C(reason), and C(container) that uses it.
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
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "archive": {"type": "path"},
    "sha256": {"type": "str"},
    "images": {"type": "list", "elements": "dict", "default": [], "aliases": ["holds"], "options": IMAGE_OPTIONS},
    "ignore_containers": {"type": "list", "elements": "str", "default": [], "aliases": ["leaving"]},
}


def main() -> None:
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True, required_if=[("state", "present", ("image",))])
    host = Host()
    try:
        if module.params["state"] == "absent":
            result = ensure_absent(host, module.params["ignore_containers"], check=module.check_mode)
        else:
            result = ensure_present(host, module.params, os.uname().machine, Clock())
    except ColocationError as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
