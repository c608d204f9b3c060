# SPDX-License-Identifier: GPL-2.0-or-later
"""Property tests never fail because a machine is slow."""

from hypothesis import HealthCheck, settings

settings.register_profile("x25", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("x25")
