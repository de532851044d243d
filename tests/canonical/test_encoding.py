"""Every value comes back as it was, and what cannot be said takes nothing else with it."""

import datetime as dt
import json
import math
import sys
import zoneinfo
from collections import OrderedDict, defaultdict
from pathlib import Path, PosixPath, PurePosixPath, PureWindowsPath, WindowsPath
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.canonical import (
    MAX_DEPTH,
    RESERVED,
    Tagged,
    decode,
    dumps,
    encode,
    encode_reporting,
    encoding,
    jcs,
    loads,
    plain,
)
from otelreplay.canonical.plain import PLAIN, TYPED, classify
from otelreplay.events import Message
from tests.canonical.payloads import (
    CLASSES,
    Colour,
    Level,
    Model,
    Open,
    Pair,
    Point,
    Slotted,
    Word,
    instances,
    json_values,
    same,
    values,
)


def is_json(value):
    """Whether only what JSON says is in it, checked without any code of the package."""
    if isinstance(value, dict):
        return all(type(k) is str and k.encode() is not None and is_json(v) for k, v in value.items())
    if isinstance(value, list):
        return all(map(is_json, value))
    if type(value) is str:
        return value.encode() is not None
    if type(value) is float:
        return math.isfinite(value) and not (value == 0 and math.copysign(1, value) < 0)
    return value is None or type(value) is bool or (type(value) is int and abs(value) < 2**53)


@given(values)
def test_every_value_comes_back_as_it_was(value):
    encoded = encode(value)
    assert is_json(encoded)
    assert same(decode(encoded), value)


@given(instances)
def test_instances_of_allowed_classes_come_back_as_they_were(value):
    encoded, losses = encode_reporting(value)
    assert is_json(encoded)
    assert losses == ()
    assert same(decode(encoded, types=CLASSES), value)


@given(instances)
def test_instances_of_other_classes_encode_again_to_the_same(value):
    encoded = encode(value)
    assert same(encode(decode(encoded)), encoded)


@given(values)
def test_an_encoded_value_is_user_data_like_any_other(value):
    """What looks like a typed value is escaped, however often."""
    encoded = encode(value)
    assert same(decode(encode(encoded)), encoded)


@given(json_values)
def test_plain_json_is_returned_as_the_same_object(value):
    if RESERVED not in json.dumps(value):
        normal = json.loads(json.dumps(value).replace("-0.0", "0.0"))
        assert encode(normal) is normal
        assert decode(normal) is normal


def test_plain_parts_of_an_odd_value_are_not_copied():
    message, inner = Message({"role": "user"}), {"a": [1]}
    encoded = encode({"m": message, "deep": [[[[[[[[[[inner]]]]]]]]]], "odd": (1,)})
    assert encoded["m"] is message
    assert encoded["deep"][0][0][0][0][0][0][0][0][0][0] is inner


def test_user_data_that_looks_typed_is_kept():
    user = {RESERVED: "bytes", "base64": "eA=="}
    assert encode(user) == {RESERVED: "dict", "items": [[RESERVED, "bytes"], ["base64", "eA=="]]}
    assert decode(encode([user])) == [user]


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (float("nan"), {"value": "nan", RESERVED: "float"}),
        (-0.0, {"value": "-0.0", RESERVED: "float"}),
        (2**53, {"value": "9007199254740992", RESERVED: "int"}),
        (b"\x00\xff", {"base64": "AP8=", RESERVED: "bytes"}),
        (memoryview(b"x"), {"base64": "eA==", RESERVED: "bytes"}),
        ((1, "a"), {"items": [1, "a"], RESERVED: "tuple"}),
        ({3, 1, 2}, {"items": [1, 2, 3], RESERVED: "set"}),
        ({1: "a", "1": "b"}, {"items": [[1, "a"], ["1", "b"]], RESERVED: "dict"}),
        ("a\\\ud83e", {"escaped": "a\\\\\\ud83e", RESERVED: "str"}),
        (dt.timedelta(days=-1), {"days": -1, "seconds": 0, "microseconds": 0, RESERVED: "timedelta"}),
        (dt.datetime(2026, 1, 2, fold=1), {"value": "2026-01-02T00:00:00", "fold": 1, RESERVED: "datetime"}),
        (PurePosixPath("/a"), {"class": "PurePosixPath", "value": "/a", RESERVED: "path"}),
        (Colour.RED, {"class": "tests.canonical.payloads:Colour", "name": "RED", "value": "r", RESERVED: "enum"}),
        (Point(1), {"class": "tests.canonical.payloads:Point", "fields": {"x": 1, "y": None}, RESERVED: "dataclass"}),
        (Pair(1, 2), {"class": "tests.canonical.payloads:Pair", "fields": {"left": 1, "right": 2}, RESERVED: "namedtuple"}),
        (
            Open(z=2),
            {
                "class": "tests.canonical.payloads:Open",
                "fields": {"a": 1},
                "extra": {"z": 2},
                "set": ["z"],
                RESERVED: "pydantic",
            },
        ),
    ],
)
def test_the_documented_forms(value, encoded):
    """These are in files for ever."""
    assert encode(value) == encoded


def test_a_number_of_thousands_of_digits_comes_back():
    """Python refuses to print such a number in base ten."""
    for number in (10**5000 + 7, -(10**5000), 10**599, 10**600, -(10**600)):
        assert decode(loads(dumps(number))) == number
    assert encode(10**600 - 1)["value"] == "9" * 600


def test_subclasses_of_built_in_types_are_those_types():
    class Str(str):
        def __str__(self):
            raise AssertionError("methods of a subclass are not run")

    class Int(int):
        pass

    class Float(float):
        pass

    class List(list):
        pass

    value = {"s": Str("a"), "i": Int(3), "f": Float(0.5), "big": Int(2**60), "n": Float("nan"), "l": List([Str("b"), 1])}
    encoded = encode(value)
    assert [type(encoded[key]) for key in "sifl"] == [str, int, float, list]
    assert same(decode(loads(dumps(value))), {"s": "a", "i": 3, "f": 0.5, "big": 2**60, "n": float("nan"), "l": ["b", 1]})
    assert encode(OrderedDict(a=1)) == {"a": 1}
    assert decode(encode(defaultdict(list, {1: 2}))) == {1: 2}
    assert decode(encode({Str("k"): 1})) == {"k": 1}


def test_a_key_that_is_an_enum_is_kept_as_one():
    """It equals its text, and is still not the text."""
    assert encode({Word.YES: 1})[RESERVED] == "dict"
    assert same(decode(encode({Word.YES: 1}), types=[Word]), {Word.YES: 1})
    assert decode(encode({Level.LOW: "a", 1.5: "b"}), types=[Level]) == {Level.LOW: "a", 1.5: "b"}


def test_an_object_that_cannot_be_said_takes_nothing_else_with_it():
    """As when a method's ``self`` is among the arguments."""
    encoded, losses = encode_reporting({"self": SimpleNamespace(), "q": "x", "n": 3, ("k",): [object()], 7: {"f": print}})
    kept = {key if isinstance(key, str) else "odd": item for key, item in encoded["items"]}
    assert kept["self"] == {RESERVED: "unencodable", "class": "types:SimpleNamespace"}
    assert kept["q"] == "x"
    assert kept["n"] == 3
    assert [(loss.path, loss.class_name, loss.reason) for loss in losses] == [
        (("self",), "types:SimpleNamespace", "unencodable"),
        (("builtins:tuple", 0), "builtins:object", "unencodable"),
        (("7", "f"), "builtins:builtin_function_or_method", "unencodable"),
    ]
    assert decode(encoded)["self"] == Tagged("unencodable", {"class": "types:SimpleNamespace"})
    assert encode_reporting([1])[1] == ()


def test_a_lost_key_is_reported_under_its_class():
    assert encode_reporting({object(): 1})[1][0].path == ("builtins:object",)
    assert [loss.path for loss in encode_reporting({10**5000: object(), 2.5: object()})[1]] == [("builtins:int",), ("2.5",)]


class Grumpy:
    def __get__(self, instance, owner=None):
        if instance is None:
            raise AttributeError
        raise RuntimeError("not now")


def test_a_field_that_cannot_be_read_leaves_the_others():
    known: dict[str, Any] = Slotted.__dataclass_fields__
    extra = type("F", (), {"name": "b", "_field_type": known["a"]._field_type})()
    broken: Any = type("Broken", (Slotted,), {"b": Grumpy()})
    broken.__dataclass_fields__ = {**known, "b": extra}
    encoded, losses = encode_reporting([broken(5)])
    assert encoded[0]["fields"]["a"] == 5
    assert encoded[0]["fields"]["b"][RESERVED] == "unencodable"
    assert losses[0].path == (0, "b")


class BadZone(dt.tzinfo):
    def utcoffset(self, when):
        raise ValueError("no")


class BadModel:
    __pydantic_fields__ = {"a": None}
    __pydantic_fields_set__ = 7
    a = 1


def test_classes_that_raise_are_losses_not_errors():
    encoded, losses = encode_reporting([dt.datetime(2026, 1, 1, tzinfo=BadZone()), BadModel(), 1])
    assert [item[RESERVED] for item in encoded[:2]] == ["unencodable"] * 2
    assert [loss.path for loss in losses] == [(0,), (1,)]


def test_a_named_zone_is_written_down_and_rebuilt_if_allowed():
    moment = dt.datetime(2026, 10, 25, 2, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Paris"), fold=1)
    plainly, named = decode(encode(moment)), decode(encode(moment), types=[zoneinfo.ZoneInfo])
    assert encode(moment)["zone"] == "Europe/Paris"
    assert plainly.utcoffset() == moment.utcoffset() == dt.timedelta(hours=1)
    assert named.tzinfo is moment.tzinfo
    assert named.fold == 1


@pytest.mark.parametrize(
    "offset", [dt.timedelta(microseconds=1), -dt.timedelta(hours=3, microseconds=5), dt.timedelta(seconds=7)]
)
def test_offsets_finer_than_a_minute_come_back(offset):
    moment = dt.datetime(2000, 1, 1, 0, 0, 0, 1, tzinfo=dt.timezone(offset))
    for value in (moment, moment.timetz()):
        assert decode(encode(value)).utcoffset() == offset
        assert same(decode(encode(value)), value)


def test_paths_of_this_and_of_other_systems():
    here = Path("a/b")
    assert same(decode(encode(here)), here)
    foreign, pure = (WindowsPath, PureWindowsPath) if isinstance(here, PosixPath) else (PosixPath, PurePosixPath)
    assert decode({RESERVED: "path", "class": foreign.__name__, "value": "a"}) == pure("a")
    subclass = type("Mine", (PurePosixPath,), {})
    assert decode(encode(subclass("q"))) == PurePosixPath("q")


def test_a_cycle_is_cut_where_it_closes():
    loop = [1]
    loop.append({"back": loop, "tuple": (loop,)})
    encoded, losses = encode_reporting(loop)
    assert encoded[0] == 1
    assert encoded[1]["back"] == {RESERVED: "cycle", "up": 2}
    assert encoded[1]["tuple"]["items"] == [{RESERVED: "cycle", "up": 4}]
    assert [(loss.path, loss.reason) for loss in losses] == [((1, "back"), "cycle"), ((1, "tuple", 0), "cycle")]
    point = Slotted(None)
    point.a = [point]
    assert encode_reporting(point)[1][0].path == ("a", 0)


def test_the_same_object_twice_is_no_cycle():
    shared = (1,)
    assert decode(encode([shared, shared, {"a": shared}])) == [shared, shared, {"a": shared}]


def deep(levels, kind=list):
    value = "bottom"
    for _ in range(levels):
        value = [value] if kind is list else {"k": value} if kind is dict else (value,)
    return value


@pytest.mark.parametrize("kind", [list, dict])
def test_nesting_is_kept_down_to_the_bound_and_marked_below(kind):
    assert encode_reporting(deep(MAX_DEPTH, kind))[1] == ()
    encoded, losses = encode_reporting([deep(MAX_DEPTH, kind), "beside"])
    assert encoded[1] == "beside"
    assert [(len(loss.path), loss.reason) for loss in losses] == [(MAX_DEPTH, "too_deep")]
    assert decode(loads(dumps([deep(MAX_DEPTH, kind), "beside"])))[1] == "beside"


@pytest.mark.parametrize("kind", [list, dict, tuple])
def test_absurdly_deep_values_need_no_stack(kind):
    value = deep(5 * sys.getrecursionlimit(), kind)
    assert encode_reporting(value)[1][0].reason == "too_deep"
    assert dumps(value) == dumps(value)
    assert jcs(value) == jcs(value)


def test_a_typed_leaf_at_the_bound_is_kept():
    assert encode_reporting(deep(MAX_DEPTH - 1))[1] == ()
    value = [2**60]
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    assert encode_reporting(value)[1] == ()
    assert decode(loads(dumps(value))) == value


def test_objects_that_all_know_each_other_do_not_take_for_ever(monkeypatch):
    """Ten such objects have millions of paths."""
    monkeypatch.setattr(encoding, "MAX_CONTAINERS", 500)
    monkeypatch.setattr(plain, "MAX_CONTAINERS", 500)
    crowd = [Slotted(None) for _ in range(12)]
    for one in crowd:
        one.a = list(crowd)
    encoded, losses = encode_reporting([crowd, "beside"])
    assert encoded[1] == "beside"
    assert {loss.reason for loss in losses} >= {"cycle", "too_large"}
    doubled = [1]
    for _ in range(40):
        doubled = [doubled, doubled]
    assert encode_reporting(doubled)[1][0].reason == "too_large"
    assert classify([[1] for _ in range(499)]) == PLAIN
    assert classify([[1] for _ in range(500)]) == TYPED
    assert classify([{} for _ in range(500)]) == TYPED


def test_a_dict_that_changes_under_our_hands_is_no_error():
    class Nervous(dict):
        def __iter__(self):
            raise RuntimeError("dictionary changed size during iteration")

    assert classify(Nervous(a=1)) == TYPED
    assert encode([Nervous(a=1)]) == [{"a": 1}]


def test_decoding_builds_only_allowed_classes_and_runs_none_of_their_code():
    class Spiteful(pydantic.BaseModel):
        a: int

        def model_post_init(self, context):
            raise AssertionError("constructors are not run")

    encoded = {RESERVED: "dataclass", "class": "os:system", "fields": {"command": b"x"}}
    assert decode(encoded) == Tagged("dataclass", {"class": "os:system", "fields": {"command": b"x"}})
    assert decode(encode(Point(1, (2,))), types=[Point]) == Point(1, (2,))
    assert decode(encode(Model(a=1, bee=2)), types=[Point]).tag == "pydantic"


@pytest.mark.parametrize(
    "typed",
    [
        {RESERVED: "of_a_later_version", "x": [1]},
        {RESERVED: "uuid", "value": "00000000-0000-0000-0000-000000000001", "later": 1},
        {RESERVED: 7},
        {RESERVED: ["bytes"]},
        {RESERVED: "bytes"},
        {RESERVED: "bytes", "base64": "&&&"},
        {RESERVED: "int", "value": "x"},
        {RESERVED: "int", "value": 7},
        {RESERVED: "float", "value": "4.0"},
        {RESERVED: "set", "items": [[1]]},
        {RESERVED: "set", "items": [1, 1]},
        {RESERVED: "tuple", "items": "ab"},
        {RESERVED: "dict", "items": [[1, 2, 3]]},
        {RESERVED: "dict", "items": [[1, 2], [1, 3]]},
        {RESERVED: "datetime", "value": "yesterday"},
        {RESERVED: "timedelta", "days": 10**15, "seconds": 0, "microseconds": 0},
        {RESERVED: "path", "class": "object", "value": "x"},
        {RESERVED: "enum", "class": "tests.canonical.payloads:Colour", "name": "GONE", "value": "gone"},
        {RESERVED: "dataclass", "class": "tests.canonical.payloads:Slotted", "fields": {"gone": 1}},
        {RESERVED: "namedtuple", "class": "tests.canonical.payloads:Pair", "fields": {"left": 1}},
    ],
)
def test_what_cannot_be_rebuilt_is_kept_as_it_stands(typed):
    """Tags of later versions, malformed values, classes that have changed: nothing is lost, nothing raises."""
    decoded = decode([typed], types=CLASSES)
    assert isinstance(decoded[0], Tagged)
    assert same(encode(decoded), [typed])


def test_losses_that_look_alike_are_not_merged():
    """Two objects of one class were two items of a set."""
    encoded = encode({"s": {object(), object()}, "d": {object(): 1, object(): 2}})
    assert len(decode(encoded)["s"].members["items"]) == 2
    assert len(decode(encoded)["d"].members["items"]) == 2


def test_tagged_values_are_equal_by_content_and_hashable():
    one, two = decode(encode(Point([1]))), decode(encode(Point([1])))
    assert one == two
    assert hash(one) == hash(two)
    assert one != decode(encode(Point([2])))
    assert one != "x"
    assert {one, two} == {one}


def test_mapping_proxies_are_losses_not_guesses():
    assert encode(MappingProxyType({"a": 1}))[RESERVED] == "unencodable"


@settings(max_examples=50)
@given(st.recursive(st.integers(), lambda inner: st.frozensets(inner, max_size=4), max_leaves=10))
def test_sets_have_one_encoding(value):
    assert encode(value) == encode(decode(encode(value)))
