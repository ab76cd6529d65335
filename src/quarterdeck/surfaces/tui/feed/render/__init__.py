"""The views of tools: pure functions from an agent's data to lines of styled text.

registry         the table of tool views
tool_view        the view of one tool, and what views share
bash             shell tools
files            tools that read, write, edit and search files
questions        to-dos, questions and plans
diff             changes of a text
json_values      any JSON value
cut_text         agent text made visible and cut: fitting, wrapping, highlighting
"""
