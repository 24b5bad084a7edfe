"""The panels beside the diagram, one folder each: text, table or figure of one question."""
