"""Secrets that are known by their form: the tokens of services, keys in PEM, passwords in addresses."""

from __future__ import annotations

import re

_PREFIXED = (
    # models
    r"sk-[A-Za-z0-9_-]{16,}",
    r"(?:gsk|r8|hf|xai|pplx|fw|tgp_v1|nvapi|jina|voyage)[_-][A-Za-z0-9_-]{16,}",
    # code and packages
    r"gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}",
    r"gl(?:pat|ptt|dt|rt|cbt|ft|imt|agent|soat)-[A-Za-z0-9_=.-]{16,}",
    r"npm_[A-Za-z0-9]{20,}|pypi-[A-Za-z0-9_-]{16,}|rubygems_[a-f0-9]{20,}|CLOJARS_[a-z0-9]{20,}",
    r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{16,}|ATATT3[A-Za-z0-9_=-]{16,}|ATBB[A-Za-z0-9]{20,}|figd_[A-Za-z0-9_-]{16,}",
    r"CCIP(?:AT|RJ)_[A-Za-z0-9_]{16,}|bk(?:ua|ct)_[a-f0-9]{20,}|sgp_[A-Fa-f0-9_]{30,}",
    r"sonarqube_[a-z0-9]{20,}|sq[pua]_[a-f0-9]{30,}",
    # clouds and hosts
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])",
    r"AIza[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{16,}|ya29\.[A-Za-z0-9_-]{16,}|1//0[A-Za-z0-9_-]{30,}",
    r"do[opr]_v1_[a-f0-9]{32,}|dapi[a-f0-9]{32}|hvs\.[A-Za-z0-9_-]{16,}|hvb\.[A-Za-z0-9_-]{16,}",
    r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}|pul-[a-f0-9]{32,}|tskey-[a-z]+-[A-Za-z0-9-]{16,}",
    r"FlyV1 [A-Za-z0-9_=,+/-]{30,}|fo1_[A-Za-z0-9_-]{20,}|nfp_[A-Za-z0-9]{20,}|sb[ps]_[A-Za-z0-9_]{20,}",
    r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{16,}|dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{20,}",
    r"LTAI[A-Za-z0-9]{16,}|AKID[A-Za-z0-9]{20,}|ops_eyJ[A-Za-z0-9_-]{30,}|v1\.0-[a-f0-9]{20,}-[a-f0-9]{40,}",
    # money, mail and messages
    r"[srp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|xoxe\.[A-Za-z0-9.-]{16,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|key-[a-f0-9]{32}|xkeysib-[a-f0-9-]{30,}|re_[A-Za-z0-9_]{20,}",
    r"(?:SK|AC)[a-f0-9]{32}(?![a-f0-9])|sq0[a-z]{3}-[A-Za-z0-9_-]{16,}|EAAA[A-Za-z0-9_-]{40,}",
    r"shp(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{20,}|access_token\$(?:production|sandbox)\$[a-z0-9]{10,}\$[a-f0-9]{20,}",
    r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}|[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
    r"EAACEdEose0cBA[A-Za-z0-9]+|EAA[A-Z][A-Za-z0-9]{60,}",
    # watching and data
    r"gl(?:c|sa)_[A-Za-z0-9_+/=]{20,}|NR(?:AK|JS|II|AL)-[A-Za-z0-9]{16,}|sntry[su]_[A-Za-z0-9_+/=-]{20,}",
    r"ph[cx]_[A-Za-z0-9]{20,}|PMAK-[a-f0-9-]{30,}|pat[A-Za-z0-9]{14}\.[a-f0-9]{40,}|lin_(?:api|oauth)_[A-Za-z0-9]{20,}",
    r"(?:ntn|secret)_[A-Za-z0-9]{30,}|[sp]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{10,}|sl\.[A-Za-z0-9_-]{60,}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{20,}|duffel_(?:test|live)_[A-Za-z0-9_-]{30,}|shippo_(?:live|test)_[a-f0-9]{30,}",
    r"ddp?_[A-Za-z0-9]{34,}|dt0[a-z]01\.[A-Z0-9]{20,}\.[A-Z0-9]{40,}|ory_(?:at|pat|rt|st)_[A-Za-z0-9_-]{20,}",
    # Quarterdeck
    r"qd[a-z]{0,2}_[A-Za-z0-9_-]{20,}",
)
TOKENS = re.compile(r"(?<![A-Za-z0-9_./-])(?:" + "|".join(_PREFIXED) + r")")
"""Tokens of services, each with the beginning that its service gives it."""

JWT = re.compile(
    r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?|\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){4}"
)
PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
    r"|PuTTY-User-Key-File-[0-9]:.*?(?:Private-MAC: [0-9a-f]+|\Z)",
    re.DOTALL,
)
"""A private key. One whose end is cut off is one as well."""

ADDRESS = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^\s/:@'\"<>]{0,100}:)([^\s/@'\"<>]{1,300})(?=@)")
"""A password in an address; the name before it stays."""

HOOK_ADDRESS = re.compile(
    r"(https://(?:hooks\.slack\.com/(?:services|workflows)/|(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/\d+/"
    r"|[a-z0-9.-]+\.webhook\.office\.com/webhookb2/|chat\.googleapis\.com/v1/spaces/))[^\s'\"<>]+"
)
"""An address that is itself the permission to post."""

CHUNK = re.compile(r"[A-Za-z0-9+/_=.~$-]{14,}")
"""Text without a break, long enough to be a token of a service."""


def without_tokens(text: str, mark: str) -> str:
    """The text with every token of a service replaced."""
    return TOKENS.sub(mark, JWT.sub(mark, text))


def without_keys_and_addresses(text: str, mark: str, found: list[str] | None = None) -> str:
    """The text with every private key, every password in an address and every secret address replaced. `found`
    receives the passwords."""

    def hide(match: re.Match[str]) -> str:
        if found is not None:
            found.append(match[2])
        return match[1] + mark

    text = PEM.sub(mark, text)
    text = HOOK_ADDRESS.sub(lambda match: match[1] + mark, text)
    return ADDRESS.sub(hide, text)
