# SPDX-License-Identifier: MIT OR Apache-2.0
"""TCN: mark a departing packet that waited longer than the threshold. There is nothing to round."""

from common import Scheme


class Oracle(Scheme):
    DEFAULTS = dict(threshold=150_000)
    MARKS = 0

    def hook(self):
        return "dequeue"

    def dequeue(self, at):
        return "instant" if at.sojourn > self.p.threshold else "pass"
