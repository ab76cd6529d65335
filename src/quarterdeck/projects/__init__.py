"""This machine's projects.

catalog      the list of projects
git_read     git commands that read
git_write    git commands that write
inspector    one project folder
scanner      finding project folders
watch_plan   the folders to watch
watcher      watching them
worktrees    worktrees for sessions
"""
