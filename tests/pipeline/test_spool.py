"""The spool: what goes in comes out, trace by trace, whatever the budget; and nothing stays behind."""

import contextlib
import os
import stat
import subprocess
import sys
import textwrap
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.pipeline.frames import Codec
from otelreplay.pipeline.scratch import PREFIX, ScratchFolder, remove_stale
from otelreplay.pipeline.spool import Spool, TraceInfo
from otelreplay.spans.model import Link, LogRecord, Removal, Resource, Scope, Span, SpanEvent

TRACES = ["", *(f"{number:032x}" for number in range(1, 5))]
ODD = [
    "plain",
    "\ud83e",
    "a\x00b",
    2**70,
    -(2**63) - 1,
    b"\xff",
    None,
    True,
    1.5,
    -0.0,
    float("nan"),
    [],
    {},
    {"\udc00": ["\ud800", 2**80]},
]
ATTRIBUTES = st.dictionaries(st.sampled_from(["a", "b", "\ud800"]), st.sampled_from(ODD), max_size=3)
RESOURCES = [
    Resource(),
    Resource({"service.name": "a"}),
    Resource({"service.name": "\ud800"}),
    Resource({"n": 1}),
    Resource({"n": True}),
]
SCOPES = [Scope(), Scope("s", "1", {"k": 2**70}, "u")]
SPANS = st.builds(
    Span,
    st.sampled_from(TRACES[1:]),
    st.integers(1, 2**60).map(lambda number: f"{number:016x}"),
    st.sampled_from(["", "00f067aa0ba902b7"]),
    name=st.sampled_from(["n", "\ud83e"]),
    start=st.integers(0, 2**64 - 1),
    end=st.integers(0, 2**64 - 1),
    attributes=ATTRIBUTES,
    events=st.lists(st.builds(SpanEvent, st.just("e"), st.just(5), ATTRIBUTES), max_size=2).map(tuple),
    links=st.lists(st.builds(Link, st.just(TRACES[1]), st.just("1" * 16), attributes=ATTRIBUTES), max_size=1).map(tuple),
    status_message=st.sampled_from(["", "m"]),
    resource=st.sampled_from(RESOURCES),
    scope=st.sampled_from(SCOPES),
    removed=st.lists(st.builds(Removal, st.just("body"), st.just("r"), st.just("drop")), max_size=1).map(tuple),
)
LOGS = st.builds(
    LogRecord,
    st.sampled_from(TRACES),
    time=st.integers(0, 2**64 - 1),
    body=st.sampled_from(ODD),
    attributes=ATTRIBUTES,
    resource=st.sampled_from(RESOURCES),
    scope=st.sampled_from(SCOPES),
)


def exact(record):
    """A record's content in a form that tells apart what ``==`` does not."""
    return repr(record)


def hidden(folder):
    return [path for path in folder.iterdir() if path.name.startswith(PREFIX)]


@settings(max_examples=60)
@given(records=st.lists(SPANS | LOGS, max_size=25), budget=st.sampled_from([0, 1500, 6000, 1 << 26]))
def test_what_goes_in_comes_out_whatever_the_budget(tmp_path_factory, records, budget):
    folder = tmp_path_factory.mktemp("out")
    with Spool(folder, memory_budget=budget) as spool:
        for record in records:
            if isinstance(record, Span):
                spool.add([record])
            else:
                spool.add([], [record])
        for trace in {record.trace_id for record in records}:
            spans, logs = spool.read([trace])
            mine = [record for record in records if record.trace_id == trace]
            assert [exact(record) for record in mine if isinstance(record, Span)] == [exact(span) for span in spans]
            assert [exact(record) for record in mine if isinstance(record, LogRecord)] == [exact(log) for log in logs]
        everything = [each for found in spool.take(sorted({record.trace_id for record in records})) for each in found]
        assert Counter(map(exact, records)) == Counter(map(exact, everything))
        assert spool.traces() == []
        assert spool.spilled or budget or not records
    assert list(folder.iterdir()) == []


@settings(max_examples=40)
@given(spans=st.lists(SPANS, max_size=8), logs=st.lists(LOGS, max_size=8))
def test_a_frame_gives_back_what_was_packed(spans, logs):
    codec = Codec()
    again_spans, again_logs = codec.unpack(codec.pack(spans, logs))
    assert [exact(each) for each in (*spans, *logs)] == [exact(each) for each in (*again_spans, *again_logs)]


def span(trace=1, number=1, **fields):
    return Span(f"{trace:032x}", f"{number:016x}", **fields)


def test_the_index_tells_of_each_trace_without_reading_it(tmp_path):
    with Spool(
        tmp_path, memory_budget=0, hints=lambda record: [str(record.attributes["h"])] if "h" in record.attributes else []
    ) as spool:
        spool.add(
            [span(2, 1, start=50), span(1, 1, start=70, attributes={"h": 7}), span(1, 2, parent_span_id="1" * 16, start=60)]
        )
        spool.add([], [LogRecord(f"{1:032x}", time=0, observed_time=40, attributes={"h": "x"}), LogRecord(body="loose")])
        assert spool.traces() == [
            TraceInfo("", 0, 0, 1, 0, frozenset()),
            TraceInfo(f"{1:032x}", 40, 2, 1, 1, frozenset({"7", "x"})),
            TraceInfo(f"{2:032x}", 50, 1, 0, 1, frozenset()),
        ]


def test_a_trace_that_was_taken_is_gone_and_can_come_again(tmp_path):
    with Spool(tmp_path, memory_budget=0) as spool:
        spool.add([span(1, 1)])
        assert ([span(1, 1)], []) == spool.take([f"{1:032x}"])
        with pytest.raises(KeyError):
            spool.read([f"{1:032x}"])
        spool.add([span(1, 2)])
        assert ([span(1, 2)], []) == spool.take([f"{1:032x}"])


def test_equal_resources_are_one_object_after_reading_back(tmp_path):
    with Spool(tmp_path, memory_budget=0) as spool:
        for number in range(1, 5):
            spool.add([span(1, number, resource=Resource({"a": "b"}), scope=Scope("s"))])
        spans, _ = spool.read([f"{1:032x}"])
        assert len({id(each.resource) for each in spans}) == len({id(each.scope) for each in spans}) == 1


def test_nothing_is_on_disk_while_memory_suffices(tmp_path):
    with Spool(tmp_path / "out") as spool:
        spool.add([span()])
        assert spool.spilled == 0
    assert not (tmp_path / "out").exists()


def test_the_private_folder_is_hidden_and_nobody_elses(tmp_path):
    with Spool(tmp_path / "out", memory_budget=0) as spool:
        spool.add([span()])
        (folder,) = (tmp_path / "out").iterdir()
        assert folder.name.startswith(".")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert list((tmp_path / "out").iterdir()) == []


def test_memory_is_bounded_by_the_budget(tmp_path):
    """Of 40 MB in 400 interleaved traces, little more than the budget of 2 MB is held."""
    import tracemalloc

    tracemalloc.start()
    try:
        with Spool(tmp_path, memory_budget=2 << 20) as spool:
            for number in range(1, 4001):
                spool.add([span(number % 400 + 1, number, attributes={"text": f"{number:05}" * 2000})])
            held, _ = tracemalloc.get_traced_memory()
            assert held < 5 << 20
            counts = [len(spool.take([info.trace_id])[0]) for info in spool.traces()]
            _, peak = tracemalloc.get_traced_memory()
        assert [10] * 400 == counts
        assert peak < 8 << 20
    finally:
        tracemalloc.stop()


def test_after_a_spill_memory_is_used_again(tmp_path):
    with Spool(tmp_path, memory_budget=5000) as spool:
        spool.add(span(1, number, name="x") for number in range(1, 20))
        spilled = spool.spilled
        assert spilled > 0
        spool.add([span(1, 20)])
        assert spilled == spool.spilled


def test_an_error_inside_leaves_nothing_behind(tmp_path):
    with contextlib.suppress(RuntimeError), Spool(tmp_path, memory_budget=0) as spool:
        spool.add([span()])
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


CHILD = """
    import sys, time
    from pathlib import Path
    from otelreplay.pipeline.spool import Spool
    from otelreplay.spans.model import Span
    spool = Spool(Path(sys.argv[1]), memory_budget=0)
    spool.add([Span("1" * 32, "1" * 16)])
    print("ready", flush=True)
    if sys.argv[2] == "wait":
        time.sleep(60)
"""


def start(folder, how):
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(CHILD), str(folder), how], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"ready\n"
    return child


def test_a_killed_process_leaves_nothing_visible_and_the_next_start_tidies_up(tmp_path):
    with start(tmp_path, "wait") as child:
        try:
            assert len(hidden(tmp_path)) == 1
            assert remove_stale(tmp_path) == 0, "a living process keeps its folder"
        finally:
            child.kill()
            child.wait()
    assert len(hidden(tmp_path)) == len(list(tmp_path.iterdir())) == 1
    Spool(tmp_path).close()
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_forgets_to_close_leaves_nothing(tmp_path):
    with start(tmp_path, "end") as child:
        assert child.wait(timeout=60) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_lock_is_removed_only_once_it_is_old(tmp_path):
    young, old = tmp_path / f"{PREFIX}young", tmp_path / f"{PREFIX}old"
    young.mkdir()
    old.mkdir()
    past = time.time() - 1000
    os.utime(old, (past, past))
    assert remove_stale(tmp_path) == 1
    assert [young] == list(tmp_path.iterdir())


def test_only_folders_of_ours_are_removed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "lock").touch()
    (tmp_path / f"{PREFIX}link").symlink_to(outside)
    (tmp_path / f"{PREFIX}file").touch()
    (tmp_path / "other").mkdir()
    assert remove_stale(tmp_path) == 0
    assert (outside / "lock").exists()
    assert len(list(tmp_path.iterdir())) == 4


def test_a_folder_of_another_user_stays(tmp_path, monkeypatch):
    folder = tmp_path / f"{PREFIX}x"
    folder.mkdir()
    (folder / "lock").touch()
    owner = folder.stat().st_uid + 1
    monkeypatch.setattr("otelreplay.pipeline.scratch.os.getuid", lambda: owner)
    assert remove_stale(tmp_path) == 0


def test_a_forked_child_does_not_remove_its_parents_folder(tmp_path):
    folder = ScratchFolder(tmp_path)
    if (child := os.fork()) == 0:
        folder.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.path.exists()
    folder.close()
    folder.close()
    assert not folder.path.exists()


def test_no_folder_to_tidy_is_no_error(tmp_path):
    assert remove_stale(tmp_path / "missing") == 0
