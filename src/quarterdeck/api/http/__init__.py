"""HTTP around the routes: authentication, guard and errors.

agent_block        refuses changes by agents
asgi               ASGI types, security headers, plain responses
attachments        attachments of a prompt, checked
credentials        tokens, scopes and limits
endpoint           the functions behind REST routes and WebSocket commands
error_responses    the error shape, and checks of query and body
guard              Host, Origin, credential and scope, before anything else
pairing_codes      one-time codes that sign in a device, and more rights for one
principal          the caller of an operation
public_origins     the origins that are served, and trusted proxies
resource           the machine of each resource
validation_words   what a validator found, as a sentence"""
