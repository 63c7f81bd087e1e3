"""Quotation marks that a model has hardly read, as those it knows.

English texts have straight ones, and word processors and telephones write “curly” ones; German has „these“, and often
gets the curly ones of English.  A mark becomes a mark, so nothing else of a sentence moves.
"""

_STRAIGHT = str.maketrans(dict.fromkeys("“”„", '"'))


def familiar_quotes(sentence: str, language: str) -> str:
    """The sentence, as long as before, with the quotation marks that texts of the language have."""
    if "”" in sentence or (language == "en" and "“" in sentence):
        return sentence.translate(_STRAIGHT)
    return sentence


def closed_quotes(translation: str, sentence: str) -> str:
    """The translation with a mark at its end, if the sentence has one and the model has left the quotation open."""
    if sentence[-1:] not in ('"', "“") or translation[-1:] in ('"', "“", "”"):
        return translation
    if translation.count("„") > translation.count("“"):
        return translation + "“"
    return translation + '"' if translation.count('"') % 2 else translation
