"""Print the apt source of a release's backports, at the mirror that the machine already uses.

Called by setup.sh on Debian 12, whose own Mesa is too old for the simulator. The source that serves the release
itself is copied with all its options (Signed-By, Trusted, Check-Valid-Until ...); only suite and component differ.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_ONE_LINE = re.compile(r"^(?P<head>deb(?:\s+\[[^\]]*\])?\s+\S+)\s+(?P<suite>\S+)\s+(?P<components>.+)$")
_DISABLED = {"no", "false", "without", "off", "disable"}

Stanza = dict[str, str]
"""The fields of one deb822 paragraph, names in lower case, continuation lines kept."""


def parse_deb822(text: str) -> list[Stanza]:
    """Return the paragraphs of a `.sources` file; comment lines are left out."""
    stanzas = []
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines)):
        stanza: Stanza = {}
        name = ""
        for line in paragraph.splitlines():
            if line[:1].isspace() and name:
                stanza[name] += "\n" + line
            elif ":" in line:
                name, value = line.split(":", 1)
                name = name.strip().lower()
                stanza[name] = value.strip()
        if stanza:
            stanzas.append(stanza)
    return stanzas


def parse_one_line(text: str) -> list[Stanza]:
    """Return the binary sources of a `.list` file as deb822 paragraphs."""
    stanzas = []
    for raw in text.splitlines():
        match = _ONE_LINE.match(raw.split("#", 1)[0].strip())
        if not match:
            continue
        kind_options, uri = match["head"].rsplit(None, 1)
        stanza = {"types": "deb", "uris": uri, "suites": match["suite"], "components": match["components"]}
        options = re.search(r"\[([^\]]*)\]", kind_options)
        for option in options[1].split() if options else []:
            name, _, value = option.partition("=")
            stanza[_deb822_name(name)] = value.replace(",", " ")
        stanzas.append(stanza)
    return stanzas


def _deb822_name(option: str) -> str:
    """Return the deb822 field of a one-line option: plural where apt's one-line form has the singular."""
    return {"arch": "architectures", "lang": "languages", "target": "targets"}.get(option, option)


def read_sources(apt_folder: Path) -> Iterator[Stanza]:
    """Yield every enabled binary source below `apt_folder` (/etc/apt), in apt's own order."""
    parts = apt_folder / "sources.list.d"
    files = [apt_folder / "sources.list", *sorted(parts.glob("*.list")), *sorted(parts.glob("*.sources"))]
    for file in files:
        if not file.is_file():
            continue
        parse = parse_deb822 if file.suffix == ".sources" else parse_one_line
        for stanza in parse(file.read_text(encoding="utf-8")):
            enabled = stanza.get("enabled", "yes").lower() not in _DISABLED
            if enabled and "deb" in stanza.get("types", "").split() and stanza.get("uris"):
                yield stanza


def backports_source(sources: list[Stanza], codename: str) -> Stanza | None:
    """Return the source to add for `codename`-backports, or None where it is there already.

    Raises:
        LookupError: no source serves `codename`, so the mirror is unknown.
    """
    suite = f"{codename}-backports"
    if any(suite in source.get("suites", "").split() for source in sources):
        return None
    for source in sources:
        if codename in source.get("suites", "").split() and "main" in source.get("components", "").split():
            return {**source, "types": "deb", "suites": suite, "components": "main"}
    raise LookupError(f"no apt source serves '{codename} main': add '{suite} main' to apt's sources by hand")


def format_deb822(stanza: Stanza) -> str:
    """Return `stanza` as the text of a `.sources` file."""
    return "".join(f"{'URIs' if name == 'uris' else name.title()}: {value}\n" for name, value in stanza.items())


def main() -> int:
    """Print the source to add (nothing where it is there already); exit 1 with one line where none can be made."""
    parser = argparse.ArgumentParser(description="Print the apt source of a release's backports.")
    parser.add_argument("codename", help="the release, e.g. bookworm")
    parser.add_argument("--apt-folder", type=Path, default=Path("/etc/apt"))
    arguments = parser.parse_args()
    try:
        source = backports_source(list(read_sources(arguments.apt_folder)), arguments.codename)
    except LookupError as error:
        print(error, file=sys.stderr)
        return 1
    if source is not None:
        print(format_deb822(source), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
