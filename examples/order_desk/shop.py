"""What the desk works with: three tools, of which one pays money, and the search in the shop's policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import otelreplay

ORDERS = {
    "A-1001": {"order_id": "A-1001", "total": 129.0, "shipping_fee": 4.9, "parcel_id": "P-77310", "promised": "2026-09-12"},
}
POLICIES = [
    {"id": "refunds-1", "since": "2024-01-01", "text": "Delivery late: refund the whole order."},
    {"id": "refunds-2", "since": "2026-03-01", "text": "Delivery late: refund the shipping fee."},
]


@otelreplay.tool(effect="read")
def lookup_order(order_id: str) -> dict[str, Any]:
    """Look up an order by its id."""
    return ORDERS[order_id]


@otelreplay.tool(effect="read")
def track_parcel(parcel_id: str) -> dict[str, Any]:
    """Ask the carrier where a parcel is."""
    return {"parcel_id": parcel_id, "where": "lost in Leipzig"}


@otelreplay.tool(effect="write", idempotency_key="request_id")
def refund(order_id: str, amount: float, request_id: str) -> dict[str, Any]:
    """Pay money back to the customer."""
    print(f"[shop] paid {amount:.2f} EUR for {order_id}", flush=True)  # the world has changed; a replay prints no such line
    return {"order_id": order_id, "amount": amount, "payment": request_id[:8]}


@otelreplay.retrieval(name="policies")
def search_policies(query: str) -> list[dict[str, Any]]:
    """Search the shop's policies. The old one was never taken out of the index."""
    words = set(query.lower().split())
    return [policy for policy in POLICIES if words & set(policy["text"].lower().replace(":", "").split())]


TOOLS: dict[str, Callable[..., Any]] = {tool.__name__: tool for tool in (lookup_order, track_parcel, refund)}


def _definition(name: str, description: str, **parameters: str) -> dict[str, Any]:
    properties = {parameter: {"type": kind} for parameter, kind in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


DEFINITIONS = [
    _definition("lookup_order", "Look up an order by its id.", order_id="string"),
    _definition("track_parcel", "Ask the carrier where a parcel is.", parcel_id="string"),
    _definition("refund", "Pay money back to the customer.", order_id="string", amount="number"),
]
