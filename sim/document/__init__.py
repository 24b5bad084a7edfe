"""The scenario: its data class, reading, checking and writing its files, and the bundled scenarios."""
