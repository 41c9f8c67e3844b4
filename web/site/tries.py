"""Links to the inspector with a program in them."""


def example(card):
    """The part of a link behind `#` that opens the example of an instruction; None where there is none."""
    return None
