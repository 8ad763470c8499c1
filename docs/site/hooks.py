"""What the site has beside the pages of docs/: the README as its beginning, the reference, files that pages link.

Pages keep the links that they have on a forge. Here one to a file outside of docs/ leads to a page that shows the file.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from pathlib import Path

import mkdocs
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "build/site/reference"
ASSETS = Path(__file__).parent / "assets"
FONTS = Path(mkdocs.__file__).parent / "themes/readthedocs/css/fonts"
_LINK = re.compile(r"(?<=\]\()(?!https?://|#|mailto:)([^)#\s]+)")
_CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_LOADED = re.compile(r"<(?:link|script|img|iframe|source|video)\b[^>]*?\b(?:href|src)=\"?((?:https?:)?//[^\s\">]+)")
_STYLED = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\s\"')]+)")
_SHOWN_BYTES = 200_000


def in_site(path: str) -> str:
    """Where the file at a path of the repository is in the site."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"repository/{path}" if path.endswith(".md") else f"repository/{path}.md"


def with_links(text: str, path: str) -> str:
    """A Markdown text of the repository with its links as the site has them."""

    def moved(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))
        if not (ROOT / target).exists():
            raise PluginError(f"{path} links {match[1]}, and there is no such file")
        place = in_site(target)
        if target.startswith("docs/") and not (ROOT / target).is_file():
            raise PluginError(f"{path} links the folder {target}")
        return posixpath.relpath(place, posixpath.dirname(in_site(path)) or ".")

    parts = _CODE.split(text)
    parts[::2] = [_LINK.sub(moved, part) for part in parts[::2]]
    # A link whose text is code is cut by the code: sew the ends together.
    return re.sub(r"(?<=`\]\()(?!https?://|#)([^)#\s]+)", lambda match: match[1], "".join(parts))


def linked(text: str, path: str) -> set[str]:
    """The files outside of docs/ that a Markdown text of the repository links."""
    found = {posixpath.normpath(posixpath.join(posixpath.dirname(path), link)) for link in _LINK.findall(_prose(text))}
    return {one for one in found if not one.startswith("docs/") and one != "README.md"}


def _prose(text: str) -> str:
    return "".join(_CODE.split(text)[::2])


def shown(path: str) -> str:
    """The page that shows a file or a folder of the repository."""
    place = ROOT / path
    if place.is_dir():
        names = sorted(one.name + ("/" if one.is_dir() else "") for one in place.iterdir() if one.name[0] not in "._")
        return f"# {path}\n\n" + "\n".join(f"- `{name}`" for name in names) + "\n"
    if path.endswith(".md"):
        return with_links(place.read_text(), path)
    if place.stat().st_size > _SHOWN_BYTES:
        return f"# {path}\n\nA file of {place.stat().st_size} bytes in the repository.\n"
    language = {".py": "python", ".yaml": "yaml", ".toml": "toml", ".json": "json"}.get(place.suffix, "text")
    return f"# {path}\n\n~~~~~{language}\n{place.read_text()}\n~~~~~\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is not in docs/."""
    if not (REFERENCE / "topics.md").is_file():
        raise PluginError("the reference is not written yet: run docs/site/build")
    texts = {f"docs/{one.src_uri}": one.content_string for one in files.documentation_pages()}
    texts["README.md"] = (ROOT / "README.md").read_text()
    todo, known = list(texts), set(texts)
    while todo:
        path = todo.pop()
        text = texts.get(path) or ((ROOT / path).read_text() if path.endswith(".md") else "")
        new = linked(text, path) - known
        known |= new
        todo += new
    for path in sorted(known - {one for one in known if one.startswith("docs/")}):
        if not (ROOT / path).exists():
            raise PluginError(f"a page links {path}, and there is no such file")
        content = with_links(texts[path], path) if path in texts else shown(path)
        for old in [one for one in files if one.src_uri.startswith("docs/") and one.src_uri == in_site(path)]:
            files.remove(old)
        files.append(File.generated(config, in_site(path), content=content))
    for page in sorted(REFERENCE.rglob("*.md")):
        place = f"reference/{page.relative_to(REFERENCE).as_posix()}"
        files.append(File.generated(config, place, content=page.read_text()))
    for asset in (*ASSETS.glob("*.css"), *ASSETS.glob("mermaid*"), *FONTS.glob("lato-*.woff2")):
        files.append(File.generated(config, f"assets/site/{asset.name}", abs_src_path=str(asset)))
    files.append(File.generated(config, "assets/site/iframe-worker.js", content=_worker()))
    return files


def _worker() -> str:
    import material

    (source,) = (Path(material.__file__).parent / "templates/assets/javascripts/workers").glob("search.*.min.js")
    return (ASSETS / "iframe-worker.js").read_text().replace("SOURCE]", json.dumps(source.read_text()) + "]")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links of docs/ lead to where the site has what they name."""
    inside = page.file.generated_by is None
    return with_links(markdown, f"docs/{page.file.src_uri}") if inside else markdown


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a page or a style that would ask another host for something."""
    asked = {
        f"{path.relative_to(config.site_dir)}: {address}"
        for pattern, kind in (("*.html", _LOADED), ("*.css", _STYLED))
        for path in Path(config.site_dir).rglob(pattern)
        for address in kind.findall(path.read_text())
    }
    if asked:
        raise PluginError("these pages ask other hosts:\n" + "\n".join(sorted(asked)))
    os.utime(config.site_dir)
