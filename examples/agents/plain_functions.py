"""An agent of plain functions: a decorator on each function that reaches outside."""

from __future__ import annotations

import otelreplay


@otelreplay.state
def home_of(user: str) -> str:
    """Where a user lives; a row of a database, say."""
    return {"ada": "London", "joseph": "Lyon"}[user]


@otelreplay.tool
def forecast(city: str, days: int = 1) -> dict[str, object]:
    """The weather of the next days."""
    return {"city": city, "days": days, "rain": True}


@otelreplay.model
def ask(prompt: str) -> str:
    """A model, scripted."""
    return "Take a coat." if "'rain': True" in prompt else "Leave it at home."


@otelreplay.agent
def pack(user: str) -> str:
    """What to wear tomorrow."""
    city = home_of(user)
    return ask(f"The weather: {forecast(city)}. Is a coat needed in {city}?")


def main() -> None:
    """One run, recorded."""
    otelreplay.configure(service_name="plain-functions")
    print(pack("ada"))
    otelreplay.flush()


if __name__ == "__main__":
    main()
