"""The data model: state, events, requests, rules."""
