r"""Model files: arrays and a JSON header in one file, read without executing anything.

    offset  bytes  content (integers little-endian)
    0       16     magic, b"espalier model\r\n"
    16      4      format version, 1
    20      4      H, the length of the JSON text
    24      8      the length of the whole file
    32      32     SHA-256 of bytes 0..31 followed by the JSON text
    64      H      JSON: {"allow_nan": bool, "arrays": [...], "header": {...}}
    D       ...    the arrays; D is 64 + H rounded up to a multiple of 64

An entry of `arrays` is {"dtype", "name", "offset", "sha256", "shape"}; offsets count from D, are multiples of 64
and follow the order of names. Padding is zero, and the file ends with the last array. So equal input gives equal
bytes, every byte is under a digest or must be zero, and no declared size is believed before the file was found to
be that long. Digests tell damage, not malice: a forged file can pass them, but can still give nothing except
numbers and strings. `docs/model-format.md` has the whole story.

Many strings are two arrays: the UTF-8 bytes of all of them end to end, and where each one ends. Two layouts exist,
because files of the first release hold both: `pack_strings` keeps offsets in bytes, `put_strings` lengths in
characters. What is read from a file is checked.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
import stat
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError, ModelFileError

__all__ = [
    "FORMAT_VERSION",
    "below",
    "load",
    "pack_strings",
    "put_strings",
    "save",
    "stored_array",
    "take_strings",
    "unpack_strings",
]

FORMAT_VERSION = 1
"""The newest format this library reads, and the one it writes."""

_MAGIC = b"espalier model\r\n"
_PREAMBLE = struct.Struct("<16sIIQ")  # what stands before the first digest
_START = 64  # preamble and digest
_ALIGN = 64
_MAX_JSON = 64 << 20
_MAX_DEPTH = 64  # of the header; far below what any JSON parser takes
_MAX_AXES = 32
_DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
_ENTRY = {"dtype", "name", "offset", "sha256", "shape"}

Bytes = NDArray[np.uint8]
Value = TypeVar("Value")


def save(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    allow_nan: bool = False,
) -> None:
    """Write a model file, whole or not at all: an old file stays until the new one is complete.

    header : what JSON can say (string keys, finite numbers); keys come back sorted, tuples as lists.
    arrays : booleans, integers and floats of any shape; infinities are fine (a forbidden transition is -inf).
    allow_nan : without it an array that holds nan is refused, here and by every later `load`.
    """
    table: list[dict[str, Any]] = []
    blocks: list[Bytes] = []
    end = 0
    for name, array in _little_endian(arrays, allow_nan):
        block = array.reshape(-1).view(np.uint8)
        digest = hashlib.sha256(block.data).hexdigest()
        entry = {"dtype": array.dtype.str, "name": name, "offset": end, "sha256": digest, "shape": array.shape}
        table.append(entry)
        blocks.append(block)
        end = _aligned(end + block.size)
    length = table[-1]["offset"] + blocks[-1].size if blocks else 0  # without padding after the last array
    text = _to_json({"allow_nan": allow_nan, "arrays": table, "header": _plain(header, "header", 0)})
    preamble = _PREAMBLE.pack(_MAGIC, FORMAT_VERSION, len(text), _aligned(_START + len(text)) + length)

    def write(file: BinaryIO) -> None:
        file.write(preamble + hashlib.sha256(preamble + text).digest() + text)
        file.write(_padding(_START + len(text)))
        for k, block in enumerate(blocks):
            file.write(block.data)
            if k + 1 < len(blocks):
                file.write(_padding(block.size))

    try:
        _write_atomically(Path(os.path.realpath(path)), write)
    except OSError as error:
        raise ModelFileError(f"cannot write {os.fspath(path)!r}: {error.strerror or error}") from error


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a model file back: its header and its arrays by name, verified, read-only and 64-byte aligned."""
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):  # asked before opening: opening a pipe would wait for a writer
            raise ModelFileError("this is a directory" if stat.S_ISDIR(mode) else "this is not a regular file")
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            first = file.read(_START)
            json_length = _check_preamble(first, size)
            data = _read_all(file, size)
        contents = _contents(data, json_length)
        return contents["header"], _arrays(data, _aligned(_START + json_length), contents)
    except ModelFileError as error:
        raise error.within(repr(os.fspath(path))) from None
    except FileNotFoundError:
        raise ModelFileError(f"there is no model file {os.fspath(path)!r}") from None
    except OSError as error:
        raise ModelFileError(f"cannot read {os.fspath(path)!r}: {error.strerror or error}") from error


def _aligned(position: int) -> int:
    """Round up to a multiple of 64."""
    return -(-position // _ALIGN) * _ALIGN


def _padding(position: int) -> bytes:
    return b"\0" * (_aligned(position) - position)


def _little_endian(arrays: Mapping[str, NDArray[Any]], allow_nan: bool) -> list[tuple[str, NDArray[Any]]]:
    """Return the arrays in the order of their names, contiguous and little-endian; refuse what cannot be stored."""
    for name in arrays:
        if not isinstance(name, str) or not name:
            raise InputError(f"an array is named {name!r}", hint="names are non-empty strings")
    ready = []
    for name in sorted(arrays):
        array = arrays[name]
        if type(array) not in (np.ndarray, np.memmap):  # a masked array would lose its mask without a word
            raise InputError(f"array {name!r} is a {type(array).__name__}", hint="give a plain NumPy array")
        dtype = array.dtype.newbyteorder("<")
        if dtype.str not in _DTYPES:
            raise InputError(
                f"array {name!r} has dtype {array.dtype}", hint="only booleans, integers and floats are stored"
            )
        if array.ndim > _MAX_AXES:
            raise InputError(f"array {name!r} has {array.ndim} axes", hint=f"at most {_MAX_AXES} are stored")
        array = np.asarray(array.astype(dtype, order="C", copy=False))
        if not allow_nan and _holds_nan(array):
            raise InputError(f"array {name!r} holds nan", hint="a model with undefined weights is not saved")
        ready.append((name, array))
    return ready


def _holds_nan(array: NDArray[Any]) -> bool:
    """Without a temporary array: the minimum is nan if anything is."""
    if array.dtype.kind != "f" or not array.size:
        return False
    with np.errstate(invalid="ignore"):
        return bool(np.isnan(array.min()))


def _plain(value: Any, where: str, depth: int) -> Any:
    """Return a header value in JSON's own types, or say which part of it JSON cannot say."""
    if depth > _MAX_DEPTH:
        raise InputError(f"{where[:60]}...: nested more than {_MAX_DEPTH} deep, or inside itself")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{where} is {value}", hint="JSON has finite numbers only")
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InputError(f"{where} has the key {key!r}", hint="keys are strings")
        return {key: _plain(item, f"{where}[{key!r}]", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{k}]", depth + 1) for k, item in enumerate(value)]
    raise InputError(f"{where} is a {type(value).__name__}, which JSON cannot say", hint="arrays belong in `arrays`")


def _to_json(contents: dict[str, Any]) -> bytes:
    """Return the one JSON text of some contents.

    Not escaped to ASCII: two escaped surrogates in a row would come back as one character.
    """
    try:
        text = json.dumps(contents, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except ValueError as error:  # an integer of more digits than Python prints
        raise InputError(f"the header cannot be written as JSON: {error}") from None
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) > _MAX_JSON:
        raise InputError(
            f"the header has {len(encoded)} bytes, more than {_MAX_JSON}", hint="long lists belong in `arrays`"
        )
    return encoded


def _write_atomically(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Call `write(file)` on a new file beside `path`, then put it in its place."""
    temporary = path.with_name(f".espalier-{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)  # less the umask, as any other file
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    with suppress(OSError):  # the new name, too, should outlive a power cut; not every system can promise it
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _check_preamble(first: bytes, size: int) -> int:
    """Check the first 64 bytes against the real size of the file; return the length of the JSON text."""
    if not first:
        raise ModelFileError("the file is empty")
    if first[: len(_MAGIC)] != _MAGIC[: len(first)]:
        raise ModelFileError("this is not an Espalier model file")
    if len(first) < _START:
        raise ModelFileError(f"the file is truncated: it ends after {size} bytes")
    _, version, json_length, length = _PREAMBLE.unpack_from(first)
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"the file has format {version}, and this Espalier reads formats up to {FORMAT_VERSION}",
            hint="upgrade Espalier",
        )
    if version < 1:
        raise ModelFileError(f"the file is damaged: there is no format {version}")
    if size < length:
        raise ModelFileError(f"the file is truncated: it has {size} of {length} bytes")
    if size > length:
        raise ModelFileError(f"the file is damaged: it has {size} bytes but should have {length}")
    if json_length > _MAX_JSON or _aligned(_START + json_length) > length:
        raise ModelFileError(f"the file is damaged: a header of {json_length} bytes is too long")
    return int(json_length)


def _read_all(file: BinaryIO, size: int) -> Bytes:
    """Read a file of known size into memory that is aligned and then locked."""
    buffer = np.empty(size + _ALIGN, np.uint8)
    skip = -buffer.ctypes.data % _ALIGN
    data = buffer[skip : skip + size]
    file.seek(0)
    if file.readinto(data.data) != size:  # type: ignore[attr-defined]
        raise ModelFileError("the file was cut short while it was read")
    buffer.flags.writeable = data.flags.writeable = False
    return data


def _contents(data: Bytes, json_length: int) -> dict[str, Any]:
    """Verify and parse the JSON text."""
    text = data[_START : _START + json_length].tobytes()
    signed = data[: _PREAMBLE.size].tobytes() + text
    if hashlib.sha256(signed).digest() != data[_PREAMBLE.size : _START].tobytes():
        raise ModelFileError("the file is damaged: its header does not match its digest")
    if data[_START + json_length : _aligned(_START + json_length)].any():
        raise ModelFileError("the file is damaged: the padding after its header is not zero")

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is no JSON number")

    try:
        contents = json.loads(
            text.decode("utf-8", "surrogatepass"),
            object_pairs_hook=_unique,
            parse_constant=refuse,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the file is damaged: its header is not valid ({error})") from None
    types = {"allow_nan": bool, "arrays": list, "header": dict}
    if not isinstance(contents, dict) or {key: type(value) for key, value in contents.items()} != types:
        raise ModelFileError("the file is damaged: its header has the wrong parts")
    return contents


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is too large")
    return value


def _arrays(data: Bytes, start: int, contents: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Return read-only views of the declared arrays, each verified; start : where the first one begins."""
    arrays: dict[str, NDArray[Any]] = {}
    end, last = start, ""
    for entry in contents["arrays"]:
        name, dtype, shape = _checked_entry(entry)
        if name <= last:
            raise ModelFileError(f"the file is damaged: array {name!r} is there twice or out of order")
        begin = start + _aligned(end - start)
        stop = begin + math.prod(shape) * dtype.itemsize  # Python integers: no overflow
        if entry["offset"] != begin - start or stop > len(data):
            raise ModelFileError(f"the file is damaged: array {name!r} is not where it should be")
        block = data[begin:stop]
        if data[end:begin].any() or hashlib.sha256(block.data).hexdigest() != entry["sha256"]:
            raise ModelFileError(f"the file is damaged: array {name!r} does not match its digest")
        arrays[name] = _array(name, block, dtype, shape, contents["allow_nan"])
        end, last = stop, name
    if end != len(data):
        raise ModelFileError(f"the file is damaged: {len(data) - end} bytes belong to no array")
    return arrays


def _checked_entry(entry: Any) -> tuple[str, np.dtype[Any], tuple[int, ...]]:
    """Return name, dtype and shape of one declared array; anything else than the documented form is damage."""
    if not isinstance(entry, dict) or entry.keys() != _ENTRY or not isinstance(entry["name"], str) or not entry["name"]:
        raise ModelFileError("the file is damaged: an array is declared without name, dtype, shape, offset or digest")
    name, dtype, shape = entry["name"], entry["dtype"], entry["shape"]
    if dtype not in _DTYPES:
        raise ModelFileError(f"array {name!r} has dtype {dtype!r}", hint="only booleans, integers and floats are read")
    sizes = shape if isinstance(shape, list) and len(shape) <= _MAX_AXES else [-1]
    if not all(type(n) is int and 0 <= n < 1 << 63 for n in sizes) or type(entry["offset"]) is not int:
        raise ModelFileError(f"the file is damaged: array {name!r} has an impossible shape or offset")
    return name, np.dtype(dtype), tuple(sizes)


def _array(name: str, block: Bytes, dtype: np.dtype[Any], shape: tuple[int, ...], allow_nan: bool) -> NDArray[Any]:
    """Read bytes as an array, without a copy."""
    if dtype.kind == "b" and block.size and block.max() > 1:
        raise ModelFileError(f"the file is damaged: array {name!r} has a truth value other than 0 and 1")
    try:
        array = block.view(dtype).reshape(shape)
    except (ValueError, OverflowError):  # no elements, but axes whose product overflows
        raise ModelFileError(f"the file is damaged: array {name!r} has an impossible shape") from None
    if not allow_nan and _holds_nan(array):
        raise ModelFileError(f"array {name!r} holds nan, which its file rules out")
    return array


def pack_strings(strings: Sequence[str]) -> tuple[Bytes, NDArray[np.int64]]:
    """Lay n strings end to end: their UTF-8 bytes, uint8, and offsets, int64[n + 1] (string i is offsets[i:i+2]).

    Lone surrogates, as in undecodable file names, survive.
    """
    if isinstance(strings, str):
        raise InputError("pack_strings takes a list of strings, not one string")
    for i, string in enumerate(strings):
        if not isinstance(string, str):
            raise InputError(f"string {i} is {string!r}, a {type(string).__name__}")
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(piece) for piece in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def unpack_strings(blob: Bytes, offsets: NDArray[np.int64]) -> list[str]:
    """Return the strings that `pack_strings` laid end to end."""
    if blob.dtype != np.uint8 or blob.ndim != 1 or offsets.dtype.kind != "i" or offsets.ndim != 1 or not len(offsets):
        raise ModelFileError("packed strings are bytes, uint8[m], and offsets, int64[n + 1]")
    if offsets[0] != 0 or offsets[-1] != len(blob) or (np.diff(offsets) < 0).any():
        raise ModelFileError(f"the offsets of packed strings do not rise from 0 to {len(blob)}, the length of the text")
    raw, borders = blob.tobytes(), offsets.tolist()
    try:
        if raw.isascii():  # one decoding for all; bytes and characters agree
            text = raw.decode("ascii")
            return [text[a:b] for a, b in pairwise(borders)]
        return [raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(borders)]
    except UnicodeDecodeError as error:
        raise ModelFileError(f"packed strings are not UTF-8: {error}") from None


def put_strings(state: dict[str, Any], key: str, strings: Sequence[str]) -> None:
    """Add strings to a state: `<key>/text`, uint8, end to end in UTF-8, and `<key>/lengths`, int32, in characters."""
    text = "".join(strings).encode("utf-8", "surrogatepass")
    state[f"{key}/text"] = np.frombuffer(text, np.uint8)
    state[f"{key}/lengths"] = np.fromiter(map(len, strings), np.int32, len(strings))


def take_strings(state: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the strings that `put_strings` added, which differ from one another."""
    try:
        text = stored_array(state, f"{key}/text", np.uint8).tobytes().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ModelFileError(f"the stored features are damaged: {key}: {error}") from None
    lengths = stored_array(state, f"{key}/lengths", np.int32)
    if (lengths < 0).any() or lengths.sum() != len(text):
        raise ModelFileError(f"the stored features are damaged: {key}: lengths and text differ")
    strings = tuple(text[a:b] for a, b in pairwise(accumulate(lengths.tolist(), initial=0)))
    if len(set(strings)) != len(strings):
        raise ModelFileError(f"the stored features are damaged: {key}: a string stands twice")
    return strings


def below(prefix: str, arrays: Mapping[str, Value]) -> dict[str, Value]:
    """Return what has a name that begins so, by the rest of the name."""
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}


def narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same numbers in half the bytes, where none of them changes by that: for a model file."""
    half = {"i": np.int32, "f": np.float32}[array.dtype.kind]
    with np.errstate(over="ignore"):
        small: NDArray[Any] = array.astype(half)
    return small if np.array_equal(small, array, equal_nan=array.dtype.kind == "f") else array


def stored_array(state: Mapping[str, Any], key: str, *dtypes: type, ndim: int = 1) -> NDArray[Any]:
    """Return an array of a state; raise unless it is there and of one of these types."""
    array = state.get(key)
    if not isinstance(array, np.ndarray) or array.dtype not in dtypes or array.ndim != ndim:
        what = dtypes[0].__name__
        raise ModelFileError(f"the stored features are incomplete: {key!r} is not an array of {what}")
    return cast("NDArray[Any]", array)
