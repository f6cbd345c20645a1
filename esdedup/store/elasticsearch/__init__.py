"""A store on a server: indices of Elasticsearch."""
