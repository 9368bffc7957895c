"""References to notes, the notes, and which belongs to which."""
