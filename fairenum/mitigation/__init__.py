"""What else a user would pick against a gap, and what a defender may do about flipped labels."""
