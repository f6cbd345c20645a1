"""Where does a scan run? One folder an engine; the protocol is `esdedup.matching.engine`."""
