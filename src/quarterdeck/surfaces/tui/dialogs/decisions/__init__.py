"""Dialogs that decide a request.

answer      answer questions
form        fill in a form of an MCP server
plan        approve a plan in a mode
edit        edit a tool's input, then allow it
message     the message of a denial or of a stop that is refused
remember    decide, and make a rule of it
batch       decide many requests at once
"""
