"""A net of gated dilated convolutions over the tokens of a text: its shape, layers and weights, and scoring with it.

    x⁰_t = [form_t, shape_t, pieces_t, space_t] W + b        sums of hashed vectors of the word (`features.hashed`)
    xᵏ_t = xᵏ⁻¹_t + a σ(g)                                   (a, g) = [h_{t-d}, h_t, h_{t+d}] W_k + b_k
    h    = xᵏ⁻¹ less its mean over the channels, divided by its standard deviation
    scores of the labels at t = x_t W_out + b_out

Each block looks d tokens to both sides (van den Oord et al. 2016; Strubell et al. 2017 for labelling): with dilations
1, 2, 4, 8, 16, 1, 2, 4 a label sees 38 tokens each way. The normalisation has no weights of its own: those of the
product behind it can say the same.

With `inner`, a block works on fewer numbers than there are channels: h D_k is convolved, and a σ(g) U_k added to x.
The products with D_k and U_k cost little, so a token may have twice the channels at the same price.

Tokens of a batch lie end to end in one array, without padding. A convolution is one product with a matrix whose row t
holds the rows t-d, t, t+d of h, with zeros where they belong to another sequence. O(T · taps · channels²) a block, or
O(T · inner · (taps · inner + channels)).

Everything computes in the type of the weights: float32, or float64 where a test wants the last digit.

A learned net that scores text (`ScoringNet`) has its weights in the form that is fastest (`PreparedNet`), with the same
scores but for rounding.
A block looks at x less its mean over the channels. So nothing that is added to x has a mean here: words, spaces and
what blocks add are stored without it, and nothing has to be subtracted from x. The scores do ask for the mean, so it is
added up beside x, one number for each token. What follows from the weights alone is computed once, in double precision:

    half the weights of a block       a σ(g) = a / 2 · (1 + tanh(g / 2))
    up W_out of the last block        what it adds is asked for by the scores alone

The deviation divides a row after the product with `down`, which has fewer columns. The neighbours of all tokens are
copied in one step; a row of zeros stands for those of another sequence.

The first layer is linear, so the vector that it makes of a word is computed once and remembered: a word that was seen
before costs one look-up. Tokens are scored in slices that stay in the cache of a core.

Nothing is locked. Words are added to the memory of words by any thread, each in a row of its own that is written before
it can be found; a full memory is replaced by an empty one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError, ModelFileError
from espalier.features.hashed import GROUPS, SPACES, HashedWords, hashed_words, spaces_before
from espalier.parallel import choose_threads, one_blas_thread, run_chunks
from espalier.potentials import ChainBatch

__all__ = [
    "STORAGES",
    "Borders",
    "ConvShape",
    "Floats",
    "Ints",
    "NetInput",
    "Parameters",
    "PreparedNet",
    "ScoringNet",
    "Workspace",
    "convolved",
    "initial",
    "packed",
    "pooled",
    "roots",
    "unpacked",
]

Floats: TypeAlias = NDArray[Any]
Ints: TypeAlias = NDArray[np.int64]
Parameters: TypeAlias = dict[str, Floats]
"""Weights by name: table, space, input, input_bias, block<k>, bias<k>, down<k>, up<k>, output, output_bias ..."""

SPACE_SIZE = 16
"""Numbers that say what stands before a token."""

TINY = 1e-5
"""Added to a variance."""

STORAGES = ("int8", "float16", "float32")
"""How a model file may hold weights: rounded to 127 steps, rounded to half precision, or as they are.

In bytes there is a scale for each row of the table of vectors, and for each output of other matrices. Biases and the
scores between labels are few, and always float32.
"""

STEPS = 127
FORBIDS = ("trans", "start", "end")
"""What may hold -inf."""

_WHOLE = ("space", "trans")
"""Matrices so small that they stay as they are."""


@dataclass(frozen=True, slots=True)
class ConvShape:
    """The sizes of a net: labels, channels, one dilation a block, numbers a hashed vector, vectors, taps a block.

    inner : numbers that a block convolves; 0: the channels themselves.
    """

    labels: int
    channels: int = 128
    dilations: tuple[int, ...] = (1, 2, 4, 8, 16, 1, 2, 4)
    embedding: int = 48
    buckets: int = 32768
    kernel: int = 3
    inner: int = 0

    def __post_init__(self) -> None:
        """Check that there is such a net."""
        for name in ("labels", "channels", "embedding", "buckets", "kernel"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{name} is {value!r}", hint="expected a whole number of at least 1")
        if isinstance(self.inner, bool) or not isinstance(self.inner, int) or self.inner < 0:
            raise InputError(f"inner is {self.inner!r}", hint="expected a whole number of at least 0")
        if self.kernel % 2 == 0:
            raise InputError(f"kernel is {self.kernel}", hint="expected an odd number: as many tokens on both sides")
        if any(isinstance(d, bool) or not isinstance(d, int) or d < 1 for d in self.dilations):
            raise InputError(f"dilations are {self.dilations!r}", hint="expected whole numbers of at least 1")

    @property
    def convolved(self) -> int:
        """How many numbers a block convolves."""
        return self.inner or self.channels

    def sizes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every parameter."""
        c, i, L = self.channels, self.convolved, self.labels
        found: dict[str, tuple[int, ...]] = {
            "table": (self.buckets, self.embedding),
            "space": (SPACES, SPACE_SIZE),
            "input": (GROUPS * self.embedding + SPACE_SIZE, c),
            "input_bias": (c,),
        }
        for k in range(len(self.dilations)):
            found |= {f"block{k}": (self.kernel * i, 2 * i), f"bias{k}": (2 * i,)}
            if self.inner:
                found |= {f"down{k}": (c, i), f"up{k}": (i, c)}
        return found | {"output": (c, L), "output_bias": (L,), "trans": (L, L), "start": (L,), "end": (L,)}


def initial(shape: ConvShape, rng: np.random.Generator, dtype: type = np.float32) -> Parameters:
    """Return random weights to begin with; biases and transitions begin at 0."""
    found: Parameters = {}
    for name, size in shape.sizes().items():
        if name == "table":
            value = rng.normal(0.0, 0.05, size)
        elif name == "space":
            value = rng.normal(0.0, 1.0, size)
        elif len(size) == 2 and name != "trans":
            value = rng.uniform(-1.0, 1.0, size) / np.sqrt(size[0])
        else:
            value = np.zeros(size)
        found[name] = value.astype(dtype)
    return found


class Borders:
    """Where the sequences of a batch begin and end: `before` and `behind` each token stand so many of its sequence."""

    def __init__(self, lengths: Ints) -> None:
        """Take the lengths of sequences that lie end to end."""
        ends = np.cumsum(lengths)
        self.before: Ints = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        self.behind: Ints = np.repeat(lengths, lengths) - 1 - self.before
        self._found: dict[int, Ints] = {}

    def outside(self, reach: int) -> Ints:
        """Return the tokens that have no neighbour so many tokens behind them, or, below 0, before them."""
        found = self._found.get(reach)
        if found is None:
            near = self.before < -reach if reach < 0 else self.behind < reach
            found = self._found[reach] = np.flatnonzero(near)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class NetInput:
    """The tokens of a batch.

    words : the hashed words that occur; word : int64[R], which of them each token is; space : uint8[R], what stands
    before it; borders : where sequences begin and end.
    """

    words: HashedWords
    word: Ints
    space: NDArray[np.uint8]
    borders: Borders


class Workspace:
    """Arrays that are used again: fresh large ones cost more than what is done with them."""

    def __init__(self, dtype: Any) -> None:
        """Begin without any."""
        self.dtype = np.dtype(dtype)
        self.arrays: dict[str, Floats] = {}

    def __call__(self, name: str, rows: int, columns: int) -> Floats:
        """Return an array of this size with anything in it; the same name gives the same memory."""
        held = self.arrays.get(name)
        if held is None or held.size < rows * columns:
            held = self.arrays[name] = np.empty(rows * columns * 5 // 4, self.dtype)
        return held[: rows * columns].reshape(rows, columns)


def pooled(table: Floats, words: HashedWords) -> Floats:
    """Return the sums of the vectors of each group, [words, 3 d]; pieces are divided by the root of their number."""
    d = table.shape[1]
    sizes = words.sizes.reshape(-1)
    sums: Floats = np.add.reduceat(table[words.ids], np.cumsum(sizes) - sizes, axis=0).reshape(-1, GROUPS * d)
    sums[:, (GROUPS - 1) * d :] *= roots(words, table.dtype)
    return sums


def roots(words: HashedWords, dtype: Any) -> Floats:
    """Return by what the sums of pieces are multiplied, a row for each word."""
    return np.asarray(1.0 / np.sqrt(words.sizes[:, -1:])).astype(dtype)


def convolved(
    x: Floats, w: Floats, bias: Floats, down: Floats | None, dilation: int, borders: Borders, work: Workspace,
    name: str = "",
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return (a, g) of a block, [R, 2 i], and the inverse standard deviations; arrays called `name` keep the rest."""
    R, c = x.shape
    i = w.shape[1] // 2
    taps = w.shape[0] // i
    H, Z = work(f"H{name}", R, taps * i), work(f"Z{name}", R, 2 * i)
    h = middle = H[:, taps // 2 * i : (taps // 2 + 1) * i]
    if down is not None:
        h = work(f"h{name}", R, c)
    np.subtract(x, (x @ np.full(c, 1.0 / c, x.dtype))[:, None], out=h)
    deviation = (1.0 / np.sqrt(np.einsum("ij,ij->i", h, h) / c + TINY)).astype(x.dtype)[:, None]
    h *= deviation
    if down is not None:
        h = np.matmul(h, down, out=middle)
    for j in range(taps):
        side = H[:, j * i : (j + 1) * i]
        reach = (j - taps // 2) * dilation
        if reach < 0:
            side[-reach:] = h[:reach]
        elif reach > 0:
            side[:-reach] = h[reach:]
        if reach:
            side[borders.outside(reach)] = 0
    np.matmul(H, w, out=Z)
    Z += bias
    return Z, deviation


def packed(weights: Mapping[str, Floats], storage: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model file; of rounded weights a second one with their scales."""
    found: dict[str, NDArray[Any]] = {}
    for name, w in weights.items():
        if w.ndim < 2 or name in _WHOLE or storage == "float32":
            found[name] = w.astype(np.float32)
        elif storage == "float16":
            found[name] = w.astype(np.float16)
        else:
            largest = np.abs(w).max(axis=_axis(name), keepdims=True)
            scale = np.where(largest > 0, largest / STEPS, 1.0).astype(np.float32)
            found[name] = np.rint(w / scale).astype(np.int8)
            found[f"{name}/scale"] = scale
    return found


def unpacked(arrays: Mapping[str, NDArray[Any]], shape: ConvShape) -> Parameters:
    """Return the weights in float32; arrays that are not those of the shape are a ModelFileError."""
    found: Parameters = {}
    for name, size in shape.sizes().items():
        if name not in arrays or arrays[name].shape != size:
            raise ModelFileError(f"the weights {name!r} of the net are not there, or not of the size {size}")
        w = np.array(arrays[name], np.float32)
        if arrays[name].dtype == np.int8:
            scale = arrays.get(f"{name}/scale")
            expected = tuple(1 if k == _axis(name) else n for k, n in enumerate(size))
            if scale is None or scale.shape != expected:
                raise ModelFileError(f"the scales of {name!r} are not there, or not of the size {expected}")
            with np.errstate(over="ignore", invalid="ignore"):
                w *= np.asarray(scale, np.float32)
        least = -np.inf if name in FORBIDS else np.finfo(np.float32).min
        if not ((w >= least) & (w < np.inf)).all():
            raise ModelFileError(f"the weights {name!r} of the net are not finite")
        found[name] = w
    return found


def _axis(name: str) -> int:
    """Return the axis that shares a scale: the numbers of a vector, the inputs of an output."""
    return 1 if name == "table" else 0


# The weights in the form that scores fastest.


SHORT = 128
"""Tokens of a sequence whose neighbours are remembered: 3 MB for all lengths and distances together."""


class _Block(NamedTuple):
    """The weights of a block; without `inner` there is no `down` and no `up`. mean : of what each row of `up` adds."""

    w: Floats
    bias: Floats
    dilation: int
    down: Floats | None = None
    up: Floats | None = None
    mean: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PreparedNet:
    """Weights of a net, in float32.

    words, spaces : what the first layer makes of vectors of words, and of what stands before a word, without the means;
    word_means, space_means : the means. sums : of each column of the output. last : the last block's `up` and the
    output in one; None where that block has none.
    """

    words: Floats
    word_means: Floats
    spaces: Floats
    space_means: Floats
    blocks: Sequence[_Block]
    output: Floats
    sums: Floats
    output_bias: Floats
    last: Floats | None

    @classmethod
    def of(cls, shape: ConvShape, weights: Parameters) -> PreparedNet:
        """Prepare weights; those that are too large for it make scores that are no numbers."""
        wide = {name: w.astype(np.float64) for name, w in weights.items() if name not in ("table", "trans")}
        border = GROUPS * shape.embedding
        last = f"up{len(shape.dilations) - 1}"
        with np.errstate(over="ignore", invalid="ignore"):
            spaces = wide["space"] @ wide["input"][border:] + wide["input_bias"]
            return cls(
                *_without_mean(wide["input"][:border]),
                *_without_mean(spaces),
                [_block(wide, k, dilation) for k, dilation in enumerate(shape.dilations)],
                _single(wide["output"]),
                _single(wide["output"].sum(axis=0)),
                _single(wide["output_bias"]),
                _single(wide[last] @ wide["output"]) if last in wide else None,
            )

    def of_words(self, table: Floats, words: HashedWords) -> tuple[Floats, Floats]:
        """Return what the first layer makes of words, float32[words, c], and the means, float32[words]."""
        sums = pooled(table, words)
        return sums @ self.words, sums @ self.word_means

    def scores(self, x: Floats, mean: Floats, lengths: Ints, work: Workspace) -> Floats:
        """Return the scores of tokens whose first layer is x; it and its mean are written over."""
        R, c = x.shape
        near: dict[tuple[int, int], Ints] = {}
        gated = x
        for block in self.blocks:
            i = block.w.shape[1] // 2
            taps = block.w.shape[0] // i
            if (taps, block.dilation) not in near:
                near[taps, block.dilation] = _neighbours(lengths, taps, block.dilation)
            padded, H, Z = work("h", R + 1, i), work("H", R, taps * i), work("Z", R, 2 * i)
            h = padded[:R]
            padded[R] = 0
            deviation = (1.0 / np.sqrt(np.einsum("ij,ij->i", x, x) / c + TINY)).astype(x.dtype)[:, None]
            if block.down is None:
                np.multiply(x, deviation, out=h)
            else:
                np.matmul(x, block.down, out=h)
                h *= deviation
            np.take(padded, near[taps, block.dilation], axis=0, out=H.reshape(R * taps, i), mode="clip")
            np.matmul(H, block.w, out=Z)
            Z += block.bias
            a, gate = Z[:, :i], Z[:, i:]
            np.tanh(gate, out=gate)
            gated = np.multiply(a, gate, out=work("gated", R, i))
            gated += a
            if block is not self.blocks[-1] or self.last is None:
                self._add(x, mean, gated, block, work)
        scores: Floats = x @ self.output
        if self.last is not None:
            scores += gated @ self.last
        scores += mean[:, None] * self.sums
        scores += self.output_bias
        return scores

    @staticmethod
    def _add(x: Floats, mean: Floats, gated: Floats, block: _Block, work: Workspace) -> None:
        """Add what a block says to x, and its mean to the means."""
        if block.up is None or block.mean is None:
            own = gated.mean(axis=1)
            gated -= own[:, None]
            x += gated
        else:
            own = gated @ block.mean
            x += np.matmul(gated, block.up, out=work("raised", *x.shape))
        mean += own


def _block(wide: Parameters, k: int, dilation: int) -> _Block:
    w, bias = _single(wide[f"block{k}"] * 0.5), _single(wide[f"bias{k}"] * 0.5)
    if f"up{k}" not in wide:
        return _Block(w, bias, dilation)
    return _Block(w, bias, dilation, _single(wide[f"down{k}"]), *_without_mean(wide[f"up{k}"]))


def _without_mean(w: Floats) -> tuple[Floats, Floats]:
    """Return rows less their means, and the means."""
    mean = w.mean(axis=1)
    return _single(w - mean[:, None]), _single(mean)


def _single(w: Floats) -> Floats:
    return w.astype(np.float32)


def _neighbours(lengths: Ints, taps: int, dilation: int) -> Ints:
    """Return for each token the places of its neighbours, int64[R * taps]; R stands for one of another sequence."""
    if len(lengths) == 1 and lengths[0] <= SHORT:
        return _neighbours_of_one(int(lengths[0]), taps, dilation)
    ends = np.cumsum(lengths)
    R = int(ends[-1])
    first, behind = np.repeat(ends - lengths, lengths)[:, None], np.repeat(ends, lengths)[:, None]
    places = np.arange(R)[:, None] + (np.arange(taps) - taps // 2) * dilation
    places[(places < first) | (places >= behind)] = R
    return places.reshape(-1)


@lru_cache(maxsize=1024)
def _neighbours_of_one(R: int, taps: int, dilation: int) -> Ints:
    """Return the places for one sequence: most texts that are read one by one have a length that was met before."""
    places = np.arange(R)[:, None] + (np.arange(taps) - taps // 2) * dilation
    places[(places < 0) | (places >= R)] = R
    places = places.reshape(-1)
    places.flags.writeable = False
    return places


# A learned net that scores text.


SLICE = 768
"""Tokens that are scored at a time."""

MEMORY = 1 << 23
"""Numbers that the memory of words holds at most: 32 MiB."""


class _Memory:
    """The vectors of words that were met: the row of each, the rows, and the means that they are without."""

    def __init__(self, columns: int) -> None:
        self.row: dict[str, int] = {}
        size = max(MEMORY // columns, 1)
        self.vectors, self.means = np.empty((size, columns), np.float32), np.empty(size, np.float32)
        self.free = itertools.count()  # next() on it is atomic

    def add(self, words: Sequence[str], vectors: Floats, means: Floats) -> list[int] | None:
        """Remember words and return their rows; None if there is no room for all."""
        rows = list(itertools.islice(self.free, len(words)))
        if rows[-1] >= len(self.vectors):
            return None
        self.vectors[rows], self.means[rows] = vectors, means
        self.row.update(zip(words, rows, strict=True))
        return rows


@dataclass(slots=True, eq=False)
class ScoringNet:
    """The weights of a net, in float32, ready to score."""

    shape: ConvShape
    weights: Parameters
    _memory: list[_Memory] = field(init=False, repr=False, default_factory=list)
    _prepared: list[PreparedNet] = field(init=False, repr=False, default_factory=list)

    def __getstate__(self) -> tuple[ConvShape, Parameters]:
        """Leave the memory behind."""
        return self.shape, self.weights

    def __setstate__(self, state: tuple[ConvShape, Parameters]) -> None:
        """Begin with an empty memory."""
        self.shape, self.weights = state
        self._memory, self._prepared = [], []

    def scores(self, corpus: Corpus, threads: int | None = None) -> NDArray[np.float64]:
        """Return the scores of every label at every token of a corpus, float64[M, L]."""
        found = np.empty((corpus.n_tokens, self.shape.labels))
        if corpus.n_tokens:
            with one_blas_thread():
                self._score(corpus, choose_threads(corpus.n_tokens, threads), found)
        if not np.isfinite(found).all():
            raise ModelFileError("the weights of the net are so large that its scores are no numbers")
        return found

    def potentials(self, corpus: Corpus, threads: int | None = None) -> ChainBatch:
        """Return the scores with those between labels, as potentials."""
        trans, start, end = (self.weights[name].astype(np.float64) for name in ("trans", "start", "end"))
        classes = np.zeros(corpus.n_tokens, np.int32)
        return ChainBatch(corpus.indptr, self.scores(corpus, threads), trans[None], classes, start, end)

    def _score(self, corpus: Corpus, threads: int, found: NDArray[np.float64]) -> None:
        """Write the scores of every token, slice by slice."""
        net, (vectors, means, row) = self.prepared(), self._vectors(corpus)
        space = None if corpus.documents is None else spaces_before(corpus)
        slices = list(_slices(corpus.indptr))
        n = min(threads, len(slices))

        def score(k: int) -> None:
            work = Workspace(np.float32)
            with np.errstate(over="ignore", invalid="ignore"):  # looked at once, in the end
                for lo, hi in slices[k::n]:
                    a, b = int(corpus.indptr[lo]), int(corpus.indptr[hi])
                    x = np.take(vectors, row[a:b], axis=0, out=work("x", b - a, self.shape.channels), mode="clip")
                    kind = 0 if space is None else space[a:b]
                    x += net.spaces[kind]
                    mean = means[row[a:b]] + net.space_means[kind]
                    found[a:b] = net.scores(x, mean, corpus.lengths[lo:hi], work)

        run_chunks(score, n, threads)

    def prepared(self) -> PreparedNet:
        """Return the weights as scoring wants them; made when first asked for."""
        if not self._prepared:
            self._prepared.append(PreparedNet.of(self.shape, self.weights))
        return self._prepared[0]

    def _vectors(self, corpus: Corpus) -> tuple[Floats, Floats, NDArray[Any]]:
        """Return vectors of words, their means, and which of them each token has."""
        word: NDArray[Any] = corpus.token_ids
        types: Sequence[str] = corpus.types
        if len(types) > len(word):  # a few sequences of a large corpus
            used, word = np.unique(word, return_inverse=True)
            types = [types[k] for k in used.tolist()]
        memory = self._memory[0] if self._memory else self._forget()
        rows = np.fromiter((memory.row.get(w, -1) for w in types), np.int64, len(types))
        new = np.flatnonzero(rows < 0)
        if len(new):
            words = [types[k] for k in new.tolist()]
            vectors, means = self._projected(words)
            added = memory.add(words, vectors, means)
            if added is None:
                self._forget()
                known, known_means = memory.vectors[rows], memory.means[rows]
                known[new], known_means[new] = vectors, means
                return known, known_means, word
            rows[new] = added
        return memory.vectors, memory.means, rows[word]

    def _forget(self) -> _Memory:
        memory = _Memory(self.shape.channels)
        self._memory[:] = [memory]
        return memory

    def _projected(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """Return what the first layer makes of words, and the means, a few hundred at a time."""
        net, table = self.prepared(), self.weights["table"]
        pieces = (words[k : k + SLICE] for k in range(0, len(words), SLICE))
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [net.of_words(table, hashed_words(piece, self.shape.buckets)) for piece in pieces]
        vectors, means = zip(*parts, strict=True)
        return np.concatenate(vectors), np.concatenate(means)


def _slices(indptr: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of sequences with about `SLICE` tokens each, or one sequence that has more."""
    lo, N = 0, len(indptr) - 1
    while lo < N:
        hi = max(int(np.searchsorted(indptr, indptr[lo] + SLICE, side="right")) - 1, lo + 1)
        yield lo, hi
        lo = hi
