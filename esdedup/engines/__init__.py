"""Engines that run a scan, one folder each. The protocol is `esdedup.matching.engine`."""
