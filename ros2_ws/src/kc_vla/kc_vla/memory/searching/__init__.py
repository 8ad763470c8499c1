"""Finding known things by what people say of them: names, states, exclusions, purposes and relations."""
