"""The document of the study: tables and figures from judged answers."""
