"""Values of a pickle without the classes it names: each of them becomes an inert one that records.

The few names of ``_MEANINGS`` (numpy's arrays, dates, paths) are read as values, of everything else its fields. Nothing
is imported, and nothing of another package is called.
"""

from __future__ import annotations

import io
import pickle  # noqa: TID251 every name becomes an inert class, and the process can't do anything
import struct
import zlib
from collections.abc import Callable
from json.encoder import encode_basestring_ascii
from typing import Any, cast

MAX_PICKLE_BYTES = 96 * 2**20
"""Bytes of a pickle once it is decompressed."""
MAX_VALUES = 4_000_000
"""Values in what is made of one pickle; a shared part counts each time."""
MAX_TEXT = 64 * 2**20
"""Bytes of text and names in it, as JSON writes them."""
TOO_MUCH_TEXT = f"it holds more than {MAX_TEXT // 2**20} MB of text"

_MAX_ARRAY = 10_000
_MAX_DEPTH = 400
_FORMATS = {
    "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
    "f2": "e", "f4": "f", "f8": "d",
}  # fmt: skip

Fields = dict[str, Any]


class Unusable(Exception):
    """A pickle that can't be read; its text is a part of a sentence."""


class Recorded:
    """Something that the pickle names: what it was given. Each name has a class of its own, which knows it."""

    name = ""

    def __new__(cls, *args: object, **kwargs: object) -> Recorded:
        made = object.__new__(cls)
        made.args, made.state, made.items, made.pairs = args, None, [], {}
        return made

    args: tuple[object, ...]
    state: object
    items: list[object]
    pairs: dict[object, object]

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass

    def __call__(self, *args: object, **kwargs: object) -> Recorded:
        return Recorded(self, *args)

    def __setstate__(self, state: object) -> None:
        self.state = state

    def append(self, item: object) -> None:
        self.items.append(item)

    def extend(self, items: list[object]) -> None:
        self.items.extend(items)

    def add(self, item: object) -> None:
        self.items.append(item)

    def __setitem__(self, key: object, value: object) -> None:
        self.pairs[key] = value


class _Reader(pickle.Unpickler):
    """Every name becomes a class of its own that records; references to the outside are refused."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data), fix_imports=False, encoding="latin-1")
        self._classes: dict[str, type[Recorded]] = {}

    def find_class(self, module_name: str, global_name: str, /) -> type[Recorded]:
        name = f"{module_name}.{global_name}"
        if name not in self._classes:
            self._classes[name] = type("Recorded", (Recorded,), {"name": name})
        return self._classes[name]

    def persistent_load(self, pid: object, /) -> object:
        raise Unusable("it refers to something outside of the file")


def read_pickle(data: bytes) -> object:
    """Return what a pickle holds, of plain values and ``Recorded``. Raises ``Unusable``."""
    try:
        return _Reader(_decompressed(data)).load()
    except MemoryError:
        raise Unusable("it needs too much memory") from None
    except Unusable:
        raise
    except Exception as error:  # noqa: BLE001 the reader raises anything for a damaged pickle
        raise Unusable(f"a damaged pickle ({type(error).__name__})") from None


def _decompressed(data: bytes) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        if len(data) > MAX_PICKLE_BYTES:
            raise Unusable(_TOO_LONG)
        return data
    parts: list[bytes] = []
    left = MAX_PICKLE_BYTES + 1
    while data:
        unpacking = zlib.decompressobj(wbits=31)
        try:
            part = unpacking.decompress(data, left)
        except zlib.error:
            raise Unusable("it is no gzip file, or damaged") from None
        parts.append(part)
        left -= len(part)
        if left <= 0:
            raise Unusable(_TOO_LONG)
        if not unpacking.eof:
            raise Unusable("the file is cut off")
        data = unpacking.unused_data.lstrip(b"\0")
    return b"".join(parts)


_TOO_LONG = f"it holds more than {MAX_PICKLE_BYTES // 2**20} MB"


def fields(value: object) -> Fields:
    """Return the fields of an object or a dict, none of anything else."""
    if isinstance(value, dict):
        return cast("Fields", value)
    if not isinstance(value, Recorded):
        return {}
    found: Fields = {str(key): item for key, item in value.pairs.items()}
    for state in _tuple(value.state) or (value.state,):
        if isinstance(state, dict):
            found.update({str(key): item for key, item in cast("dict[object, object]", state).items()})
    return found


def sequence(value: object) -> list[Any]:
    """Return the items of a list, a tuple, or an object that is a list or has ``messages``; none of anything else."""
    if isinstance(value, list | tuple):
        return list(cast("list[object]", value))
    if isinstance(value, Recorded):
        return list(value.items) or sequence(fields(value).get("messages"))
    return []


def _tuple(value: object) -> tuple[object, ...]:
    return cast("tuple[object, ...]", value) if isinstance(value, tuple) else ()


class PickledArray:
    """A numpy array as the pickle describes it."""

    def __init__(self, shape: object, dtype: object, data: object, *, columns_first: bool) -> None:
        sizes = (shape,) if isinstance(shape, int) else _tuple(shape)
        self.shape = tuple(size for size in sizes if isinstance(size, int) and size >= 0)
        self.data = data if isinstance(data, bytes | bytearray) else b""
        self.kind, self.order = _dtype(dtype)
        self.columns_first = columns_first

    def values(self) -> object:
        """Return its values flat, one as such; ``None`` for a long one or one of an unknown kind."""
        form = _FORMATS.get(self.kind)
        if form is None or not self.data:
            return None
        count = len(self.data) // struct.calcsize(f"<{form}")
        if count > _MAX_ARRAY:
            return None
        read = struct.unpack_from(f"{'>' if self.order == '>' else '<'}{count}{form}", self.data)
        return read[0] if not self.shape and count == 1 else list(read)


def _dtype(value: object) -> tuple[str, str]:
    if not isinstance(value, Recorded) or not value.args:
        return "", "<"
    state = _tuple(value.state)
    order = state[1] if len(state) > 1 else "<"
    return str(value.args[0]), str(order)


def array_of(value: object) -> PickledArray | None:
    """Return the array that a value is; ``None`` for anything else."""
    if not isinstance(value, Recorded):
        return None
    name, state, args = type(value).name, _tuple(value.state), value.args
    if name.endswith(".multiarray._reconstruct") and len(state) == 5:
        return PickledArray(state[1], state[2], _bytes(state[4]), columns_first=bool(state[3]))
    if name.endswith(".numeric._frombuffer") and len(args) == 4:
        return PickledArray(args[2], args[1], _bytes(args[0]), columns_first=args[3] == "F")
    return None


def _array_values(value: Recorded) -> object:
    array = array_of(value)
    return array.values() if array is not None else None


def _scalar(value: Recorded) -> object:
    if len(value.args) != 2:
        return None
    return PickledArray((), value.args[0], _bytes(value.args[1]), columns_first=False).values()


def _bytes(value: object) -> object:
    """Return bytes, which old protocols write as encoded text."""
    if isinstance(value, Recorded) and type(value).name == "_codecs.encode" and value.args:
        value = value.args[0]
    return value.encode("latin-1", "replace") if isinstance(value, str) else value


def _date(value: Recorded) -> object:
    packed = _bytes(value.args[0]) if value.args else b""
    if not isinstance(packed, bytes) or len(packed) < 4:
        return None
    year, month, day = packed[0] * 256 + packed[1], packed[2] & 127, packed[3]
    if len(packed) < 10:
        return f"{year:04}-{month:02}-{day:02}"
    hour, minute, second, micro = packed[4], packed[5], packed[6], int.from_bytes(packed[7:10], "big")
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micro:06}"


def _path(value: Recorded) -> object:
    parts = [part for part in value.args if isinstance(part, str)]
    return "/".join(part.rstrip("/") for part in parts)


def _items(value: Recorded) -> object:
    return value.items or sequence(value.args[0] if value.args else None)


def _pairs(value: Recorded) -> object:
    return value.pairs


_MEANINGS: dict[str, Callable[[Recorded], object]] = {
    "numpy.core.multiarray._reconstruct": _array_values,
    "numpy._core.multiarray._reconstruct": _array_values,
    "numpy.core.numeric._frombuffer": _array_values,
    "numpy._core.numeric._frombuffer": _array_values,
    "numpy.core.multiarray.scalar": _scalar,
    "numpy._core.multiarray.scalar": _scalar,
    "datetime.datetime": _date,
    "datetime.date": _date,
    "pathlib.PosixPath": _path,
    "pathlib.PurePosixPath": _path,
    "pathlib.WindowsPath": _path,
    "pathlib.PureWindowsPath": _path,
    "collections.OrderedDict": _pairs,
    "collections.defaultdict": _pairs,
    "collections.deque": _items,
    "builtins.set": _items,
    "builtins.frozenset": _items,
    "__builtin__.set": _items,
    "__builtin__.frozenset": _items,
}
"""Names whose recorded arguments are read as a value; no other name means anything."""


def meaning(value: object) -> object:
    """Return a value that JSON has no word for as one that it has."""
    if isinstance(value, Recorded):
        read = _MEANINGS.get(type(value).name)
        return read(value) if read is not None else fields(value)
    if isinstance(value, set | frozenset):
        return list(cast("set[object]", value))
    return None


def check_extent(value: object) -> None:
    """Raise ``Unusable`` where the value is longer, written out, than the bounds, or nested endlessly."""
    left, text = MAX_VALUES, MAX_TEXT
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        left -= 1
        if isinstance(one, str):
            text -= _written(one)
        if text < 0:
            raise Unusable(TOO_MUCH_TEXT)
        if left < 0 or depth > _MAX_DEPTH:
            raise Unusable("it holds too much")
        if isinstance(one, Recorded | set | frozenset):
            one = meaning(cast("object", one))
        if isinstance(one, dict):
            pairs = cast("dict[object, object]", one)
            left -= len(pairs)
            text -= sum(_written(key) for key in pairs if isinstance(key, str))
            waiting.extend((item, depth + 1) for item in pairs.values())
        elif isinstance(one, list | tuple):
            waiting.extend((item, depth + 1) for item in cast("list[object]", one))


def _written(text: str) -> int:
    """Return how many bytes JSON needs for a text; one that is too long anyway is not written to see it."""
    return len(text) if len(text) > MAX_TEXT else len(encode_basestring_ascii(text))
