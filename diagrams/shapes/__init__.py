"""Lines, areas, texts and colours. They know nothing of executions."""
