"""The audit as text: who decided and changed what, without credentials.

audit_row      an event as a row of the audit
audit_subject  one line about an audited event
redaction      removes credentials from text
"""
