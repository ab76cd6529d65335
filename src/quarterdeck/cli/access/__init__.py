"""Commands about who may reach Quarterdeck.

devices    pair, devices
local_tls  tls
tokens     tokens, login-url"""
