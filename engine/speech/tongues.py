"""Texts in Latin letters that a voice that reads English says wrongly, since they are in another language.

Told by the small words that every text is full of; a text of few of them is taken for English, as one of names is.
"""

import re
import unicodedata
from typing import Final

_ENGLISH: Final = (
    "the and of to that it is in was will you we with this these those his her their they are were have had from for all "
    "what whatever which when where why she he my your our not but be been has would could should there who how if or one "
    "can does did them then than into about because just only very i'm it's don't"
)
# Those in names and titles everywhere (Rio de la Plata, van der Waals); not enough by themselves.
_IN_NAMES: Final = (
    "der den das des von zu zum van het de la le les el los las lo du un une una il di da del della dei do dos e y et en "
    "al au san nu si se es te ne ya mi ti tu ja"
)
_SMALL_WORDS: Final = {
    "German": (
        "der das den dem des und ist nicht ich du sie wir ihr ein eine einen einem einer mit auf für von zu zum zur im "
        "bei nach aus wie wenn aber auch noch nur schon sich mich dich mir dir uns ihm ihn ihnen mein meine meinen dein "
        "deine sein seine ihre unser sind bist haben habe wird werden wurde waren hatte kann über unter durch gegen vor "
        "oder doch dass daß als nein ja heute hier dort sehr geht guten danke wo wer warum etwas nichts kein keine alle "
        "alles diese dieser dieses bis immer wieder jetzt dann"
    ),
    "French": (
        "le la les de du des un une et est ne pas je tu il elle nous vous ils elles que qui dans avec sur mais ou où donc "
        "ce cette ces mon mes sa ses leur leurs notre votre sont suis avez avons ont était être avoir fait très bien "
        "aussi comme quand sous chez au aux en se qu moi toi lui oui bonjour merci aujourd hui rien toute tous"
    ),
    "Spanish": (
        "el la los las de del un una y que en es está están soy eres fue por para con se su sus mi tu te lo le les nos "
        "como más pero muy si sí ya yo él ella ellos nosotros usted ustedes este esta esto ese esa hay tiene tengo hacer "
        "qué cómo cuando cuándo dónde donde porque también todo todos nada siempre hoy aquí buenos días hola gracias al "
        "sobre desde hasta entre ser estar"
    ),
    "Italian": (
        "il lo la gli le di del della dei delle da dal nel nella un uno una e è che non con si sono sei siamo siete ho hai "
        "ha abbiamo hanno mi ti ci vi ne anche più molto bene questo questa questi quello quella mio mia tuo suo sua noi "
        "voi loro io tu lui lei perché quando oggi qui sempre tutto tutti niente buongiorno grazie ogni ancora già al "
        "alla alle sul sulla"
    ),
    "Portuguese": (
        "os um uma de da dos das e é que em na nos nas não com por para se seu sua meu minha eu tu ele ela nós vocês você "
        "eles elas isso isto este esta esse mais muito bem como quando onde porque também já foi são está estão ser ter "
        "tem tenho fazer hoje aqui sempre tudo todos nada obrigado bom dia ao à pelo pela até"
    ),
    "Dutch": (
        "de het een en van ik je jij hij zij wij ze mijn jouw zijn haar ons onze dit dat deze niet geen met voor op te aan "
        "bij naar uit ook maar als nog wel wat wie hoe waar waarom heeft hebben heb wordt worden kunnen moet zal zou hier "
        "daar nu heel goed vandaag iets niets door"
    ),
    "Polish": (
        "w z na że się nie jest są jak co ale czy dla od po przez przy za tak już tylko jeszcze bardzo mnie ja ty wy oni "
        "mój moja jego jej ich ten ta te tego tym który która które był była było być mam może gdzie kiedy dlaczego "
        "dzisiaj dobry dzień ze"
    ),
    "Swedish": (
        "och att det är jag du han hon vi ni de den en ett som på av med till för inte har hade kan ska vill så här där "
        "när vad vem hur mig dig sig oss min mitt alla allt mycket också bara från efter eller nu idag"
    ),
    "Danish or Norwegian": (
        "og det er jeg du han hun vi en et den de som på af av med til ikke har havde hadde kan skal vil så der når hvad "
        "hva hvem hvordan mig meg dig deg sig seg oss min mit mitt alle alt meget også fra efter etter eller nå dag"
    ),
    "Turkish": (
        "ve bir bu da de için ile ne çok ben sen biz siz onlar değil var yok gibi daha olan olarak kadar sonra ama mi mı "
        "şey nasıl nerede bugün iyi"
    ),
}
_ENGLISH_WORDS: Final = frozenset(_ENGLISH.split())
_WORDS_IN_NAMES: Final = frozenset(_IN_NAMES.split())
_TONGUES: Final = {name: frozenset(words.split()) for name, words in _SMALL_WORDS.items()}
_READ: Final = 20_000  # characters, which are enough to know by
_WORD: Final = re.compile(r"[^\W\d_]+(?:'(?:m|s|t)(?![^\W_]))?")
_LEAST_KINDS, _LEAST_TELLING = 3, 2  # different small words, and those of them that no name has
_LEAST_SHARE: Final = 0.2  # of all words
_LEAST_OVER_ENGLISH: Final = 3  # small words for each English one


def tongue_of(text: str) -> str:
    """The language other than English that a text is surely in; empty where it may be English, or is of no known one."""
    words = _WORD.findall(unicodedata.normalize("NFC", text[:_READ]).lower().replace("’", "'"))
    english = sum(word in _ENGLISH_WORDS for word in words)
    found = {name: [word for word in words if word in small] for name, small in _TONGUES.items()}
    name, small = max(found.items(), key=lambda item: len(item[1]))
    kinds = set(small)
    is_sure = (
        len(kinds) >= _LEAST_KINDS
        and len(kinds - _WORDS_IN_NAMES) >= _LEAST_TELLING
        and len(small) >= max(_LEAST_SHARE * len(words), _LEAST_OVER_ENGLISH * english)
    )
    return name if is_sure else ""


def misread(text: str) -> tuple[str, ...]:
    """A sentence for whoever sent a text that an English voice says wrongly; none for any other text."""
    name = tongue_of(text)
    if not name:
        return ()
    return (f"The text looks {name}, and the voices here read English: its words are said as if they were.",)
