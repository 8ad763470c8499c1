"""`ros2 pkg`: installed packages."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..packages import executables, package_names, package_prefix, package_share
from ..subverbs import Subverb, run_subverb


def main(arguments: Sequence[str]) -> int:
    """Run the verb."""
    return run_subverb("ros2 pkg", _SUBVERBS, arguments)


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    return


def _list(options: argparse.Namespace) -> None:
    print(*package_names(), sep="\n")


def _add_prefix_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("package_name", help="the package")
    parser.add_argument("--share", action="store_true", help="print the share folder instead")


def _prefix(options: argparse.Namespace) -> None:
    print(package_share(options.package_name) if options.share else package_prefix(options.package_name))


def _add_executables_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("package_name", nargs="?", help="the package (default: all)")
    parser.add_argument("--full-path", action="store_true", help="print paths")


def _executables(options: argparse.Namespace) -> None:
    packages = package_names() if options.package_name is None else [options.package_name]
    for package in packages:
        for path in executables(package):
            print(path if options.full_path else f"{package} {path.name}")


_SUBVERBS = {
    "list": Subverb("List the packages", _no_arguments, _list),
    "prefix": Subverb("Print the prefix of a package", _add_prefix_arguments, _prefix),
    "executables": Subverb("List the executables of packages", _add_executables_arguments, _executables),
}
