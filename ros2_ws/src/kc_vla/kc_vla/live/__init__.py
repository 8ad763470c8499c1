"""The live page, which shows a running stack in a browser."""
