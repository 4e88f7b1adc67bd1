"""Lay in notebooks: `%load_ext lay`, then cells that begin with `%%lay` and lines with `%lay`.

    %%lay
    let a = (4,2):(1,4)
    a o 2:4

The names of the cells stay in force, what they print is printed, and the value of the last
expression is the cell's: a layout shows as its picture. `%lay -r` forgets all names.
"""

from ._objects import LayError, Program


class _Session:
    def __init__(self):
        self.program = Program(folder=".")

    def line(self, line):
        """The value of an expression."""
        if line.strip() == "-r":
            self.program = Program(folder=".")
            return None
        return self.program.evaluate(line)

    def cell(self, line, cell):
        """Runs the text; the value of its last statement, where that is an expression."""
        try:
            self.program.run(cell, "<cell>")
        except LayError as error:
            print(error)
            return None
        statements = self.program.statements()
        last = statements[-1] if statements else {}
        if last.get("names") or last.get("value", {}).get("kind", "unit") == "unit":
            return None
        # Text that Lay prints of a value reads back to it; of arrays it shows the first elements.
        text = last["value"].get("text", "")
        try:
            return self.program.evaluate(text)
        except LayError:
            return text


def load_ipython_extension(ipython):
    session = _Session()

    def lay(line, cell=None):
        return session.line(line) if cell is None else session.cell(line, cell)

    ipython.register_magic_function(lay, "line_cell", "lay")
