"""Nets in PyTorch: the one that ships, computed as `espalier.models.conv` does, and larger ones that teach it.

Tokens of a batch lie end to end. A word is looked up by its hashed ids (`espalier.features.hashed`), padded with a row
of zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from espalier.estimators.conv_crf import ConvCRF
from espalier.features.hashed import GROUPS, MOST_PIECES, SPACES, hashed_words
from espalier.models.conv import SPACE_SIZE, TINY, ConvShape, initial

__all__ = ["Batch", "ConvNet", "Recurrent", "Words"]

DROPOUT = ConvCRF().dropout
"""What learning hides."""

MOST = 4 + 3 * MOST_PIECES
"""Ids of a word at most."""


class Words:
    """The ids of all words on a device: ids : int32[W, MOST], those of form, shape and pieces one after the other."""

    def __init__(self, words: list[str], buckets: int, device: str) -> None:
        """Hash words; what is not there is `buckets`, a row of zeros."""
        hashed = hashed_words(words, buckets)
        sizes = hashed.sizes.sum(axis=1)
        ids = np.full((len(words), MOST), buckets, np.int32)
        places = np.arange(len(hashed.ids)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        ids[np.repeat(np.arange(len(words)), sizes), places] = hashed.ids
        self.ids = torch.from_numpy(ids).to(device)
        roots = (1.0 / np.sqrt(hashed.sizes[:, -1:])).astype(np.float32)
        self.roots = torch.from_numpy(roots).to(device)


class Batch:
    """The tokens of some references on a device.

    word : int64[R]; space : int64[R]; before, behind : how many tokens of its reference stand before and behind each;
    lengths : int64[n], on the CPU.
    """

    def __init__(self, word: torch.Tensor, space: torch.Tensor, lengths: NDArray[np.int64]) -> None:
        """Take tokens that lie end to end."""
        self.word, self.space, self.lengths = word, space, torch.from_numpy(lengths)
        ends = np.cumsum(lengths)
        before = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
        behind = np.repeat(lengths, lengths) - 1 - before
        self.before, self.behind = (torch.from_numpy(side).to(word.device) for side in (before, behind))
        self._near: dict[int, torch.Tensor] = {}

    def near(self, reach: int) -> torch.Tensor:
        """Return the places of the tokens so far away, R where they belong to another reference."""
        if reach not in self._near:
            R = len(self.word)
            own = torch.arange(R, device=self.word.device)
            there = self.behind >= reach if reach > 0 else self.before >= -reach
            self._near[reach] = torch.where(there, own + reach, R)
        return self._near[reach]


class _Lookup(nn.Module):
    """Vectors of words and of what stands before them."""

    def __init__(self, buckets: int, embedding: int, generator: np.random.Generator) -> None:
        super().__init__()
        self.buckets, self.embedding = buckets, embedding
        self.table = _parameter(generator.normal(0.0, 0.05, (buckets, embedding)))
        self.space = _parameter(generator.normal(0.0, 1.0, (SPACES, SPACE_SIZE)))

    def forward(self, words: Words, batch: Batch) -> torch.Tensor:
        """Return X[R, 3 d + spaces]; learning hides forms, spaces and numbers."""
        used, row = torch.unique(batch.word, return_inverse=True)
        table = torch.cat([self.table, self.table.new_zeros(1, self.embedding)])
        form, shape, pieces = (
            functional.embedding(words.ids[used, lo:hi], table).sum(1) for lo, hi in ((0, 2), (2, 4), (4, MOST))
        )
        kinds = torch.cat([form, shape, pieces * words.roots[used]], 1).index_select(0, row)
        space = batch.space
        if self.training:
            hidden = torch.rand(len(row), 1, device=row.device) < DROPOUT[0]
            kinds = torch.cat([kinds[:, : self.embedding].masked_fill(hidden, 0.0), kinds[:, self.embedding :]], 1)
            unspaced = torch.rand(len(batch.lengths), device=row.device) < DROPOUT[1]
            space = torch.where(unspaced[torch.cumsum(batch.before == 0, 0) - 1], 0, space)
        X = torch.cat([kinds, self.space[space]], 1)
        return functional.dropout(X, DROPOUT[2], self.training)


class ConvNet(nn.Module):
    """The net of `espalier.models.conv`, with its names of weights."""

    def __init__(self, shape: ConvShape, seed: int) -> None:
        """Begin at random weights."""
        super().__init__()
        self.shape = shape
        generator = np.random.default_rng(seed)
        self.lookup = _Lookup(shape.buckets, shape.embedding, generator)
        names = [name for name in shape.sizes() if name not in ("table", "space", "trans", "start", "end")]
        weights = initial(shape, generator)
        self.own = nn.ParameterDict({name: _parameter(weights[name]) for name in names})

    def forward(self, words: Words, batch: Batch) -> torch.Tensor:
        """Return the scores of all labels at all tokens, [R, L]."""
        w, shape = self.own, self.shape
        x = self.lookup(words, batch) @ w["input"] + w["input_bias"]
        i, middle = shape.convolved, shape.kernel // 2
        for k, dilation in enumerate(shape.dilations):
            h = functional.layer_norm(x, (shape.channels,), eps=TINY)
            if shape.inner:
                h = h @ w[f"down{k}"]
            padded = torch.cat([h, h.new_zeros(1, i)])
            reach = [(j - middle) * dilation for j in range(shape.kernel)]
            sides = [padded.index_select(0, batch.near(each)) if each else h for each in reach]
            gated = functional.glu(torch.cat(sides, 1) @ w[f"block{k}"] + w[f"bias{k}"], 1)
            if shape.inner:
                gated = gated @ w[f"up{k}"]
            x = x + functional.dropout(gated, DROPOUT[3], self.training)
        x = functional.dropout(x, DROPOUT[4], self.training)
        return x @ w["output"] + w["output_bias"]

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the weights by the names of `espalier.models.conv`; transitions are 0."""
        found = {"table": self.lookup.table, "space": self.lookup.space, **self.own}
        arrays = {name: w.detach().float().cpu().numpy() for name, w in found.items()}
        return {name: arrays.get(name, np.zeros(size, np.float32)) for name, size in self.shape.sizes().items()}


class Recurrent(nn.Module):
    """A large net that teaches: three layers of LSTM in both directions over the same words."""

    def __init__(self, labels: int, seed: int, width: int = 352, embedding: int = 96, buckets: int = 65536) -> None:
        """Begin at random weights."""
        super().__init__()
        torch.manual_seed(seed)
        self.lookup = _Lookup(buckets, embedding, np.random.default_rng(seed))
        self.input = nn.Linear(GROUPS * embedding + SPACE_SIZE, 2 * width)
        self.layers = nn.LSTM(2 * width, width, 3, bidirectional=True, batch_first=True, dropout=0.3)
        self.output = nn.Linear(2 * width, labels)

    def forward(self, words: Words, batch: Batch) -> torch.Tensor:
        """Return the scores of all labels at all tokens, [R, L]."""
        x = self.input(self.lookup(words, batch))
        n, longest = len(batch.lengths), int(batch.lengths.max())
        rows = torch.repeat_interleave(torch.arange(n), batch.lengths).to(x.device)
        padded = x.new_zeros(n, longest, x.shape[1])
        padded[rows, batch.before] = x
        run, _ = self.layers(
            nn.utils.rnn.pack_padded_sequence(padded, batch.lengths, batch_first=True, enforce_sorted=False)
        )
        padded, _ = nn.utils.rnn.pad_packed_sequence(run, batch_first=True, total_length=longest)
        return self.output(functional.dropout(padded[rows, batch.before], DROPOUT[4], self.training))


def _parameter(values: Any) -> nn.Parameter:
    return nn.Parameter(torch.tensor(np.asarray(values), dtype=torch.float32))
