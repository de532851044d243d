"""OTLP over gRPC and HTTP: redacted, durable before the reply, assembled into runs and sealed."""
