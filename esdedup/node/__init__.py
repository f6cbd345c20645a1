"""How does a real Elasticsearch run on one machine, from Python packages alone?"""
