"""General widgets and the look of the terminal UI.

footer         the bottom line: the last message and the keys
inputs         inputs of one line and of several
item_view      items of one or more rows, with a cursor
output_filter  removes control and hidden characters, and colours under NO_COLOR
status_line    the last message and how long it is shown
table          a table with a cursor
text_view      scrolling styled text
themes         the three themes
titled_pane    a pane whose title shows the focus
"""
