"""The API of a hub: the operations of a daemon's, for many machines.

hub_routes    every route
hub_endpoint  endpoints that the hub carries out itself
hub_lists     sessions, requests, feed and audit of all machines
machine_routes  machines: listed, enrolled, expelled; decisions on several
rule_routes   rules of the hub, and of machines
forwarded     operations that a machine carries out"""
