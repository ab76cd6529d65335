"""Owned and observed sessions.

controller           carries out session effects through the launchers
permission_query     a permission request over an SDK, as an event
launchers            one launcher for each mode
launch_specs         program, environment and hooks of a session
observed_sessions    commands to sessions that the person started
process_monitor      the processes that run live sessions
ancestry             agents' processes, and the connections they hold
transcript_follower  reads transcripts as they grow
past_sessions        sessions known only by their transcript
"""
