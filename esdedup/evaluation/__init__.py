"""How good is it, and what will it cost? Truth, recall, S-curves, forecasts."""
