"""Puts the sources of one library into groups that are compiled as one source each.

    unity.py LINES SOURCE...

prints `GROUP SOURCE` for each source. A group has at most about LINES lines, and no two of its
sources declare the same name in an anonymous namespace. Sources of neighbouring folders come
together, since they include the same headers.
"""

import re
import sys

BEGIN = "namespace {"
END = "}  // namespace"
# Declarations begin in column 0: the sources are formatted by clang-format.
TYPE = re.compile(
    r"^(?:template <[^>]*> )?(?:struct|class|enum class|enum|union|using(?= \w+ =)) (\w+)"
)
FUNCTION = re.compile(r"^[\w\[].*?(\w+)\(")
VALUE = re.compile(r"^(?:inline |static )?(?:constexpr|const) .*?(\w+)(?:\[[^\]]*\])?(?:\{| =|;)")


def local_names(path):
    """The names that the source declares in its anonymous namespaces."""
    names = set()
    inside = False
    with open(path, encoding="utf-8") as source:
        lines = source.read().splitlines()
    for line in lines:
        if line == BEGIN:
            inside = True
        elif line == END:
            inside = False
        elif inside:
            for form in (TYPE, VALUE, FUNCTION):
                if match := form.match(line):
                    names.add(match.group(1))
                    break
    return names, len(lines)


def main():
    limit = int(sys.argv[1])
    groups = []  # (names, lines) of each
    for path in sorted(sys.argv[2:]):
        names, lines = local_names(path)
        for index, (taken, length) in enumerate(groups):
            if length + lines <= limit and not names & taken:
                break
        else:
            index = len(groups)
            groups.append((set(), 0))
        taken, length = groups[index]
        groups[index] = (taken | names, length + lines)
        print(f"{index} {path}")


main()
