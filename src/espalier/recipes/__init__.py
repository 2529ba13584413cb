"""What training decides by itself, as functions: the command line, the workbench and scripts call these.

    from espalier.recipes import train

    trained = train(es.read("labelled.txt"), unlabelled=es.read("raw.txt"), rules="Once: each field once")
    trained.estimator.predict([["Plum", "in", "Ely"]])
    trained.save("my.espalier")

| file | one idea |
|---|---|
| `plan` | from what was asked for to an unfitted estimator; what does not go together is refused |
| `methods` | the ways to train: what each takes, and how it is put around a model |
| `building` | that estimator: the model, rules around it, the method around both, and settings |
| `training` | a plan and documents to a model file, with the history of the learning |
| `adapting` | learning that begins from the weights of another model |
| `judging` | a model against labels, and two models against each other |
| `rule_files` | rules from files and tasks, every mistake with its line; rules found in labelled records |

Nothing here knows an application: who adapts a model of references passes it (`plan(start=...)`).
"""

from espalier.recipes.plan import METHODS, MODELS, Recipe, plan
from espalier.recipes.training import Trained, fit, train

__all__ = ["METHODS", "MODELS", "Recipe", "Trained", "fit", "plan", "train"]
