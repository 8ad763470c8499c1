"""What the stack's web pages share: who is let in, where they listen, how they are served beside other work."""
