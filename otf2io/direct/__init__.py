"""The engine that decodes the bytes of event files by compiled loops."""
