"""Tasks: labels, features, rules and defaults of one application, as a TOML file.

`load_task("ads")` loads one that comes with the library (`names()` lists them), `load_task("my/task.toml")` your own.
"""

from espalier.tasks.task import Task, load_task, names

__all__ = ["Task", "load_task", "names"]
