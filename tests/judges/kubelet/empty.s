// SPDX-FileCopyrightText: the volcano.colocation authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Empty: with an assembly file the compiler takes functions without a body, which go:linkname gives theirs.
