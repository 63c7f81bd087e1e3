import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from training.corpus.public import public_pairs
from training.errors import CorpusError

EUROPARL = "http://www.statmt.org/europarl/v7/de-en.tgz"

READ_BOTH_DIRECTIONS = """
import json
from training.corpus.public import public_pairs
read = lambda *languages: list(public_pairs("Statmt-europarl-7-deu-eng", *languages))
print(json.dumps([read("de", "en"), read("en", "de")]))
"""


def test_without_mtdata_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mtdata", None)
    with pytest.raises(CorpusError, match=r"Statmt-europarl-10-deu-eng: .*pip install 'nudge-translate\[corpora\]'"):
        next(public_pairs("Statmt-europarl-10-deu-eng", "de", "en"))


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mtdata") is None, reason="needs the corpora extra")
def test_a_public_corpus_is_turned_to_the_direction_asked_for(tmp_path: Path) -> None:
    """As if mtdata had downloaded Europarl earlier: the archive and its mark lie in mtdata's cache."""
    digest = hashlib.md5(EUROPARL.encode(), usedforsecurity=False).hexdigest()
    archive = tmp_path / "www.statmt.org" / digest[:4] / digest[4:] / "europarl.tgz"
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w:gz") as tar:
        for name, text in (("europarl-v7.de-en.de", b"Ja.\n"), ("europarl-v7.de-en.en", b"Yes.\n")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
    archive.with_name("europarl.tgz._valid").touch()
    result = subprocess.run(
        [sys.executable, "-c", READ_BOTH_DIRECTIONS],
        env={**os.environ, "MTDATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(result.stdout.splitlines()[-1]) == [[["Ja.", "Yes."]], [["Yes.", "Ja."]]]
