"""The panel Record: the record of each snapshot so far."""
