"""Predicates as users write them, in a module of their own."""


def one_sided(r, _):
    return (r.key < 3) | (r.key == 7)


def always(*_):
    return True
