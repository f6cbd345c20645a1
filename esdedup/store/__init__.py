"""Where are documents, sentences and scan results stored? Start with `registry`."""
