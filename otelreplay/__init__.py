"""otelreplay: an agent's OpenTelemetry trace as a redacted, sealed cassette."""

__all__ = ["__version__"]

__version__ = "0.1.0.dev0"
