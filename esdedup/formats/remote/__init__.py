"""Sources that are not on this machine: objects in S3, Google Cloud and Azure, files on the web, datasets of a hub."""
