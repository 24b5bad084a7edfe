"""The space-time diagram of a scene: its elements, texts and signs, as a figure of plain lists and dicts."""
