"""Lists of a million phrases and patterns over several tokens: how long, how large.

build     seconds and megabytes for a list of random phrases of one to five words
find      nanoseconds a token, on a text of which a fifth is phrases of the list; the peer is a set of tuples of words,
          which is asked for every run of up to five tokens, and finds the same where a text is cut into whole words
pattern   nanoseconds a token for a time of day, /[0-9]{1,2}/ ":" /[0-9][0-9]/ "am", "pm"?, on the same text
file      seconds to save and to load a model whose features name the list, and its size in megabytes
"""

from __future__ import annotations

import tempfile
import time
import tracemalloc
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

import espalier as es
from common import Row, arguments, compare, cpu_time, write_json
from espalier.corpus import Corpus
from espalier.features.declare import Lexicon
from espalier.features.extract import FeatureExtractor
from espalier.phrases import PhraseTrie
from espalier.rules.lowering import Plan, Sequences
from espalier.rules.phrases import Phrases
from espalier.rules.reader import parse_condition

LONGEST = 5
TIME = 'in phrase (/[0-9]{1,2}/ ":" /[0-9][0-9]/ "am", "pm"?)'
_LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def random_words(n: int, rng: np.random.Generator) -> list[str]:
    """Return n distinct words of three to nine letters."""
    letters = _LETTERS[rng.integers(26, size=(2 * n, 9))]
    lengths = rng.integers(3, 10, size=2 * n)
    return list(dict.fromkeys("".join(row[:k]) for row, k in zip(letters, lengths, strict=True)))[:n]


def random_phrases(n: int, words: list[str], rng: np.random.Generator) -> list[str]:
    """Return n phrases; some words are in many of them."""
    lengths = rng.integers(1, LONGEST + 1, size=n)
    ranks = (len(words) * rng.random(lengths.sum()) ** 3).astype(np.int64).tolist()
    ends = list(accumulate(lengths.tolist(), initial=0))
    return [" ".join(words[k] for k in ranks[a:b]) for a, b in pairwise(ends)]


def random_text(n: int, phrases: list[str], words: list[str], rng: np.random.Generator) -> list[list[str]]:
    """Return sequences of about 40 tokens, n in all: words of the list, phrases of it, and times of day."""
    sequences: list[list[str]] = []
    left = n
    while left > 0:
        tokens: list[str] = []
        while len(tokens) < 40:
            kind = rng.random()
            if kind < 0.08:
                tokens += phrases[rng.integers(len(phrases))].split()
            elif kind < 0.1:
                tokens += ["3", ":", "30", "PM"]
            else:
                tokens.append(words[int(len(words) * rng.random() ** 3)])
        sequences.append(tokens)
        left -= len(tokens)
    return sequences


def slow_places(known: set[tuple[str, ...]], sequences: list[list[str]]) -> int:
    """Count the runs of tokens that are phrases, one after the other."""
    return sum(
        tuple(tokens[a:b]) in known
        for tokens in sequences
        for a in range(len(tokens))
        for b in range(a + 1, min(a + LONGEST, len(tokens)) + 1)
    )


def bench_lists(phrases: list[str], sequences: list[list[str]], rounds: int) -> list[Row]:
    """Build the trie and find its phrases; the peer is a set."""
    distinct = list(dict.fromkeys(phrases))
    n, corpus = len(distinct), Corpus.from_tokens(sequences)
    built: list[PhraseTrie] = []
    ours = cpu_time(lambda: built.append(PhraseTrie(distinct, fold=True)), 1)
    known: set[tuple[str, ...]] = set()
    peer = cpu_time(lambda: known.update(tuple(phrase.split()) for phrase in distinct), 1)
    rows = [compare(f"build, {n:,} phrases", "s", ours, peer, "a set of tuples")]
    trie = built[0]
    tracemalloc.start()
    kept = PhraseTrie(distinct, fold=True)
    own = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    again = {tuple(phrase.split()) for phrase in distinct}
    other = tracemalloc.get_traced_memory()[0] - own
    tracemalloc.stop()
    rows.append(compare(f"memory, {kept.n_nodes:,} nodes", "MB", own / 1e6, other / 1e6, "a set of tuples"))
    del kept, again
    found = len(trie.find(corpus.indptr, corpus.token_ids, corpus.types).start)
    assert found == slow_places(known, sequences), "the two disagree"
    M = corpus.n_tokens
    ours = 1e9 * cpu_time(lambda: trie.find(corpus.indptr, corpus.token_ids, corpus.types), rounds) / M
    peer = 1e9 * cpu_time(lambda: slow_places(known, sequences), rounds) / M
    rows.append(compare(f"find, {M:,} tokens, {found:,} phrases", "ns/token", ours, peer, "a set of tuples"))
    condition = Phrases(tuple(distinct))
    batch, plan = Sequences.of_corpus(corpus), Plan.of([condition])
    plan.ground(batch)
    ours = 1e9 * cpu_time(lambda: plan.ground(batch), rounds) / M
    return [*rows, compare("the same as a condition of a rule", "ns/token", ours, peer, "a set of tuples")]


def bench_pattern(sequences: list[list[str]], rounds: int) -> Row:
    """Find times of day; the peer looks at a word list, the cheapest condition there is."""
    batch = Sequences.of_corpus(Corpus.from_tokens(sequences))
    pattern, words = (Plan.of([parse_condition(text)]) for text in (TIME, 'in "am", "pm"'))
    M = len(batch.token_ids)
    ours, peer = (1e9 * cpu_time(lambda p=plan: p.ground(batch), rounds) / M for plan in (pattern, words))
    return compare("pattern, a time of day", "ns/token", ours, peer, "a list of two words")


def bench_file(phrases: list[str], sequences: list[list[str]]) -> None:
    """Save and load a model whose features name the list."""
    labels = [["x" if token.isdigit() else "y" for token in tokens] for tokens in sequences[:50]]
    extractor = FeatureExtractor([Lexicon("list", phrases)], min_count=1)
    model = es.CRF(features=extractor, max_iterations=3).fit(sequences[:50], labels)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.espalier"
        began = time.perf_counter()
        model.save(path)
        saved = time.perf_counter()
        again = es.load(path)
        loaded = time.perf_counter()
        assert [list(y) for y in again.model.predict(sequences[:50])] == [
            list(y) for y in model.predict(sequences[:50])
        ]
        size = path.stat().st_size / 1e6
    print(f"file      saved in {saved - began:.1f} s, loaded in {loaded - saved:.1f} s, {size:.0f} MB")


def main() -> None:
    """Make a list and a text, and time both."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--phrases", type=int, default=1_150_000)
    parser.add_argument("--tokens", type=int, default=200_000)
    options = parser.parse_args()
    n, m, rounds = (2_000, 2_000, 1) if options.quick else (options.phrases, options.tokens, 5)
    rng = np.random.default_rng(0)
    words = random_words(max(n // 5, 100), rng)
    phrases = random_phrases(n, words, rng)
    sequences = random_text(m, phrases, words, rng)
    rows = bench_lists(phrases, sequences, rounds)
    rows.append(bench_pattern(sequences, rounds))
    bench_file(phrases, sequences)
    write_json(options.json, rows)


if __name__ == "__main__":
    main()
