"""What each agent says on its wire, and how it is answered; pure."""
