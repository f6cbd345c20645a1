"""What does Kibana show of a store? Its saved objects."""
