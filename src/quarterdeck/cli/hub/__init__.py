"""Commands of the hub, and of machines that join one.

hub_commands      every command of the group
hub_group         the group itself
hub_machines      enroll, runners, expel
hub_server        serve
membership        join, status, leave
outgoing_preview  preview"""
