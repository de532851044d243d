"""An order desk with an incident in it: the smallest agent that has everything. Read ``agent.py`` first.

    python -m examples.order_desk        run it, and send what happened to OTEL_EXPORTER_OTLP_ENDPOINT

A customer's parcel is late. The desk looks up the order, asks the carrier, and pays back the whole order: among the policies
that it found was one that had been replaced. ``answer`` is the agent as it ran that night, ``answer_by_newest_policy`` the same
agent after somebody thought about it.
"""

from examples.order_desk.agent import answer, answer_by_newest_policy

__all__ = ["answer", "answer_by_newest_policy"]
