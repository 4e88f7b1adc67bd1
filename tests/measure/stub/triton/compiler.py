import collections

ASTSource = collections.namedtuple("ASTSource", "fn signature constexprs attrs")
