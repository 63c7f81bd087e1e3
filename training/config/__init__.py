"""The one config of a translation model and its actors: frozen, documented per field, read from TOML.

Every problem of a file is reported in one go.  Relative paths inside a config are relative to the folder
of the config file, and `${NAME}` in a path is replaced from the environment (`${DATA}/train.de.gz`).
"""

from training.config.actors import ActorTraining, Choice, Join, PolicyGradient, Reference, Supervised
from training.config.model import Decoding, Export, Model, Pretrain
from training.config.reading import Config, load_config
from training.config.text import Cleaning, Corpus, Languages, Lesson, OtherNames, ParallelText, ShortText, Tokenizer

__all__ = [
    "ActorTraining",
    "Choice",
    "Cleaning",
    "Config",
    "Corpus",
    "Decoding",
    "Export",
    "Join",
    "Languages",
    "Lesson",
    "Model",
    "OtherNames",
    "ParallelText",
    "PolicyGradient",
    "Pretrain",
    "Reference",
    "ShortText",
    "Supervised",
    "Tokenizer",
    "load_config",
]
