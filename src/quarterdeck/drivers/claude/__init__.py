"""Claude Code on this machine: its program, its files and its Agent SDK.

cli                   the command line
driver                all of this, behind the protocol of a driver
extensions            plugins, marketplaces and MCP servers
install               connecting and disconnecting Claude Code
project_config_files  a project's configuration files
sdk_host              the process that keeps one agent of the SDK
sdk_launcher          sessions over the Agent SDK
sdk_note_limit        the limit of an agent's notes
sdk_session           one session over the SDK
sdk_transport         the process of an SDK session
session_files         Claude Code's process files
transcript_files      transcript files
"""
