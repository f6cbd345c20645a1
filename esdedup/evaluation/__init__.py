"""How accurate are the results, and what will a run cost? Truth, recall, S-curves, forecasts."""
