"""What leaves for the hub: events and views, as much as their projects share.

outgoing_events  the rows of the log as they leave
outgoing_views   sessions and requests as they leave
share_policy     how much leaves, by session, request and folder"""
