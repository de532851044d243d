"""``python -m otelreplay``."""

from otelreplay.cli.main import main

if __name__ == "__main__":
    main()
