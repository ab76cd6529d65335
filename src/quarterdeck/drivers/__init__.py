"""The I/O of each agent, one folder per agent.

base                the protocol of a driver
claude              Claude Code
extensions          the protocol of an agent's plugins and MCP servers
registry            the drivers by name
removed_hooks       what an uninstall leaves for sessions that still call
transcript_chunks   transcripts in chunks of whole lines
"""
