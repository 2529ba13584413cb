"""Model files: round trips, damage, forgeries, and writing that is whole or nothing."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from espalier import store
from espalier.errors import InputError, ModelFileError
from espalier.store import load, pack_strings, save, unpack_strings

LAW = settings(deadline=None, derandomize=True, max_examples=60)

HEADER = {"kind": "test", "labels": ["O", "B-x"], "penalty": 1.5, "note": None, "nested": {"a": [1, True, "é\ud800"]}}
ARRAYS = {
    "weights": np.array([[0.5, -np.inf, 1.25]]),
    "ids": np.arange(5, dtype=np.int32),
    "mask": np.array([True, False]),
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.espalier"
    save(path, HEADER, ARRAYS)
    return path


def forge(contents: Any, data: bytes = b"", *, version: int = 1, text: bytes | None = None) -> bytes:
    """Build a file by hand, with right digests, from the description in the docs."""
    text = json.dumps(contents).encode() if text is None else text
    start = (64 + len(text) + 63) // 64 * 64
    preamble = struct.pack("<16sIIQ", b"espalier model\r\n", version, len(text), start + len(data))
    body = preamble + hashlib.sha256(preamble + text).digest() + text
    return body + bytes(start - len(body)) + data


def entry(data: bytes = b"", **other: Any) -> dict[str, Any]:
    base = {"name": "w", "dtype": "<f8", "shape": [len(data) // 8], "offset": 0}
    return base | {"sha256": hashlib.sha256(data).hexdigest()} | other


def contents(*entries: Any, **other: Any) -> dict[str, Any]:
    return {"allow_nan": False, "arrays": list(entries), "header": {}} | other


# Round trips


def test_round_trip(model: Path) -> None:
    header, arrays = load(model)
    assert header == HEADER
    assert list(arrays) == sorted(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_loaded_arrays_are_read_only_and_aligned(model: Path) -> None:
    for array in load(model)[1].values():
        assert not array.flags.writeable
        assert array.ctypes.data % 64 == 0
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_a_file_made_by_the_description_is_read(tmp_path: Path) -> None:
    data = np.array([1.0, 2.0]).tobytes()
    path = tmp_path / "forged"
    path.write_bytes(forge(contents(entry(data), header={"kind": "x"}), data))
    header, arrays = load(path)
    assert header == {"kind": "x"}
    assert arrays["w"].tolist() == [1.0, 2.0]


def test_the_description_reads_a_saved_file(model: Path) -> None:
    raw = model.read_bytes()
    magic, version, length, total = struct.unpack_from("<16sIIQ", raw)
    text = raw[64 : 64 + length]
    assert (magic, version, total) == (b"espalier model\r\n", 1, len(raw))
    assert raw[32:64] == hashlib.sha256(raw[:32] + text).digest()
    parts = json.loads(text.decode("utf-8", "surrogatepass"))
    assert parts["header"] == HEADER
    start = (64 + length + 63) // 64 * 64
    for item in parts["arrays"]:
        array = np.frombuffer(raw, item["dtype"], int(np.prod(item["shape"])), start + item["offset"])
        assert item["offset"] % 64 == 0
        assert hashlib.sha256(array.tobytes()).hexdigest() == item["sha256"]
        np.testing.assert_array_equal(array.reshape(item["shape"]), ARRAYS[item["name"]])


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
headers = st.dictionaries(
    any_text,
    st.recursive(scalars | any_text, lambda x: st.lists(x, max_size=3) | st.dictionaries(any_text, x, max_size=3)),
    max_size=4,
)
dtypes = st.sampled_from(["?", "i1", "u1", "<i2", ">i4", "<u8", ">f8", "<f4", "<f2", "=i8"])
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
any_arrays = dtypes.flatmap(lambda d: hnp.arrays(d, shapes))


@LAW
@given(header=headers, arrays=st.dictionaries(any_text.filter(bool), any_arrays, max_size=4))
def test_everything_survives(tmp_path_factory: pytest.TempPathFactory, header: Any, arrays: Any) -> None:
    path = tmp_path_factory.mktemp("law") / "m"
    save(path, header, arrays, allow_nan=True)
    first = path.read_bytes()
    found_header, found = load(path)
    assert found_header == header
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].shape == array.shape
        assert found[name].dtype == array.dtype.newbyteorder("<")
        assert found[name].tobytes() == array.astype(array.dtype.newbyteorder("<")).tobytes()
    save(path, dict(reversed(header.items())), dict(reversed(arrays.items())), allow_nan=True)
    assert path.read_bytes() == first  # equal input, equal bytes, whatever the order


def test_strided_and_mapped_arrays(tmp_path: Path) -> None:
    square = np.arange(12.0).reshape(3, 4)
    save(tmp_path / "m", {}, {"t": square.T, "s": square[::2, 1:3], "f": np.asfortranarray(square)})
    arrays = load(tmp_path / "m")[1]
    np.testing.assert_array_equal(arrays["t"], square.T)
    np.testing.assert_array_equal(arrays["s"], square[::2, 1:3])
    np.testing.assert_array_equal(arrays["f"], square)
    save(tmp_path / "n", {}, load(tmp_path / "m")[1])
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()


def test_nan_passes_only_on_request(tmp_path: Path) -> None:
    arrays = {"fine": np.array([-np.inf, 1.0]), "bad": np.array([1.0, np.nan], np.float32)}
    with pytest.raises(InputError, match="array 'bad' holds nan"):
        save(tmp_path / "m", {}, arrays)
    assert not (tmp_path / "m").exists()
    save(tmp_path / "m", {}, arrays, allow_nan=True)
    assert np.isnan(load(tmp_path / "m")[1]["bad"][1])


# Damage


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m"
    save(path, {"kind": "t"}, {"a": np.arange(3.0), "b": np.array([1], np.int8)})
    raw = path.read_bytes()
    for i in range(len(raw)):
        for mask in (0x01, 0x80, 0xFF):
            path.write_bytes(raw[:i] + bytes([raw[i] ^ mask]) + raw[i + 1 :])
            with pytest.raises(ModelFileError):
                load(path)


def test_every_truncation_and_every_extra_byte_is_noticed(model: Path) -> None:
    raw = model.read_bytes()
    for n in range(len(raw)):
        model.write_bytes(raw[:n])
        with pytest.raises(ModelFileError, match="empty" if n == 0 else "truncated"):
            load(model)
    model.write_bytes(raw + b"\0")
    with pytest.raises(ModelFileError, match=f"has {len(raw) + 1} bytes but should have {len(raw)}"):
        load(model)


def test_damage_names_the_array(model: Path) -> None:
    raw = bytearray(model.read_bytes())
    raw[-1] ^= 1  # in the last array by name
    model.write_bytes(raw)
    with pytest.raises(ModelFileError, match="array 'weights' does not match its digest"):
        load(model)


def test_other_files(tmp_path: Path, model: Path) -> None:
    with pytest.raises(ModelFileError, match="there is no model file"):
        load(tmp_path / "none")
    with pytest.raises(ModelFileError, match="this is a directory"):
        load(tmp_path)
    text = tmp_path / "text"
    text.write_text("label,token\n" * 100)
    with pytest.raises(ModelFileError, match="text': this is not an Espalier model file"):
        load(text)
    newer = tmp_path / "newer"
    newer.write_bytes(forge({}, version=2))
    with pytest.raises(ModelFileError, match="format 2, and this Espalier reads formats up to 1; upgrade"):
        load(newer)
    model.write_bytes(model.read_bytes().replace(b"\r\n", b"\n", 1))
    with pytest.raises(ModelFileError, match="not an Espalier model file"):
        load(model)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes")
def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        load(tmp_path / "pipe")


def test_unreadable(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Permissions do not stop a superuser, so the system's answer is played.
    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ModelFileError, match=r"cannot read .*: Permission denied"):
        load(model)


# Forgeries: right digests, wrong content

W = np.array([1.0, 2.0]).tobytes()


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (W, contents(entry(W, dtype="|O"))),
        (W, contents(entry(W, dtype=">f8"))),
        (W, contents(entry(W, dtype=["<f8"]))),
        (W, contents(entry(W, dtype="V16", shape=[1]))),
        (W, contents(entry(W, shape=[-2]))),
        (W, contents(entry(W, shape=[2.0]))),
        (W, contents(entry(W, shape=[True, 2]))),
        (W, contents(entry(W, shape=2))),
        (W, contents(entry(W, shape=[3]))),
        (W, contents(entry(W, shape=[1]))),
        (W, contents(entry(W, shape=[1 << 62, 1 << 62]))),
        (W, contents(entry(W, shape=[1 << 64]))),
        (W, contents(entry(W, shape=[1] * 33 + [2]))),
        (b"", contents(entry(shape=[0, 1 << 62, 1 << 62]))),
        (W, contents(entry(W, offset=64))),
        (W, contents(entry(W, offset=-8))),
        (W, contents(entry(W, offset=0.0))),
        (W, contents(entry(W, name=""))),
        (W, contents(entry(W, name=3))),
        (W, contents(entry(W, sha256=None))),
        (W, contents({"name": "w"})),
        (W, contents("w")),
        (W, contents(entry(W, extra=1))),
        (W, contents()),
        (b"\2", contents(entry(b"\2", dtype="|b1", shape=[1]))),
        (np.array([np.nan]).tobytes(), contents(entry(np.array([np.nan]).tobytes()))),
        (b"", [1, 2]),
        (b"", contents(extra=1)),
        (b"", contents(header=[])),
        (b"", contents(allow_nan=0)),
    ],
)
def test_forged_contents_are_refused(tmp_path: Path, data: bytes, parts: Any) -> None:
    path = tmp_path / "m"
    path.write_bytes(forge(parts, data))
    with pytest.raises(ModelFileError, match=str(path)):
        load(path)


@pytest.mark.parametrize(
    "header",
    [
        b"NaN",
        b"-Infinity",
        b"1e999",
        b'{"a":1,"a":2}',
        b"{",
        b'"\xff"',
        b"9" * 5000,
        b"[" * 100_000 + b"]" * 100_000,
    ],
)
def test_forged_json_is_refused(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "m"
    path.write_bytes(forge(None, text=b'{"allow_nan":false,"arrays":[],"header":{"x":' + header + b"}}"))
    with pytest.raises(ModelFileError, match="header is not valid"):
        load(path)


def test_forged_names_must_rise(tmp_path: Path) -> None:
    path = tmp_path / "m"
    data = W + bytes(48) + W
    for first, second, fine in (("a", "b", True), ("a", "a", False), ("b", "a", False)):
        path.write_bytes(forge(contents(entry(W, name=first), entry(W, name=second, offset=64)), data))
        if fine:
            assert list(load(path)[1]) == ["a", "b"]
        else:
            with pytest.raises(ModelFileError, match="there twice or out of order"):
                load(path)


def test_a_huge_declared_header_is_refused_before_reading(tmp_path: Path) -> None:
    path = tmp_path / "m"
    raw = struct.pack("<16sIIQ", b"espalier model\r\n", 1, 2**32 - 1, 128) + bytes(96)
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match="4294967295 bytes is too long"):
        load(path)


# Arguments


@pytest.mark.parametrize(
    ("header", "arrays", "message"),
    [
        ({"x": float("nan")}, {}, r"header\['x'\] is nan"),
        ({"x": [1, {"y": float("inf")}]}, {}, r"header\['x'\]\[1\]\['y'\] is inf"),
        ({1: 2}, {}, "header has the key 1"),
        ({"x": np.int64(3)}, {}, r"header\['x'\] is a int64"),
        ({"x": {1, 2}}, {}, r"header\['x'\] is a set"),
        ({"x": b"bytes"}, {}, r"header\['x'\] is a bytes"),
        ({"x": 10**5000}, {}, "cannot be written as JSON"),
        ({}, {"": np.zeros(1)}, "an array is named ''"),
        ({}, {3: np.zeros(1)}, "an array is named 3"),
        ({}, {"w": [1.0]}, "array 'w' is a list"),
        ({}, {"w": np.ma.masked_array([1.0], [True])}, "array 'w' is a MaskedArray"),
        ({}, {"w": np.array([None])}, "array 'w' has dtype object"),
        ({}, {"w": np.array(["a"])}, "array 'w' has dtype <U1"),
        ({}, {"w": np.zeros(1, complex)}, "array 'w' has dtype complex128"),
        ({}, {"w": np.zeros(1, [("a", "i4")])}, "array 'w' has dtype"),
        ({}, {"w": np.zeros(1, "M8[s]")}, "array 'w' has dtype datetime64"),
        ({}, {"w": np.zeros((1,) * 40)}, "array 'w' has 40 axes"),
    ],
)
def test_what_cannot_be_saved_is_named(tmp_path: Path, header: Any, arrays: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        save(tmp_path / "m", header, arrays)
    assert list(tmp_path.iterdir()) == []


def test_a_header_inside_itself(tmp_path: Path) -> None:
    knot: dict[str, Any] = {}
    knot["knot"] = knot
    with pytest.raises(InputError, match="nested more than 64 deep, or inside itself"):
        save(tmp_path / "m", knot, {})


def test_a_header_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MAX_JSON", 100)
    with pytest.raises(InputError, match="more than 100; long lists belong in `arrays`"):
        save(tmp_path / "m", {"x": "y" * 100}, {})


# Writing is whole or nothing


def test_a_failed_write_leaves_the_old_file(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = model.read_bytes()
    for function in ("fsync", "replace"):
        with monkeypatch.context() as patch:

            def fail(*_: Any) -> None:
                raise OSError(28, "No space left on device")

            patch.setattr(os, function, fail)
            with pytest.raises(ModelFileError, match=r"cannot write .*m\.espalier': No space left on device"):
                save(model, {}, {})
        assert model.read_bytes() == before
        assert list(model.parent.iterdir()) == [model]


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot write"):
        save(tmp_path, {}, {})
    with pytest.raises(ModelFileError, match="No such file or directory"):
        save(tmp_path / "none" / "m", {}, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions are a POSIX matter")
def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        save(tmp_path / "m", {}, {})
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o640


def test_a_link_is_written_through(tmp_path: Path, model: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(model)
    save(link, {"kind": "new"}, {})
    assert link.is_symlink()
    assert load(model) == ({"kind": "new"}, {})


def test_a_file_may_be_replaced_while_its_arrays_are_in_use(model: Path) -> None:
    _, arrays = load(model)
    save(model, {}, {"weights": np.zeros((1, 3))})
    np.testing.assert_array_equal(arrays["weights"], ARRAYS["weights"])


def test_readers_see_the_old_or_the_new_model(model: Path) -> None:
    stop = threading.Event()
    values: set[float] = set()

    def read() -> None:
        while not stop.is_set():
            values.add(float(load(model)[1]["w"][0]))

    save(model, {}, {"w": np.zeros(1000)})
    reader = threading.Thread(target=read)
    reader.start()
    for k in range(30):
        save(model, {}, {"w": np.full(1000, float(k % 2))})
    stop.set()
    reader.join()
    assert values <= {0.0, 1.0}
    assert values


# Strings


@LAW
@given(st.lists(any_text))
def test_strings_survive(strings: list[str]) -> None:
    blob, offsets = pack_strings(strings)
    assert blob.dtype == np.uint8
    assert offsets.dtype == np.int64
    assert unpack_strings(blob, offsets) == strings


def test_packed_strings_by_hand() -> None:
    blob, offsets = pack_strings(["a", "", "é", "\ud800"])
    assert blob.tobytes() == b"a\xc3\xa9\xed\xa0\x80"
    assert offsets.tolist() == [0, 1, 1, 3, 6]
    assert unpack_strings(blob, offsets) == ["a", "", "é", "\ud800"]


def test_a_split_pair_of_surrogates_stays_split(tmp_path: Path) -> None:
    strings = ["\ud83d\ude00", "\U0001f600"]  # two halves, and the whole
    save(tmp_path / "m", {"strings": strings}, dict(zip("bo", pack_strings(strings), strict=True)))
    header, arrays = load(tmp_path / "m")
    assert header["strings"] == strings
    assert unpack_strings(arrays["b"], arrays["o"]) == strings


def test_wrong_strings() -> None:
    with pytest.raises(InputError, match="not one string"):
        pack_strings("abc")
    with pytest.raises(InputError, match="string 1 is 3, a int"):
        pack_strings(["a", 3])  # type: ignore[list-item]


@pytest.mark.parametrize("offsets", [[0, 2], [1, 3], [0, 2, 1, 3], [], [0.0, 3.0], [[0, 3]], [0, -1, 3]])
def test_wrong_offsets(offsets: Any) -> None:
    with pytest.raises(ModelFileError, match="packed strings"):
        unpack_strings(np.frombuffer(b"abc", np.uint8), np.array(offsets))


def test_wrong_bytes() -> None:
    with pytest.raises(ModelFileError, match="not UTF-8"):
        unpack_strings(np.array([0xFF], np.uint8), np.array([0, 1]))
    with pytest.raises(ModelFileError, match="uint8"):
        unpack_strings(np.array([65]), np.array([0, 1]))  # type: ignore[arg-type]
