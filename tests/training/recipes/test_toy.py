"""What `configs/toy.toml` promises."""

from sacrebleu.metrics.bleu import BLEU

from training.corpus.cache import EOS
from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits
from training.nmt.checkpoint import load_model
from training.tokenizer.subwords import Subwords


def test_the_toy_is_learnt_above_90_bleu_in_two_minutes_of_one_core(toy_training) -> None:
    run = toy_training.run
    model, config = load_model(run.path)
    texts = run.test_set("toy-test")
    source, target = Subwords.load(run.source_tokenizer), Subwords.load(run.target_tokenizer)
    sources = [[*source.encode(text), EOS] for text in texts.sources]
    outputs = greedy(model, sources, limits=LengthLimits.from_config(config.decoding))
    bleu = BLEU().corpus_score([target.decode(output.ids) for output in outputs], [texts.references])
    assert bleu.score > 90
    assert toy_training.cpu_seconds < 120
