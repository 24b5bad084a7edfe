"""An execution in words: what each step does, why a snapshot holds what it holds, what may happen next."""
