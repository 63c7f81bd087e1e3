"""The HTTP edge: routes, what they read and answer, and the one place that turns errors into responses."""
