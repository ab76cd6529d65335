"""One step of `reduce`: draft, fold, and the messages in and out.

messages           inputs and effects
input_bases        what inputs have in common
session_messages   inputs and effects of owned sessions
step               what one input does: the events it records and its effects
draft              a state being written
fold               how a feed event changes the state
folds              the same, by what the event is about
deck_layout        the keys of the deck, as its file gives them
deck_messages      inputs and effects of the key deck
runs               opening a run; `Step.end_run` closes it
prompt_queue       prompts that wait for earlier turns
session_identity   owned sessions whose agent changed its id
"""
