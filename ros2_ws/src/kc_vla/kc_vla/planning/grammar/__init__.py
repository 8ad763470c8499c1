"""The planner without a language model: household instructions by their verbs; nouns stay as people say them."""
