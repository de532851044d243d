"""``python -m examples.order_desk``: one run, recorded."""

import otelreplay
from examples.order_desk import answer

QUESTION = "My order A-1001 has not arrived. Is a refund due? Write to ada.byron@example.com."


def main() -> None:
    """Set up recording, run the agent, and wait until the receiver has the run."""
    otelreplay.configure(service_name="order-desk")
    print(answer(QUESTION))
    otelreplay.flush()


if __name__ == "__main__":
    main()
