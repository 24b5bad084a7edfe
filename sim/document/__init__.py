"""The scenario: what it holds, how a file is read, checked and written, and the scenarios that are bundled."""
