"""How good a decoder is: BLEU, chrF and perplexity with their signatures, and whether a difference is real."""
