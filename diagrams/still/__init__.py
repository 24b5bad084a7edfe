"""Still pictures: which drawing a view asks for, captions, legends, pages of a deck, and sequence diagrams."""
