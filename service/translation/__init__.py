"""The path of a request: route, segment, tokenise, decode, rejoin.  Knows nothing of HTTP."""
