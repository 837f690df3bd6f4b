"""A vocabulary looked into: `table` searches it, `audit` weighs it, `pruning` makes it smaller.

`derivation` and `prefixes` are the two trees its tokens stand in, `provenance` the training text
they come from, and `reachability` tells which of them any text encodes to.
"""
