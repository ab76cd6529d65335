"""The other screens, one in each file.

base            the bases of all of them
table_screen    a page with a table, details below it, slow calls, and offers
rules           the rules
audit           every decision and change
tasks           the to-dos of every run
deck_page       the key deck
health          the state of the daemon
usage           what was used over time, and what it cost
about           version, home, and what leaves this machine
workspace       projects, worktrees, plugins, marketplaces, MCP servers
"""
