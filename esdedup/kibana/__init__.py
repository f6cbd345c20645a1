"""What does Kibana show of a store? The saved objects of the dashboard."""
