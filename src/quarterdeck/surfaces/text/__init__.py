"""User-facing texts that every surface uses.

audit_labels         actions and actors of the audit
charts               bars and sparklines
labels               states, times, and outcomes of requests
person_commands      the commands of a person on one session
project_config_text  a project's own config as lines
session_order        the order of sessions in lists
stop_labels          stopping several sessions at once
usage_table          what was used, by day, project, model or agent
waiting_elsewhere    sessions that wait at their own terminals"""
