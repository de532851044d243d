"""What is shipped for the tests of others: conformance checks of stores (``testing.stores``) and of dialects."""

from otelreplay.testing.stores import STORE_CHECKS

__all__ = ["STORE_CHECKS"]
