"""The web page on which people annotate keyframes of recorded episodes."""
