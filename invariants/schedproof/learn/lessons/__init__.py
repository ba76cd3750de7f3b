"""The exercises of the ten lessons: what each asks for, and whether an answer does it.

learn.lesson(3)              # what lesson 3 asks for
learn.lesson(3, run)         # whether this answers it, and why not
"""
