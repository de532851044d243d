"""Parts of the conversion on their own: reading each form, and the spool."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import data
from benchmarks.harness import Row, Setting, work


def bench(setting: Setting) -> Iterator[Row]:
    """Microseconds of processor time a span."""
    count = setting.scale // 5
    runs = list(data.chat_spans(count))
    messages = [data.as_protobuf(spans) for spans in runs]
    forms = {
        "protobuf, one message": b"".join(messages),
        "protobuf, length-delimited": b"".join(len(message).to_bytes(4, "big") + message for message in messages),
        "JSON Lines": b"".join(data.as_json(spans) + b"\n" for spans in runs),
    }
    for label, content in forms.items():
        file = setting.folder / "form"
        file.write_bytes(content)
        found = work("read", str(file), folder=setting.folder)
        assert found["spans"] == count
        yield Row(
            f"read {label}", f"{found['seconds'] / count * 1e6:.1f} us/span", f"{len(content) / count / 1000:.1f} KB/span"
        )
    file.write_bytes(forms["protobuf, one message"])
    for label, budget, goal in (("in memory", 1 << 40, 15), ("on disk", 4 << 20, 40)):
        found = work("spool", str(file), str(setting.folder), str(budget), folder=setting.folder)
        microseconds = found["seconds"] / count * 1e6
        yield Row(
            f"spool, {label}",
            f"{microseconds:.1f} us/span",
            f"taken out again {found['taken'] / count * 1e6:.1f} us/span, {found['spilled'] / count:,.0f} B/span on disk",
            f"< {goal} us",
            microseconds < goal,
        )
