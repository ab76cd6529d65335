"""Pages and notes as styled lines. No I/O.

about_lines              version, home, and what leaves this machine
audit_lines              the audit: rows, and all of an entry
decided_lines            decisions that were made, and an empty desk
extension_lines          plugins, marketplaces and MCP servers
health_lines             the daemon's health: findings, then numbers
project_lines            projects with their sessions
request_input            the exact input of a request
rule_lines               rules, verdicts and simulations
task_lines               the to-dos of each run
trust_lines              what trusting a folder means
waiting_elsewhere_lines  sessions that wait at their own terminal
worktree_lines           a session's worktree: changes, merge question, lost work
"""
