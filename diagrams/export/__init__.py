"""One file per format; each draws the same scene."""
