"""A singer: words and notes of a score sung by the speech network.

The network is steered from within: it is told how long each phoneme lasts, how high and how loud every frame is, and so
makes its own transitions between sounds at the pitch and pace of the score.
"""

from engine.sketch.voice.network import SungNetwork
from engine.sketch.voice.script import singable
from engine.sketch.voice.singer import Singer, Sung

__all__ = ["Singer", "Sung", "SungNetwork", "singable"]
