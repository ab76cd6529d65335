"""TLS for other machines: tls."""

from __future__ import annotations

from collections.abc import Iterator

from quarterdeck.cli.common import ConfigFile, Json, Output, command, group, settings
from quarterdeck.config.addresses import is_loopback
from quarterdeck.config.home import home_path, prepare_home
from quarterdeck.daemon.setup.certificates import authority_in, names_of, self_signed

ANYWHERE = "0.0.0.0"  # noqa: S104 only to list the names of this machine

app = group("TLS for other machines.")


@command(app)
def tls(config: ConfigFile = None) -> Output:
    """Make a TLS certificate that a phone can trust."""
    home, runner = home_path(), settings(config).runner
    prepare_home(home)
    host = ANYWHERE if is_loopback(runner.host) else runner.host
    names = names_of(host, runner.hosts)
    folder = home / "tls"
    made = self_signed(folder, names)
    authority = authority_in(folder)
    view = {
        "authority": str(authority.cert),
        "fingerprint": authority.fingerprint(),
        "certificate": str(made.cert),
        "names": names,
        "serves": not is_loopback(runner.host),
        "url": f"https://{names[0]}:{runner.tls_port}",
    }
    return Output(view, tls_lines(view))


def tls_lines(view: Json) -> Iterator[str]:
    """What was made, what to set, and what a phone needs."""
    yield f"Authority    {view['authority']}"
    yield f"SHA-256      {view['fingerprint']}"
    yield f"Certificate  {view['certificate']}, for {', '.join(view['names'])}"
    if not view["serves"]:
        yield "The daemon does not serve other machines yet. In config.yaml, then qd stop and qd up:"
        yield "  runner: {host: 0.0.0.0, tls_self_signed: true}"
    yield ""
    yield f"A phone trusts it once you install the authority: open {view['url']}/authority.crt there (its browser"
    yield "warns once), or send it the file, and compare the SHA-256 above."
    yield "  iPhone, iPad  Settings > Profile Downloaded > Install; then General > About > Certificate Trust Settings"
    yield "  Android       Settings > Security > Encryption & credentials > Install a certificate > CA certificate"
    yield "Without it the page works after the browser's warning; installing it as an app, and push, do not."
    yield "Next: qd pair"
