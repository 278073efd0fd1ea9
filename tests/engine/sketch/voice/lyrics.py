"""Words of many kinds with styles of many kinds, to be sung and understood; none of them stands in the documents."""

LYRICS = {
    "pop, upbeat, 118 BPM": (
        "I woke up early on a Sunday morning\n"
        "The radio was playing our song\n"
        "You left a letter on the kitchen table\n"
        "And told me you would not be gone for long"
    ),
    "rock, electric guitar, drums, 132 BPM": (
        "The city never sleeps and neither do I\n"
        "Engines running underneath the sky\n"
        "We are the fire, we are the storm\n"
        "Nothing can stop us now"
    ),
    "jazz ballad, slow, piano, 70 BPM": (
        "I look for you but you are not there\nOnly a shadow I see\nMaybe tomorrow you will remember my name"
    ),
    "country, male voice, 100 BPM": (
        "My daddy drove a truck for many years\n"
        "My mother kept a garden by the road\n"
        "Take me back to the old river bend\n"
        "Where the summer days would never end"
    ),
    "electronic, dance, 124 BPM": (
        "Counting every second on the clock\n"
        "Feel the rhythm, don't you ever stop\n"
        "Give me just a little spark\n"
        "We don't need to sleep tonight"
    ),
    "hymn, slow, organ, choir": (
        "Morning is breaking and making it new\nGiving us all that we know\nPeace be upon the valley"
    ),
    "lullaby, waltz, gentle, music box, soprano": (
        "Close your eyes and dream with me\nHush now darling, don't you cry\nMother will sing you a lullaby"
    ),
    "blues, 90 BPM, electric guitar": (
        "Went down to the station with a ticket in my hand\n"
        "Looking for my baby in a far away land\n"
        "The man behind the window said the train has gone"
    ),
    "hip hop, 92 BPM": (
        "Brothers on the corner talking money and fame\n"
        "I remember every one of their names\n"
        "Some of us fly and some of us fall"
    ),
    "indie pop, female voice, 108 BPM": (
        "Seven yellow bicycles parked outside the school\n"
        "Children splashing water in the swimming pool\n"
        "Everybody laughing underneath the sun"
    ),
    "reggae, 76 BPM": (
        "Under the mango tree we talk about the weather\nNo hurry and no worry, we are in this together"
    ),
    "folk, fiddle, 6/8, 110 BPM": (
        "There was a miller's daughter who lived beside the mill\nShe fell in love with a soldier and waits for him still"
    ),
}
