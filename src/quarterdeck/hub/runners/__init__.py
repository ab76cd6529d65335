"""The runners of the hub: their connections, and calls to them.

machine_registry  the machines as they are now
runner_socket     one connection of a runner
event_intake      registrations, events and views: stored first, then shown
machine_calls     commands and queries to machines
machine_streams   terminals and live text on demand"""
