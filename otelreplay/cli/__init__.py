"""The command line. No logic: options in, one call of ``wiring``, one of ``report``, an exit code out."""
