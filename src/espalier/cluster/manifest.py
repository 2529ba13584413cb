"""What a directory of results holds: job.json, manifest.json, and the entries in the footers of its partitions.

    job.json          the job that the directory belongs to, written before anything else
    parts/            rows and entries (see `partition`); rejected/ records that could not be labelled
    failed/           a JSON file for every partition that was set aside, with its error
    manifest.json     all of it on one page, written when a run ends

The entries in the footers are the truth, and a run that begins anew reads them: so nothing is lost with a client that
dies, and no partition can be finished but missing. The manifest repeats them for people and other programs.

A part whose input is no longer there may be the last that is left of it: it stays until somebody says that it may go.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from espalier.cluster.job import Job
from espalier.cluster.partition import ENTRY, VERSION, Entry, RowChecksum
from espalier.cluster.plan import Partition
from espalier.cluster.stores import Store, need, whole
from espalier.errors import FormatError, InputError

__all__ = [
    "check_owner",
    "check_rows",
    "check_strays",
    "claim",
    "finished",
    "forget_failures",
    "manifest",
    "strays",
    "sweep",
    "total_checksum",
    "write_json",
]

_READERS = 16
_DIRECTORIES = ("parts", "rejected", "failed")
_NAMED = 3  # inputs, in a message


def check_owner(store: Store, job: Job, *, replace: bool) -> None:
    """Refuse a directory that belongs to another job, unless that is to be replaced, or to nobody."""
    present = {name for name in store.names() if not name.startswith(".")}
    if "job.json" in present and not replace:
        try:
            found = json.loads(store.read("job.json"))
            version, before = int(found["version"]), found["identity"]
        except (ValueError, KeyError, TypeError):
            raise FormatError("not written by espalier run", path=f"{store.address}/job.json") from None
        if version > VERSION:
            raise InputError(
                f"{store.address} was written by a later espalier (format {version})", hint="update this one"
            )
        changed = [name for name, value in job.identity.items() if before.get(name) != value]
        if changed:
            raise InputError(
                f"{store.address} holds what another job wrote (other {', '.join(changed)})",
                hint="name another output, or do it all anew with --replace",
            )
    elif present and "job.json" not in present:
        raise InputError(f"{store.address} is not empty, and no job wrote it", hint="name another output")


def strays(store: Store, job: Job, partitions: Sequence[Partition]) -> dict[str, str]:
    """Return the files of parts that no input of the job accounts for, and the input of each, "" if it does not say.

    Those that another job wrote are not among them, nor those of an input that is there but has fewer partitions now.
    """
    names, inputs = {partition.name for partition in partitions}, {partition.input for partition in partitions}
    files = [
        file
        for file in sorted(store.names("parts"))
        if not file.startswith(".") and file.removesuffix(".parquet") not in names
    ]

    def is_stray(entry: Entry | None) -> bool:
        return not entry or (entry["job"] == job.digest and entry["partition"]["input"] not in inputs)

    with ThreadPoolExecutor(_READERS) as readers:
        entries = zip(files, readers.map(lambda file: _footer(store, file), files), strict=True)
        return {file: entry["partition"]["input"] if entry else "" for file, entry in entries if is_stray(entry)}


def check_strays(store: Store, job: Job, partitions: Sequence[Partition]) -> None:
    """Refuse to go on where a finished part would have to be removed whose input is no longer there."""
    found = strays(store, job, partitions)
    if not found:
        return
    parts = "1 part" if len(found) == 1 else f"{len(found)} parts"
    gone = list(dict.fromkeys(where or store.path("parts", file) for file, where in found.items()))
    more = f" and {len(gone) - _NAMED} more" if len(gone) > _NAMED else ""
    raise InputError(
        f"{store.address} has finished parts of what is no input of the job any more: {', '.join(gone[:_NAMED])}{more} "
        f"({parts})",
        hint="put the input back, name another output, or remove these parts with --forget-missing",
    )


def claim(store: Store, job: Job) -> None:
    """Make a directory the job's own."""
    for name in _DIRECTORIES:
        store.make(name)
    write_json(store, {"version": VERSION, "job": job.digest, "identity": job.identity}, "job.json")


def sweep(store: Store, partitions: Iterable[Partition]) -> int:
    """Remove half-written files and the parts of no partition; return how many parts that was."""
    names = {partition.name for partition in partitions}
    stale = 0
    for directory, ending in (("parts", ".parquet"), ("rejected", ".jsonl")):
        for name in sorted(store.names(directory)):
            if name.removesuffix(ending) not in names:
                store.remove(directory, name)
                stale += directory == "parts" and not name.startswith(".")
    return stale


def forget_failures(store: Store) -> None:
    """Remove what earlier runs said of partitions that are to be tried again."""
    for name in store.names("failed"):
        store.remove("failed", name)


def finished(store: Store, job: Job, partitions: Sequence[Partition]) -> dict[str, Entry | None]:
    """Return the entries of the partitions that are written, by name; None if it is of another job or input, or bad."""
    parts, rejected = store.names("parts"), store.names("rejected")
    present = [partition for partition in partitions if f"{partition.name}.parquet" in parts]

    def entry(partition: Partition) -> Entry | None:
        found = _footer(store, f"{partition.name}.parquet")
        fits = found and found["job"] == job.digest and found["partition"] == partition.to_dict()
        if not found or not fits or (found["records"]["rejected"] and f"{partition.name}.jsonl" not in rejected):
            return None
        return found

    with ThreadPoolExecutor(_READERS) as readers:
        return {p.name: found for p, found in zip(present, readers.map(entry, present), strict=True)}


def _footer(store: Store, file: str) -> Entry | None:
    """Return the entry of a part, None if there is none."""
    try:
        with store.fs.open(store.path("parts", file), "rb") as opened:
            kept = need("pyarrow.parquet").ParquetFile(opened).metadata.metadata
        entry: Entry = json.loads((kept or {})[ENTRY])
        return entry if entry["version"] == VERSION else None
    except (need("pyarrow").ArrowException, OSError, KeyError, ValueError):
        return None


def check_rows(store: Store, entry: Entry) -> str:
    """Read the rows of a partition again; return what is wrong with them, or nothing."""
    name, checksum = entry["partition"]["name"], RowChecksum()
    try:
        with store.fs.open(store.path("parts", f"{name}.parquet"), "rb") as file:
            for batch in need("pyarrow.parquet").ParquetFile(file).iter_batches():
                checksum.update(batch)
        rejected = store.read("rejected", f"{name}.jsonl").count(b"\n") if entry["records"]["rejected"] else 0
    except (need("pyarrow").ArrowException, OSError) as error:
        return f"{name}: cannot be read: {error}"
    if checksum.hexdigest() != entry["checksum"]:
        return f"{name}: its rows are not those that were written"
    if rejected != entry["records"]["rejected"]:
        return f"{name}: {entry['records']['rejected']} records were set aside, but {rejected} are there"
    return ""


def total_checksum(entries: Iterable[Entry]) -> str:
    """Return one checksum of the rows of all partitions, in order."""
    return hashlib.sha256("\n".join(entry["checksum"] for entry in entries).encode()).hexdigest()


def manifest(
    job: Job, records: Mapping[str, int], entries: Sequence[Entry], failures: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the manifest: totals, every partition in the order of the input, and those that were set aside."""
    return {
        "version": VERSION,
        "job": job.digest,
        "identity": job.identity,
        "records": dict(records),
        "checksum": total_checksum(entries),
        "partitions": [
            {key: entry[key] for key in ("partition", "records", "checksum", "seconds")} for entry in entries
        ],
        "failed": list(failures),
    }


def write_json(store: Store, value: Any, *parts: str) -> None:
    """Write a JSON file, whole."""
    with whole(store, *parts) as file:
        file.write((json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace"))
