"""Texts to be said and understood again, of words that no other text in this repository is made of."""

from typing import Final

LISTENED: Final = """
The gardener carried three wooden buckets across the muddy field before breakfast. His neighbor, a retired surgeon with
thick glasses, was already repairing the broken fence beside the orchard.

"You should rest your shoulder," she shouted, waving a rusty hammer. "The weather office promised heavy rain tonight, and
neither of us enjoys working in a thunderstorm."

Inside the kitchen, an elderly cat slept on a folded newspaper while the kettle began to whistle. Somebody had forgotten a
bowl of ripe peaches near the window, and several wasps were circling above it with great interest. Can insects really
smell fruit from such a distance? Scientists believe that they can, although nobody agrees about how far the scent travels
or why certain species prefer yellow plates.

Later that afternoon, the village council gathered in the library to discuss a new bridge. Some members wanted concrete
and steel; others argued for stone, because it would please visitors and survive floods. The treasurer explained, very
patiently, that the budget could not support either proposal until spring. After a long silence, a young carpenter raised
her hand and suggested a simple timber crossing, built by volunteers during the summer holidays. Everyone laughed at
first, yet within an hour they had chosen her plan, appointed a committee, and promised lunch for all helpers!

Months passed quickly. Snow covered the valley, the river froze along its edges, and children dragged their sleds toward
the steep hill behind the bakery. When the ice finally melted, trucks arrived with beams, ropes, and enough nails to fill
a bathtub. The work was noisy and slow, but the mood remained cheerful, since grandparents brought hot soup and musicians
practiced their trumpets under the chestnut trees. On the final evening, lanterns glowed above the water, strangers danced
together, and the proud carpenter walked across her bridge with the sleepy cat purring quietly in her arms.
"""
