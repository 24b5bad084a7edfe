"""Still pictures: captions, legends, pages of a deck."""
