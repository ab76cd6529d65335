"""Claude Code's wire formats.

agent                   Claude Code behind the protocol of an agent
composer                the composer on a terminal's screen
extensions              plugins, marketplaces and MCP servers
hook_setup              the hooks and the plugin that connect Claude Code
hooks                   hook payloads and their answers
launch_args             the command line of a terminal session
permission_suggestions  suggested rules as sentences
project_config_parser   a project's hooks, servers and settings
sdk_messages            messages over the Agent SDK
settings_edit           edits of the settings file
tools                   the kind and the risk of each tool
transcripts/            what was said, and what it cost
"""
