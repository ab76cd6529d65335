"""How each tool is shown: pure functions from what an agent said to lines of styled text."""
