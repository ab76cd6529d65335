"""What leaves a machine: events, views and answers without secrets, and only as much as their project shares.

random_strings  long random strings, and the ids and hashes that only look like them
secret_formats  secrets that are known by their form
secret_labels   secrets that are known by the word before them
secret_remover  removes every secret from text and JSON
share_levels    how much of an event or an answer leaves, by the level of its project"""
