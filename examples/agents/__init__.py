"""Small agents, one for each way to write one. All run offline: their models are scripted.

    plain_functions             functions, and nothing but functions
    class_based                 methods, a dataclass as a result, a failure that the agent handles
    parallel_tools              asyncio: a streamed answer, tools side by side
    only_configure              no decorator: another package's instrumentation, and ``otelreplay.configure()``
    decorated_and_instrumented  both at once: each call is still one event

Each is run by ``python -m examples.agents.NAME``, and sends what happened to OTEL_EXPORTER_OTLP_ENDPOINT.
"""
