"""Code that the web pages share: authentication, addresses, and an HTTP server in a thread."""
