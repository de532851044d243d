"""An asynchronous agent: the answer of the model is streamed, and its tools run side by side."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import otelreplay

PRICES = {"Rome": 120.0, "Oslo": 95.5, "Graz": 70.25}


@otelreplay.tool
async def price(city: str) -> float:
    """What a flight costs. The last question is answered first."""
    await asyncio.sleep(0.02 - 0.005 * list(PRICES).index(city))
    return PRICES[city]


@otelreplay.model(name="chooser")
async def choose(prompt: str) -> AsyncIterator[str]:
    """A model, scripted: it names the cheapest."""
    offers = dict(line.split(": ") for line in prompt.splitlines()[1:])
    for word in ("Fly ", "to ", min(offers, key=lambda city: float(offers[city]))):
        await asyncio.sleep(0)
        yield word


@otelreplay.agent
async def plan(cities: list[str]) -> str:
    """Where to fly."""
    prices = await asyncio.gather(*(price(city) for city in cities))
    offers = "\n".join(f"{city}: {amount}" for city, amount in zip(cities, prices, strict=True))
    return "".join([word async for word in choose(f"Which is the cheapest?\n{offers}")])


def main() -> None:
    """One run, recorded."""
    otelreplay.configure(service_name="parallel-tools")
    print(asyncio.run(plan(list(PRICES))))
    otelreplay.flush()


if __name__ == "__main__":
    main()
