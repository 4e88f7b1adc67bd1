# The parser, generated from grammar/*.g4 by the ANTLR tool and linked into frontend/syntax alone.
