"""What is said in measurements of speech and transcription; none of it stands in an example."""

from typing import Final

PARAGRAPHS: Final = (
    "The harbor office opens before sunrise, and by then the first boats have already turned around the lighthouse. "
    "A woman in a yellow coat counts crates of mackerel while her brother argues with the driver of a small truck.",
    "Nobody in the village remembers who planted the walnut trees along the canal. They lean a little towards the water, "
    "and every October children arrive with buckets, gloves and enormous patience.",
    "My neighbor repairs violins in a workshop that used to be a bakery. The oven is still there, behind a curtain, and he "
    "claims that the dry heat of its bricks keeps the thin spruce from cracking during winter.",
    "Scientists have followed the same family of whales for eleven summers. They know the mothers by the notches in their "
    "tails, and they can tell from the pattern of clicks which group is passing beneath the vessel.",
    "Please leave the parcel with the porter if I am not at home. The blue door sticks when it rains, so push firmly, and "
    "do not let the old dog convince you that he has been forgotten.",
    "After the storm, the electricity company sent two engineers across the valley on foot. They carried copper cable, a "
    "folding ladder and a bag of sandwiches, and by midnight every kitchen window was glowing again.",
    "The recipe looks simple: warm the milk slowly, stir in the saffron, and wait until the surface trembles. What the book "
    "does not mention is how quickly a distracted cook can ruin it.",
    "In the museum there is a clock that strikes thirteen. Visitors laugh, guards pretend not to hear, and the curator "
    "insists that it has been perfectly correct exactly once, during an eclipse.",
    "We walked through the narrow streets until the music grew louder than the traffic. Someone had pushed three pianos "
    "into the square, and strangers were playing together as though they had rehearsed for weeks.",
)
TALK: Final = "\n\n".join(PARAGRAPHS)
PHRASES: Final = (
    "Good morning, everyone.",
    "The ladder is too short.",
    "Bring another lantern.",
    "Who painted this ceiling?",
    "Nine gulls followed the ferry.",
    "Please close the gate.",
    "The soup needs pepper.",
    "That was our station.",
)
