"""`espalier calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from espalier.cli.console import complain, counted, note, progress, say, say_json
from espalier.cli.files import keep_apart, labelled_records, read_all
from espalier.cli.options import UTF_8, Data, Encoding, From, Json, Model

__all__ = ["calibrate"]

_NAMES = {"field": "fields", "record": "whole records"}
_NOTICED = 0.0005  # a smaller difference is not seen in the figures


def calibrate(
    model: Model,
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="The model file to write.")],
    unseen: Annotated[
        list[Path] | None,
        typer.Option(
            "--unseen", metavar="FILE", help="Labelled records of another kind, which count as much; may be repeated."
        ),
    ] = None,
    format: From = None,
    encoding: Encoding = UTF_8,
    json: Json = False,
) -> None:
    """Make confidences keep their word: of answers that say 0.8, four in five are right.

    The labels of the model do not change; the data are others than it has
    learned from. Printed is how far confidences are
    from the truth, before and after; for that each half of the data is judged
    by what the other half teaches.

    Examples:
        espalier calibrate -m mine.espalier -d dev.xml -o mine.espalier
        espalier calibrate -m mine.espalier -d dev.xml --unseen others.xml -o sure.espalier
    """
    from espalier.extract.calibrating import errors, learn_calibration, say_if_few, tried
    from espalier.loading import for_texts, load
    from espalier.recipes.settings import model_output

    path = model_output(output, None)
    keep_apart([model, *data, *(unseen or ())], {"--output": path})
    extractor = for_texts(load(str(model)), model)
    files = [data, *[[one] for one in unseen or ()]]
    sets = [labelled_records(read_all(own, format, encoding), ", ".join(map(str, own))) for own in files]
    with progress("labelling"):
        trials = [tried(extractor, documents) for documents in sets]
        counts = extractor.calibration.counted
        found = errors(trials, extractor.calibration)
        extractor.calibration = learn_calibration(trials, counted=counts)
    extractor.save(path)
    texts = trials[0].size
    if json:
        figures = {kind: {"before": before, "after": after} for kind, (before, after) in found.items()}
        say_json({"model": str(path), "records": texts, **figures})
        return
    if few := say_if_few(trials, "record"):
        complain(few)
    note(f"calibrated on {counted(texts, 'record')} → {path}", always=True)
    if not found:
        complain("nothing was measured: that takes two records or more, one half to learn from and one to judge by")
        return
    if worse := [_NAMES[kind] for kind, (old, new) in found.items() if new - old > _NOTICED]:
        better = f"calibrate on more records, or go on with {model}"
        complain(f"confidences of {' and '.join(worse)} are farther from the truth than before; {better}")
    rows = [f"  {_NAMES[kind]:14}{100 * old:5.1f} before{100 * new:6.1f} now" for kind, (old, new) in found.items()]
    say("confidences miss the truth by, in points of 100:", *rows)
