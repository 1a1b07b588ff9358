#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of bundle_info, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bundle_info
short_description: Verify a bundle and read what it contains
version_added: 0.1.0
description:
  - Compares every file of a bundle that M(volcano.colocation.bundle_build) built with its SHA-256.
  - Fails if a file was changed, is missing or does not belong to the bundle, and if it contains a symbolic link.
  - Runs on the controller and changes nothing.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  directory:
    description: Path of the bundle on the controller.
    type: path
    required: true
  sha256:
    description:
      - The SHA-256 of the file C(SHA256SUMS), which the build shows. If it is set, another bundle is refused.
      - Without it, accidental changes are found, but not a bundle whose C(SHA256SUMS) was changed too.
    type: str
    default: ""
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Verify the bundle
  volcano.colocation.bundle_info:
    directory: /srv/volcano-1.14.1
  delegate_to: localhost
  become: false
  run_once: true
  register: bundle_read
"""

RETURN = r"""
bundle:
  description: The content of the bundle, with absolute paths.
  returned: success
  type: dict
  contains:
    directory:
      description: The path of the bundle.
      type: str
    sha256:
      description: SHA-256 of the file C(SHA256SUMS).
      type: str
    collection:
      description:
        - The C(version) and the tarball C(file) of the collection in the bundle; the C(running_version); and in
          C(running), whether the collection that runs is the one in the bundle.
      type: dict
    agent:
      description: The agent's C(image) and its C(archive).
      type: dict
    volcano:
      description:
        - The C(release), the path of the C(manifest), its C(manifest_sha256), and C(image_archives), paths by the name
          of the image.
      type: dict
    python:
      description:
        - The C(requirements) and the directory of C(wheels); C(version) and C(platform) of the Python that they are
          for; C(matches), whether the running Python is of that kind; and C(missing), the requirements that it does
          not meet.
      type: dict
"""
