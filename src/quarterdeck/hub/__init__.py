"""The hub: the events, sessions and requests of many machines in one place.

app          one hub from start to stop
hub_backend  what its API serves
hub_health   its status and numbers
hub_home     its files
hub_tokens   tokens of people and their devices
common_rules  rules for every machine
shown_views  live sessions and pending requests of all machines
routes       the API of a hub
runners      the connections of runners, and calls to them
store        the store of the hub
"""
