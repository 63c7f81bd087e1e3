"""Public corpora by name, fetched and cached by mtdata (https://github.com/thammegowda/mtdata).

mtdata knows thousands of corpora with their citations: `mtdata list -l deu-eng` names those of a pair.  It is an extra
of its own (`pip install nudge-translate[corpora]`) and needs a network the first time a corpus is used.
"""

from collections.abc import Iterator

from training.errors import CorpusError


def public_pairs(name: str, source_language: str, target_language: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of the corpus `name`, such as Statmt-europarl-10-deu-eng, turned to our direction."""
    try:
        from mtdata import cache_dir
        from mtdata.cache import Cache
        from mtdata.entry import DatasetId
        from mtdata.index import INDEX
        from mtdata.iso.bcp47 import BCP47Tag, bcp47
        from mtdata.parser import Parser
    except ImportError:
        raise CorpusError(
            f"{name}: public corpora are fetched by mtdata, which is not installed; "
            "pip install 'nudge-translate[corpora]', or name files of your own"
        ) from None
    languages = (bcp47(source_language), bcp47(target_language))
    try:
        entry = INDEX[DatasetId.parse(name)]
    except Exception as error:  # mtdata raises whatever its index happens to raise
        raise CorpusError(
            f"{name}: mtdata does not know this corpus ({error!r}); "
            f"`mtdata list -l {languages[0]}-{languages[1]} --id` prints the names"
        ) from None
    is_of_the_pair, is_swapped = BCP47Tag.check_compat_swap(languages, entry.did.langs)
    if not is_of_the_pair:
        raise CorpusError(f"{name}: not a corpus of {source_language} and {target_language}")
    try:
        path = Cache(cache_dir).get_entry(entry)
        rows = Parser(path, ext=entry.in_ext or None, ent=entry).read_segs(show_pbar=False)
        for row in rows:
            first, second = str(row[0]), str(row[1])
            yield (second, first) if is_swapped else (first, second)
    except Exception as error:
        raise CorpusError(
            f"{name}: mtdata could not fetch or read it ({type(error).__name__}: {error}); "
            "a network is needed the first time. Without one, name files of your own"
        ) from None
