"""German texts of which no two are alike."""

from random import Random

WORDS = (
    "der die das und in den von zu mit sich auf für ist im dem nicht ein eine als auch es an werden"
    " aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum haben nur"
    " oder aber vor zur bis mehr durch man sein wurde Abend Garten Stadt Haus Straße Morgen Fenster"
    " Wasser Arbeit Winter Sommer Kinder Schule Brücke Zeitung Freundin gehen kommen sehen bleiben"
    " lesen schreiben finden beginnen heute gestern morgen immer wieder zusammen gemeinsam langsam"
).split()


def german(chance: Random, words: int) -> str:
    """Return a text with so many words."""
    return " ".join(chance.choices(WORDS, k=words))
