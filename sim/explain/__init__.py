"""An execution in words: its steps, the reasons for what a snapshot recorded, and the possible next steps."""
