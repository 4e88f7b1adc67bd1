"""Puts the sources of one library into groups that are compiled as one source each.

    unity.py LINES SOURCE...

prints `GROUP SOURCE` for each source, those of a group in the order in which they are compiled. A
group has at most LINES lines. What a source declares for itself, in an anonymous namespace or by
`using`, is seen by the sources behind it: these mention no such name. Sources of neighbouring
folders come together, since they include the same headers.
"""

import re
import sys

BEGIN = "namespace {"
END = "}  // namespace\n"
END_MARK = "} namespace\n"
# Declarations begin in column 0: the sources are formatted by clang-format.
TYPE = re.compile(
    r"^(?:template <[^>]*> )?(?:struct|class|enum class|enum|union|using(?= \w+ =)) (\w+)"
)
FUNCTION = re.compile(r"^[\w\[].*?(\w+)\(")
VALUE = re.compile(r"^(?:inline |static )?(?:constexpr|const) .*?(\w+)(?:\[[^\]]*\])?(?:\{| =|;)")
DIRECTIVE = re.compile(r"^using (?:namespace|enum) [^;]*;", re.M)
DECLARATION = re.compile(r"^using [\w:]+::(\w+);", re.M)
# A name that is looked up in namespaces: behind none of `.`, `->` and `::`.
MENTION = re.compile(r"(?<![.\w:])(?<!->)[A-Za-z_]\w*")
NO_CODE = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')


class Source:
    """A source: its own names, the names that it mentions, its using-directives, and the names that
    its using-declarations bring."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as source:
            text = NO_CODE.sub("", source.read().replace(END, END_MARK))
        lines = text.splitlines()
        self.lines = len(lines)
        self.mentions = set(MENTION.findall(text))
        self.directives = set(DIRECTIVE.findall(text))
        self.imported = set(DECLARATION.findall(text))
        self.names = set()
        inside = False
        for line in lines:
            if line in (BEGIN, END_MARK.strip()):
                inside = line == BEGIN
            elif inside:
                for form in (TYPE, VALUE, FUNCTION):
                    if match := form.match(line):
                        self.names.add(match.group(1))
                        break


class Group:
    """Sources in order, and what they leave to those behind."""

    def __init__(self):
        self.sources = []
        self.lines = 0
        self.names = set()
        self.directives = set()
        self.imported = set()

    def takes(self, source, limit):
        return (
            self.lines + source.lines <= limit
            and self.directives <= source.directives
            and not self.names & source.mentions
            and not self.imported & source.names
        )

    def add(self, source):
        self.sources.append(source)
        self.lines += source.lines
        self.names |= source.names
        self.directives |= source.directives
        self.imported |= source.imported


def main():
    limit = int(sys.argv[1])
    sources = [Source(path) for path in sorted(sys.argv[2:])]
    groups = []
    # From the end of a group a directive reaches only sources that have it too.
    for source in sorted(sources, key=lambda each: len(each.directives)):
        for group in groups:
            if group.takes(source, limit):
                break
        else:
            group = Group()
            groups.append(group)
        group.add(source)
    for index, group in enumerate(groups):
        for source in group.sources:
            print(index, source.path)


main()
