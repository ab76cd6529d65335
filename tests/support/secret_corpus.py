"""Texts with secrets, and innocent texts that look a little like them.

The secrets are made here, from the forms of many services and with fixed seeds: none was ever valid."""

from __future__ import annotations

import random
import string
from typing import NamedTuple

LOWER_HEX = "0123456789abcdef"
BASE62 = string.ascii_letters + string.digits
URLSAFE = BASE62 + "-_"
BASE64 = BASE62 + "+/"
UPPER = string.ascii_uppercase + string.digits


class Secret(NamedTuple):
    """A text, and the part of it that must not leave."""

    text: str
    secret: str


def chars(seed: str, alphabet: str, count: int) -> str:
    """Random characters: always the same for a seed, and with both cases and digits where the alphabet has them."""
    chance = random.Random(seed)
    while True:
        found = "".join(chance.choice(alphabet) for _ in range(count))
        kinds = (str.isdigit, str.islower, str.isupper)
        if all(any(map(kind, found)) for kind in kinds if count >= 12 and any(map(kind, alphabet))):
            return found


def hexed(seed: str, count: int) -> str:
    return chars(seed, LOWER_HEX, count)


def plain(seed: str, count: int) -> str:
    return chars(seed, BASE62, count)


def url(seed: str, count: int) -> str:
    return chars(seed, URLSAFE, count)


def _services() -> dict[str, str]:
    return {
        "anthropic": f"sk-ant-api03-{url('a1', 93)}AA",
        "anthropic admin": f"sk-ant-admin01-{url('a2', 93)}AA",
        "openai": f"sk-{plain('o1', 48)}",
        "openai project": f"sk-proj-{url('o2', 100)}",
        "groq": f"gsk_{plain('gq', 52)}",
        "replicate": f"r8_{plain('rp', 37)}",
        "hugging face": f"hf_{plain('hf', 34)}",
        "xai": f"xai-{plain('xa', 80)}",
        "perplexity": f"pplx-{plain('px', 48)}",
        "github": f"ghp_{plain('g1', 36)}",
        "github oauth": f"gho_{plain('g2', 36)}",
        "github user": f"ghu_{plain('g3', 36)}",
        "github server": f"ghs_{plain('g4', 36)}",
        "github refresh": f"ghr_{plain('g5', 36)}",
        "github fine": f"github_pat_{plain('g6', 22)}_{plain('g7', 59)}",
        "gitlab": f"glpat-{url('gl', 20)}",
        "gitlab deploy": f"gldt-{url('gd', 20)}",
        "gitlab runner": f"glrt-{url('gr', 20)}",
        "npm": f"npm_{plain('np', 36)}",
        "pypi": f"pypi-AgEIcHlwaS5vcmc{url('pp', 60)}",
        "rubygems": f"rubygems_{hexed('rg', 48)}",
        "docker": f"dckr_pat_{url('dk', 27)}",
        "atlassian": f"ATATT3xFfGF0{url('at', 60)}",
        "figma": f"figd_{url('fg', 40)}",
        "buildkite": f"bkua_{hexed('bk', 40)}",
        "sourcegraph": f"sgp_{hexed('sg', 40)}",
        "aws id": f"AKIA{chars('aw', UPPER, 16)}",
        "aws temporary id": f"ASIA{chars('as', UPPER, 16)}",
        "google api": f"AIza{url('ga', 35)}",
        "google client": f"GOCSPX-{url('gc', 28)}",
        "google access": f"ya29.{url('gy', 60)}",
        "digitalocean": f"dop_v1_{hexed('do', 64)}",
        "databricks": f"dapi{hexed('db', 32)}",
        "vault": f"hvs.{url('hv', 24)}",
        "terraform": f"{plain('tf', 14)}.atlasv1.{url('tg', 60)}",
        "pulumi": f"pul-{hexed('pu', 40)}",
        "tailscale": f"tskey-auth-{plain('ts', 12)}-{plain('tt', 32)}",
        "netlify": f"nfp_{plain('nf', 36)}",
        "supabase": f"sbp_{hexed('sb', 40)}",
        "planetscale": f"pscale_tkn_{url('ps', 43)}",
        "doppler": f"dp.pt.{plain('dp', 43)}",
        "stripe": f"sk_live_{plain('s1', 24)}",
        "stripe test": f"sk_test_{plain('s2', 24)}",
        "stripe restricted": f"rk_live_{plain('s3', 24)}",
        "stripe webhook": f"whsec_{plain('s4', 32)}",
        "slack bot": f"xoxb-{chars('x1', string.digits, 12)}-{chars('x2', string.digits, 12)}-{plain('x3', 24)}",
        "slack user": f"xoxp-{chars('x4', string.digits, 12)}-{hexed('x5', 32)}",
        "slack app": f"xapp-1-A{chars('x6', UPPER, 10)}-{chars('x7', string.digits, 13)}-{hexed('x8', 64)}",
        "sendgrid": f"SG.{url('sd', 22)}.{url('se', 43)}",
        "mailgun": f"key-{hexed('mg', 32)}",
        "twilio": f"SK{hexed('tw', 32)}",
        "square": f"sq0atp-{url('sq', 22)}",
        "shopify": f"shpat_{hexed('sh', 32)}",
        "telegram": f"{chars('t1', '123456789', 9)}:AA{url('t2', 33)}",
        "discord": f"MT{plain('d1', 22)}.{plain('d2', 6)}.{url('d3', 38)}",
        "grafana": f"glsa_{plain('gf', 32)}_{hexed('gh', 8)}",
        "grafana cloud": f"glc_{plain('gk', 60)}",
        "new relic": f"NRAK-{chars('nr', UPPER, 27)}",
        "sentry": f"sntrys_{plain('sn', 60)}",
        "posthog": f"phc_{plain('ph', 43)}",
        "postman": f"PMAK-{hexed('pm', 24)}-{hexed('pn', 34)}",
        "airtable": f"pat{plain('ai', 14)}.{hexed('aj', 64)}",
        "linear": f"lin_api_{plain('li', 40)}",
        "notion": f"ntn_{plain('no', 46)}",
        "age": f"AGE-SECRET-KEY-1{chars('ag', UPPER, 58)}",
        "quarterdeck": f"qdt_{url('qd', 43)}",
        "jwt": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIi{url('jw', 40)}.{url('jx', 43)}",
        "unknown base62": plain("u1", 40),
        "unknown base64": chars("u2", BASE64, 43) + "=",
        "unknown short": plain("u3", 24),
        "unknown url": url("u4", 43),
    }


SERVICES = _services()
FRAMES = (
    "{}",
    "export SERVICE={}",
    "curl -H 'X-Thing: {}' https://api.example.org/v1/things",
    'config = {{"value": "{}", "retries": 3}}',
    "first line\nthen {} and more text\nlast line",
)
PASSWORDS = ("hunter2hunter", "Tr0ub4dor&3", "p@ssw0rd!", "S3cr3t-2024", "xK9#mQ2$vL", "correct-horse-7-battery")
LABELS = (
    "PASSWORD={}",
    "DB_PASSWORD='{}'",
    "password: {}",
    '"password": "{}"',
    "export MYSQL_PWD={}",
    "--password {}",
    "--password={}",
    'client_secret = "{}"',
    "api_key: {}",
    "apiKey: '{}'",
    "X-Api-Key: {}",
    "ACCESS_TOKEN={}",
    "auth_token={}&page=2",
    "Authorization: Bearer {}",
    "PGPASSWORD={} psql -h db.example.org",
    "postgres://admin:{}@db.example.org:5432/shop",
    "curl -u admin:{} https://example.org",
    "machine example.org login ann password {}",
    "sshpass -p '{}' ssh ann@example.org",
    "mysql -u root -p{} shop",
)
PEM = "-----BEGIN {0}PRIVATE KEY-----\n{1}\n-----END {0}PRIVATE KEY-----"


def secrets() -> list[Secret]:
    """Every text with a secret."""
    found = [Secret(frame.format(token), token) for token in SERVICES.values() for frame in FRAMES]
    for label in LABELS:
        is_address = "://" in label or "Bearer" in label or "&" in label
        values = ("hunter2hunter", "S3cr3t-2024") if is_address else PASSWORDS
        found += [Secret(label.format(value), value) for value in values if "Bearer" not in label or len(value) >= 12]
    for kind in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "):
        key = "\n".join(chars(f"{kind}{n}", BASE64, 64) for n in range(3))
        found += [Secret(f"cat id\n{PEM.format(kind, key)}\ndone", key), Secret(PEM.format(kind, key)[:150], key[:60])]
    slack = f"T{chars('h1', UPPER, 8)}/B{chars('h2', UPPER, 8)}/{chars('h3', BASE62, 24)}"
    found.append(Secret(f"POST https://hooks.slack.com/services/{slack} now", slack))
    return found


INNOCENT = (
    # hashes, ids and versions
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "git checkout 4b825dc642cb6eb9a060e54bf8d69288fbee4904 -- src",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "docker pull nginx@sha256:0d17b565c37bcbd895e9d92315a05c1c3c9a29f762b011a10c54a66cd53c9b31",
    '"integrity": "sha512-4jxSG/T6C1DhlXh1T0K4+Yx0eYd9jHPOEj1ikb3bk2lRZtIBZs0VzlqtV3P2Yc4dSh2kJ7rCq0v5nR8mXwz1Ow=="',
    "golang.org/x/sys v0.15.0 h1:h48lPFYpsTvQJZF4EKyI4aLHaev3CxivZmv7yZig9pc=",
    "5bcc959a-1f0e-4c7b-9a51-0e9b7e2c6d11",
    "session 5BCC959A-1F0E-4C7B-9A51-0E9B7E2C6D11 ended",
    "toolu_01A09q90qw90lq917835lq9AbC",
    "msg_01XFDUDYJgAACzvnptvVoYEL",
    "req_011CSHoEeqs5C35K2UUqR7Fy",
    "chatcmpl-9pXyZq0aBcDeFgHiJkLmNoPqRsTu1",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7vbqajDw4o6gJy8UtmIbkcpnkO3Kwc4qsEnSZp ann@example.org",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl ann@example.org",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "version 1.2.3-rc.4+build.2024.11.19",
    "quarterdeck-0.2.0-py3-none-any.whl",
    "2024-11-19T23:26:43.123456+00:00",
    "fe80::1ff:fe23:4567:890a%eth0",
    "00:1B:44:11:3A:B7",
    "+49 30 901820 and 555-0100",
    "0x7ffee4c0a8b0 at 0000000000401136",
    # words about secrets
    "the token is required",
    "password: required",
    "Password: ",
    "Enter your password and press Enter",
    "secret: string",
    "token: str | None = None",
    "def login(user: str, password: str) -> Token:",
    "password = getpass.getpass('Password: ')",
    "password = os.environ['DB_PASSWORD']",
    "token = request.headers.get('Authorization')",
    "const token = process.env.GITHUB_TOKEN;",
    "apiKey: process.env.API_KEY,",
    "api_key = settings.api_key",
    "secret_key = config['secret_key']",
    "if token is None: raise ValueError('no token')",
    "TOKEN=$GITHUB_TOKEN make release",
    "export API_KEY=${API_KEY:-}",
    "password: ${{ secrets.DB_PASSWORD }}",
    "password: <your password>",
    "PASSWORD=changeme",
    "password=********",
    "token: xxxxxxxxxxxx",
    "api_key: YOUR_API_KEY",
    "--token-file ~/.config/token",
    "--password-file /run/secrets/db",
    "input_tokens: 1234, output_tokens: 567",
    '{"input_tokens": 1234, "cache_read_tokens": 98765}',
    "max_tokens=4096",
    "tokens: 1,234,567",
    "usage: 12.5k tokens",
    "token_count = len(tokens)",
    "the secret of a good test is a good name",
    "git commit -m 'auth: refuse an expired token'",
    "grep -rn 'password' src/",
    "author: Ada Lovelace",
    "authorization failed for user ann",
    "Authorization: Basic realm",
    "basic authentication is off",
    "bearer of bad news",
    "the key insight: keys are sorted",
    "primary_key=True",
    "foreign_key: user_id",
    "sort_key = lambda row: row.at",
    "cookie: enabled",
    "pin: 42 is the GPIO pin",
    "Press any key to continue",
    "monkeypatch the tokenizer",
    "passed: 120, failed: 0, skipped: 3",
    "bypass the cache, then compass and passage",
    "keyboard: Ctrl-C, keypad: 9",
    "assert token == expected",
    "return self.token",
    "yield from tokens",
    "Tokenizer(vocab_size=32000)",
    "import secrets",
    "secrets.token_urlsafe(32)",
    "hashlib.sha256(secret).hexdigest()",
    "keyring.get_password('service', 'ann')",
    "kubectl get secret db -o yaml",
    "vault kv get -field=value secret/data/db",
    "pass insert mail/ann",
    "ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519",
    "openssl rand -hex 32 > token",
    "curl -u ann: https://example.org",
    "curl --user-agent Mozilla/5.0 https://example.org",
    "docker run -u 1000:1000 nginx",
    "mkdir -p build/output",
    "mysql --print-defaults",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----",
    # paths, addresses and names
    "/home/ann/projects/shop/src/components/CheckoutForm/CheckoutForm.test.tsx",
    "src/components/MyComponent/VeryLongComponentNameWithManyWords2/index.tsx",
    "C:\\Users\\Ann\\AppData\\Local\\Programs\\Python\\Python311",
    "/usr/lib/python3.11/site-packages/Quarterdeck2Client/__init__.py",
    "node_modules/@babel/plugin-transform-modules-commonjs/lib/index.js",
    "dist/assets/index-BwX3kQ9z.js",
    "https://example.org/docs/v2/GettingStarted?page=2#Section3",
    "https://github.com/ann/shop/pull/1234/files#diff-9fceb02d0ae598e95dc970b74767f19372d61af8",
    "https://ann@example.org/repo.git",
    "git@github.com:ann/shop.git",
    "ssh://git@example.org:2222/shop.git",
    "http://localhost:8080/api/v1/sessions?limit=200",
    "postgres://localhost:5432/shop",
    "redis://cache.example.org:6379/0",
    "mailto:ann@example.org",
    "s3://bucket-name/path/to/object-2024-11-19.tar.gz",
    "com.example.shop.checkout.PaymentServiceImplementationFactory2",
    "NSURLSessionConfigurationDelegateProtocol2Impl",
    "XMLHttpRequestEventTargetWithCredentials3",
    "test_a_person_decides_and_the_late_deadline_changes_nothing_2",
    "QUARTERDECK_HUB_RECONNECT_INITIAL_SECONDS",
    "MAX_DECOMPRESSED_MESSAGE_SIZE_IN_BYTES_V2",
    "feature/login-page-redesign-2024-with-long-name",
    "my-very-long-kebab-case-identifier-with-7-parts",
    "aVeryLongCamelCaseIdentifierThatNobodyWouldEverWrite1",
    "registry.example.org/team/service-name:2024.11.19-build.42",
    "arn:aws:iam::123456789012:role/DeployRole",
    "projects/my-project-123456/locations/europe-west1/clusters/main",
    "pod/shop-checkout-7d9f8b6c5d-x2v4q",
    "i-0abcd1234efgh5678 and vpc-0a1b2c3d4e5f67890",
    # code and prose
    "for i in range(10): print(i)",
    "SELECT id, name FROM users WHERE created_at > '2024-01-01' ORDER BY id LIMIT 100",
    "SELECT password_hash FROM users",
    "ALTER TABLE users ADD COLUMN token_id TEXT",
    "{'name': 'shop', 'version': '1.0.0', 'private': True}",
    "const { data, error } = await client.from('orders').select('*');",
    'fn main() { println!("Hello, world!"); }',
    "x = 3.14159265358979323846264338327950288419716939937510",
    "12345678901234567890123456789012345678901234567890",
    "ffffffffffffffffffffffffffffffffffffffff",
    "abcdefghijklmnopqrstuvwxyz0123456789",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "==================================================",
    "+--------------------------+--------------------+",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "日本語のテキストはそのまま残ります",
    "Ошибка: файл не найден",
    "🎉 All 42 tests passed in 3.14 s",
    'Traceback (most recent call last):\n  File "app.py", line 3, in <module>',
    "warning: unused variable: `tokens`",
    "error[E0382]: borrow of moved value: `secret`",
    "npm ERR! code ERESOLVE",
    "Downloading torch-2.1.0-cp311-cp311-manylinux1_x86_64.whl (670.2 MB)",
    "HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 1234",
    "Set-Cookie is a header",
    'ETag: W/"33a64df551425fcc55e4d42a148795d9f25f89d4"',
    "Last-Modified: Tue, 19 Nov 2024 23:26:43 GMT",
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LS_COLORS=rs=0:di=01;34:ln=01;36:mh=00:pi=40;33",
    "SSH_AUTH_SOCK=/tmp/ssh-XXXXXXabcdef/agent.1234",
    "AWS_REGION=eu-central-1",
    "KEYBOARD=de",
    "PASSWORD_MIN_LENGTH=12",
    "TOKEN_TTL_SECONDS=3600",
    "SECRET_NAME=db-credentials",
    "USE_AUTH=true",
    "cd /tmp && make test",
    "rm -rf build dist *.egg-info",
    "git push --force origin feature/login",
    "tar -xzf archive.tar.gz -C /opt",
    "find . -name '*.py' -newer setup.cfg -print0 | xargs -0 wc -l",
    "awk -F: '{print $1}' /etc/passwd",
    "cat /etc/passwd | head",
    "sed -i 's/foo/bar/g' file.txt",
    "ps aux | grep -v grep",
    "python -m pytest tests/unit -x -q",
    "uv pip install -e '.[sdk]'",
    "base64 -d file.b64 > file",
    "jq '.tokens | length' usage.json",
    "echo done",
    "No changes.",
    "Done in 12.3s.",
    "a",
    "",
)


def innocent() -> list[str]:
    """Every innocent text."""
    made = [f"commit {chars(f'c{n}', LOWER_HEX, 40)}" for n in range(15)]
    made += [f"sha256:{chars(f'd{n}', LOWER_HEX, 64)}" for n in range(10)]
    made += [f"line {n}: value = items[{n}] + offset_{n} * 2" for n in range(5)]
    return [*INNOCENT, *made]
