"""Quarterdeck as a service of the user: started at login, and again after a crash.

launchd             launchd, on macOS
missing_variables   variables that a shell has and the service lacks
own_manager         the service manager of this machine
service_files       the service as data, and as the file of each service manager
service_manager     the interface of a service manager, and what it says of the service
systemd             the systemd user manager, on Linux
"""
