"""The table of trade-offs: claims about the algorithms, measured."""
