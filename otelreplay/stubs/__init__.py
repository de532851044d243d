"""A provider's answers, rebuilt from recorded events: what the programs of a replay talk to instead of a provider."""
