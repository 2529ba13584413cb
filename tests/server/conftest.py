"""Servers for the tests: what other programs would talk to."""

from __future__ import annotations

from workbench_server import api, start, task

__all__ = ["api", "start", "task"]
