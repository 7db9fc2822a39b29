"""The papers' figures and tables, measured anew: what they claim beside what we find."""
