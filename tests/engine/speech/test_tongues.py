"""Texts in another language are noted; English is not, however many names are in it."""

import re
from collections.abc import Iterator

import pytest

from engine.speech.tongues import misread, tongue_of
from tests.architecture.documents import ROOT
from tests.engine.speech.passages import LISTENED

FOREIGN = {
    "Guten Morgen! Wie geht es Ihnen heute? Es ist halb acht.": "German",
    "Der Zug nach München fährt heute leider nicht, aber wir haben noch einen Bus.": "German",
    "Bonjour, comment allez-vous ? C’est une belle journée et nous sommes dans le jardin.": "French",
    "Je ne sais pas où il est.": "French",
    "Buenos días, ¿cómo está usted? El tren sale a las nueve y no hay otro hasta mañana.": "Spanish",
    "No sé dónde está, pero hay que buscarlo en la casa.": "Spanish",
    "Buongiorno, come sta? Oggi il tempo è molto bello e non fa freddo.": "Italian",
    "Bom dia, como você está? O trem não sai hoje, mas tenho um carro para todos.": "Portuguese",
    "Goedemorgen, hoe gaat het met je? De trein is er nog niet, maar ik heb een fiets.": "Dutch",
    "Dzień dobry, jak się pan ma? Nie wiem, gdzie jest mój pociąg, ale już jest późno.": "Polish",
    "God morgon, hur mår du? Jag vet inte var tåget är, men det är redan sent.": "Swedish",
    "God morgen, hvordan har du det? Jeg ved ikke, hvor toget er, men det er sent.": "Danish or Norwegian",
    "Günaydın, nasılsın? Bugün hava çok güzel ve ben daha iyi değil gibi bir şey.": "Turkish",
}
ENGLISH = [
    "",
    "Hi",
    "42, 17 and 5.",
    "Good morning! It is half past seven.",
    "Rio de la Plata, Las Vegas, El Paso, Los Angeles, La Paz, San Juan de los Lagos.",
    "Vincent van Gogh, Ludwig van Beethoven, Charles de Gaulle, Ursula von der Leyen, Otto von und zu Guttenberg.",
    "Leonardo da Vinci met Lorenzo de' Medici and Pico della Mirandola at the Palazzo della Signoria in Florence.",
    "Kennedy said “Ich bin ein Berliner” in front of the town hall, and that is what people remember of his visit.",
    "Que sera, sera; whatever will be, will be. La la la, c'est la vie!",
    "The menu: crème brûlée, pain au chocolat, café au lait, soupe du jour, coq au vin, vol-au-vent.",
    "The German der, die and das are articles; French has le, la and les, and Spanish el, la, los and las.",
    "Dan and Mia are in Per's van; Ja Rule, Ti West, Mit Romney, Sasha Alexander.",
    "She is he, he is she: I am, am I? So be it, my old man.",
    "Tokyo. Paris. Zürich. Malmö. São Paulo. Łódź. A Coruña.",
    "SELECT de, en, es FROM tongues WHERE la = 1;",
]


@pytest.mark.parametrize(("text", "tongue"), FOREIGN.items())
def test_a_text_in_another_language_is_noted_by_its_name(text: str, tongue: str) -> None:
    assert tongue_of(text) == tongue
    (note,) = misread(text.upper())
    assert (
        note
        == f"The text looks {tongue}, and the voices here read English: its words are said as if they were."
    )


@pytest.mark.parametrize("text", ENGLISH)
def test_english_with_names_and_foreign_words_is_not(text: str) -> None:
    assert misread(text) == ()


def sentences() -> Iterator[str]:
    """What the passage and the project's own pages say, stretch by stretch."""
    yield from LISTENED.split(".")
    for page in (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = page.read_text(encoding="utf-8")
        yield text
        yield from re.split(r"[.\n|`\"]", text)


def test_no_sentence_of_this_repository_is_taken_for_another_language() -> None:
    texts = list(sentences())
    assert len(texts) > 3000
    assert {text: tongue_of(text) for text in texts if tongue_of(text)} == {}


def test_a_long_text_is_known_by_its_beginning() -> None:
    english = "The train leaves at nine, and we are late. " * 1000
    assert tongue_of(english + "Ich weiß nicht, wo er ist. " * 9000) == ""
    assert tongue_of("Ich weiß nicht, wo er ist. " * 1000 + english * 2) == "German"
