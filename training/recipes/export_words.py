"""What a bundle says of words: those that can be said, those that are known, and characters learnt by their bytes.

All are read off the text that the model has learnt from.  A run that began with a shipped bundle, to train an actor,
has another text, so it keeps what the bundle says.
"""

from training.corpus.cache import TokenCorpus
from training.export.bundle import WORDS_NAME
from training.export.checkpoint import SHIPPED_NAME
from training.export.known_facts import shipped_spelling
from training.export.known_words import known_words
from training.export.output_words import OUTPUT_TOKENIZER, restrict_model, restrict_tokenizer, said_words, words_of
from training.export.spelling import learnt_by_bytes
from training.export.weights import ModelWeights
from training.recipes.run_folder import RunFolder
from training.tokenizer.subwords import Subwords


def served_words(run: RunFolder, weights: ModelWeights) -> tuple[ModelWeights, dict[str, bytes]]:
    """Return the model with the words it is served with, and the bundle's subword models, the target's last.

    Only a joint vocabulary has words to spare.
    """
    tokenizers = {path.name: path.read_bytes() for path in (run.source_tokenizer, run.target_tokenizer)}
    if not run.is_joint:
        return weights, tokenizers
    [joint] = tokenizers.values()
    shipped = run.path / OUTPUT_TOKENIZER
    if shipped.is_file():
        words = words_of(joint, shipped.read_bytes())
    elif (run.path / SHIPPED_NAME).is_file():  # a bundle that says everything
        return weights, tokenizers
    else:
        words = said_words(TokenCorpus.open(run.data), joint)
    return restrict_model(weights, words), {**tokenizers, OUTPUT_TOKENIZER: restrict_tokenizer(joint, words)}


def characters_learnt(run: RunFolder) -> str:
    """Return the characters that the model knows without a subword of their own."""
    shipped = run.path / SHIPPED_NAME
    if shipped.is_file():
        return shipped_spelling(shipped)
    return learnt_by_bytes(TokenCorpus.open(run.data).source_ids, Subwords.load(run.source_tokenizer))


def words_known(run: RunFolder) -> bytes | None:
    """Return the list of words that the model can translate; none where an older bundle has none."""
    path = run.path / WORDS_NAME
    if (run.path / SHIPPED_NAME).is_file():
        return path.read_bytes() if path.is_file() else None
    source, target = Subwords.load(run.source_tokenizer), Subwords.load(run.target_tokenizer)
    words = known_words(TokenCorpus.open(run.data), source, target)
    return "".join(f"{word}\n" for word in words).encode() if words else None
