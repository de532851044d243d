"""Values of every kind that a payload can hold, and an equality that sees what ``==`` does not."""

import dataclasses
import datetime as dt
import enum
import math
from collections import namedtuple
from pathlib import PurePosixPath, PureWindowsPath

import pydantic
from hypothesis import strategies as st

from otelreplay.canonical import RESERVED


class Colour(enum.Enum):
    RED = "r"
    ODD = (1, b"\xff")


class Level(enum.IntEnum):
    LOW = 1


class Word(enum.StrEnum):
    YES = "yes"


class Right(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass(frozen=True)
class Point:
    x: object
    y: object = None


@dataclasses.dataclass(slots=True)
class Slotted:
    a: object


class Model(pydantic.BaseModel):
    a: object
    b: object = pydantic.Field(default=None, alias="bee")


class Open(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    a: object = 1


class Row(pydantic.RootModel[list[int]]):
    pass


Pair = namedtuple("Pair", "left right")

CLASSES = (Colour, Level, Word, Right, Point, Slotted, Model, Open, Row, Pair)

texts = st.text(max_size=8) | st.text(alphabet='\ud83e\udc00\x00a\\u"é😀$\ue000d8', max_size=6) | st.just(RESERVED)
numbers = (
    st.integers() | st.integers(-(2**70), 2**70) | st.floats() | st.sampled_from([0.0, -0.0, 4.0, 2.0**53, 1e21, 1e-7, 5e-324])
)
json_scalars = st.none() | st.booleans() | numbers | texts
zones = st.none() | st.timedeltas(dt.timedelta(hours=-20), dt.timedelta(hours=20)).map(dt.timezone)
paths = st.sampled_from([PurePosixPath("/a/b"), PureWindowsPath("c:\\x"), PurePosixPath("\udcff")])
enums = st.sampled_from([*Colour, *Level, *Word, *Right, Right.READ | Right.WRITE])
plain_scalars = (
    json_scalars
    | st.binary(max_size=8)
    | st.decimals()
    | st.uuids()
    | paths
    | st.dates()
    | st.timedeltas()
    | st.complex_numbers()
)
moments = st.datetimes(timezones=zones) | st.times(timezones=zones)
scalars = plain_scalars | moments
hashable = st.recursive(
    scalars.filter(lambda v: "nan" not in repr(v).lower()),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=2),
    max_leaves=3,
)
odd_dicts = st.dictionaries(hashable, scalars, max_size=3)


def nested(leaves):
    """Lists, dicts and everything that holds values, around these leaves."""
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(texts, inner, max_size=3)
            | st.dictionaries(hashable, inner, max_size=2)
            | st.tuples(inner, inner)
        ),
        max_leaves=8,
    )


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
values = nested(scalars | st.sets(hashable, max_size=3) | st.binary(max_size=4).map(bytearray))
instances = st.recursive(
    scalars | enums,
    lambda inner: (
        st.builds(Point, inner, inner)
        | st.builds(Slotted, inner)
        | st.builds(Pair, inner, inner)
        | st.builds(lambda a, b: Model(a=a, bee=b), inner, inner)
        | st.builds(lambda a: Model(a=a), inner)
        | st.builds(lambda a, z: Open(a=a, z=z), inner, inner)
        | st.builds(Row, st.lists(st.integers(0, 9)))
        | st.lists(inner, max_size=2)
        | st.dictionaries(texts, inner, max_size=2)
    ),
    max_leaves=5,
)


def same(a, b):
    """Equal in type, order of keys, sign of zero and NaN-ness, all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, dict):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a.items(), b.items(), strict=True))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, set | frozenset):
        return sorted(map(repr, a)) == sorted(map(repr, b)) or a == b
    if dataclasses.is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, pydantic.BaseModel):
        return (
            same(dict(a.__dict__), dict(b.__dict__))
            and same(a.__pydantic_extra__, b.__pydantic_extra__)
            and a.__pydantic_fields_set__ == b.__pydantic_fields_set__
        )
    if hasattr(a, "is_snan"):
        return str(a) == str(b)
    if isinstance(a, dt.datetime | dt.time):
        return a.isoformat() == b.isoformat() and a.fold == b.fold
    return bool(a == b)
