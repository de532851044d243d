"""From trace batches to cassettes: spool, convert, store."""
