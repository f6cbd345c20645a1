"""The implementation of each verb: loading, scanning, updating, querying, rewriting; workers, progress, memory."""
