"""Claude Code's transcripts: what was said, and what it cost.

prices               the price list
transcript           transcripts
transcript_records   the records of a transcript
"""
