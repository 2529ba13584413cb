"""Task files and job files: read, or an error that names the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fuzzing import Campaign, attempt
from mutations import damaged

from espalier.cluster.job import read_settings
from espalier.errors import FormatError, RuleError
from espalier.tasks.task import load_features, load_task

FEATURES = """[features]
templates = ["word", "lower[-1,0,1]", "prefix1-3", "lower@-1 & lower", "regex:year", "lexicon:months", "table:kinds"]
min_count = 2

[features.regexes]
year = "(19|20)[0-9]{2}[a-z]?"

[features.lexicons]
months = ["January", "May"]
codes = { entries = ["DE", "FR"], fold = false }

[features.tables]
kinds = { entries = { Inc = ["company"], Ltd = ["company", "british"] } }
"""
TASK = f"""labels = ["title", "price", "place"]

{FEATURES}
[rules]
text = '''
Once:   each field once
Price:  token in "$" -> price
'''

[defaults]
model = "crf"
l2 = 0.5
"""
JOB = """input = ["refs/*.jsonl", "more.jsonl.gz"]
output = "records"
model = "citations"
text = "text"
keep = ["id"]
partition_bytes = 16_000_000
retries = 2
"""


@pytest.mark.parametrize(
    ("entrance", "valid", "read"),
    [("task file", TASK, load_task), ("job file", JOB, read_settings), ("features file", FEATURES, load_features)],
    ids=["task", "job", "features"],
)
def test_damaged_settings(
    campaign: Campaign, tmp_path: Path, entrance: str, valid: str, read: Callable[[Path], object]
) -> None:
    path = tmp_path / "some.toml"

    def accepts(text: str) -> bool:
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        found, refusal = attempt(lambda: read(path), FormatError, RuleError)
        assert found is not None or str(path) in refusal
        return found is not None

    path.write_text(valid)
    read(path)
    campaign.fuzz(entrance, damaged([valid], edits=2), accepts, few=150)
