#!/usr/bin/env python3
"""Checks that the links of HTML pages lead to files and places inside of their folder.

    scripts/check_links.py FOLDER

Links to other hosts are not followed. Exit code 1: a link is dead.
"""

import html
import pathlib
import re
import sys

OUTSIDE = re.compile(r"(https?:|mailto:|data:|javascript:)")


def identifiers(page, known={}):
    if page not in known:
        known[page] = set(re.findall(r'\bid="([^"]+)"', page.read_text()))
    return known[page]


def is_alive(page, root, link):
    path, _, place = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or root not in [target, *target.parents]:
        return False
    return not place or target.suffix != ".html" or place in identifiers(target)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    n_links, dead = 0, []
    for page in sorted(root.rglob("*.html")):
        # These repeat other pages or are shown for any address.
        if page.name in ["print.html", "toc.html", "404.html"]:
            continue
        for link in re.findall(r'(?:href|src)="([^"]+)"', page.read_text()):
            link = html.unescape(link)
            if not OUTSIDE.match(link):
                n_links += 1
                if not is_alive(page, root, link):
                    dead.append(f"{page.relative_to(root)}: {link}")
    for line in dead:
        print(f"dead link: {line}", file=sys.stderr)
    print(f"{n_links} links, {len(dead)} dead")
    sys.exit(1 if dead or not n_links else 0)


main()
