"""The panel Record: what each snapshot has recorded so far."""
