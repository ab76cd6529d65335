"""The API's backend on one machine."""
