"""Recipes compose the parts into the commands of `nudge-train`; the only place that sees everything."""
