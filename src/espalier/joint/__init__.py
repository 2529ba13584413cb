"""Several layers at once: chains over one text or several, labels for pairs of segments, and rules across them.

`JointProblem` says what is asked, `problem.decode()` answers with a certificate.
Models are trained apart and meet here.
"""

from espalier.joint.layers import PairLayer, TextLayer
from espalier.joint.problem import JointProblem

__all__ = ["JointProblem", "PairLayer", "TextLayer"]
