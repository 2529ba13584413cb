"""The same learning over processes (joblib) or machines (Dask): workers hold parts of the data and send back sums.

Learning here, `jobs=None`, never imports this package; `espalier.learning.jobs` is the door.

    shards        parts of some data, each with a state, and what is asked of them
    workers       joblib's and Dask's workers, and what they remember
    chains        CRF: its likelihood in parts, and its fit to a pool whose labels workers keep
    counts        HMM: what it counts in a pool (EM)
    guesses       CoDL: workers label their part of the pool under the rules
    projections   PosteriorRegularization: workers project a model onto the rules
    candidates    discover: workers count what candidates for rules do
"""

from espalier.distributed.candidates import score_in_parts
from espalier.distributed.chains import likelihood_in_parts
from espalier.distributed.counts import count_in_parts
from espalier.distributed.guesses import check_guesses, guess_in_parts
from espalier.distributed.projections import project_in_parts

__all__ = [
    "check_guesses", "count_in_parts", "guess_in_parts", "likelihood_in_parts", "project_in_parts", "score_in_parts",
]  # fmt: skip
