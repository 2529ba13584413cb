"""One campaign for all fuzz tests, and its counts at the end of the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzzing import Campaign

_CAMPAIGN = pytest.StashKey[Campaign]()
_HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Share the time among the tests of this directory that were chosen."""
    ours = [item for item in items if _HERE in item.path.parents and "campaign" in getattr(item, "fixturenames", ())]
    config.stash[_CAMPAIGN] = Campaign.from_environment(len(ours))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what was tried, where it was asked for."""
    campaign = config.stash.get(_CAMPAIGN, None)
    if campaign is not None and campaign.seconds and campaign.tallies:
        terminalreporter.section(f"fuzzing, seed {campaign.seed}")
        for line in campaign.lines():
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def campaign(request: pytest.FixtureRequest) -> Campaign:
    """The one campaign of this run."""
    return request.config.stash[_CAMPAIGN]
