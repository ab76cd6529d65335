"""Notifications to a person.

notifier   the queue and the thread of each channel
channels   desktop, webhook and push
http_post  one verified POST with a time limit
"""
