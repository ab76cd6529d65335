"""The WebSocket: live updates and commands.

broadcast        batches changes and fans them out
clients          the connected surfaces, and commands to one of them
deck_keys        the keys of a deck, and the terminals of editors
live_source      the source of live updates: of one machine, or of a hub
socket_commands  the commands of clients
subscription     what one connection follows
terminals        streams terminals
text_so_far      the text that agents are writing now
topics           the topics, and the codes of a close
websocket        one connection, from hello to close
ws_messages      every message in both directions, and their JSON Schema"""
