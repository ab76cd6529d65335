"""One step of `reduce`: draft, fold, and the messages in and out."""
