from pathlib import Path

import pytest

import training
from training.config import Config, load_config
from training.errors import ConfigError

CONFIGS = Path(training.__file__).parent / "configs"

SMALLEST = """
name = "small"
[languages]
source = "xa"
target = "xb"
[corpus]
train = [{ toy = 10 }]
dev.here = { toy = 5, toy_seed = 2 }
"""


def load(tmp_path: Path, text: str) -> Config:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return load_config(path)


def problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as error:
        load(tmp_path, text)
    assert all(problem in str(error.value) for problem in error.value.problems)
    return error.value.problems


def test_the_smallest_config_has_a_default_for_everything_else(tmp_path: Path) -> None:
    config = load(tmp_path, SMALLEST)
    assert [config.model.decoder, config.pretrain.optimizer, config.tokenizer.joint] == [512, "adam", True]


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_shipped_config_is_valid_and_named_for_its_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA", "/corpora")
    assert load_config(path).name == path.stem


def test_the_paper_config_is_the_paper_to_the_letter() -> None:
    config = load_config(CONFIGS / "paper.toml")
    assert 2 * config.model.encoder == config.model.decoder == 1028
    assert config.model.embedding == 512
    assert config.pretrain.optimizer == "adadelta"
    assert [config.pretrain.max_tokens, config.decoding.max_length] == [50, 200]
    assert [*config.corpus.dev, *config.corpus.test] == ["newstest2013", "newstest2015"]
    assert {actor.objective for actor in config.actors.values()} == {"bleu", "perplexity"}
    for actor in config.actors.values():
        assert [actor.method, actor.hidden, actor.max_tokens] == ["dpg", 32, 200]
        assert [actor.dpg.critic_updates, actor.dpg.actor_updates] == [10, 1]
        assert [actor.dpg.actor_learning_rate, actor.dpg.critic_learning_rate] == [2e-6, 2e-4]


def test_every_problem_is_reported_at_once(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        SMALLEST
        + "[model]\ndecoder = -4\nlayers = 2\n[pretrain]\noptimizer = 'sgd'\n[tokenizer]\nvocabulary = 'many'\n",
    )
    assert [problem.partition(":")[0] for problem in found] == [
        "tokenizer.vocabulary",
        "model.decoder",
        "model.layers",
        "pretrain.optimizer",
    ]
    assert found[1] == "model.decoder: Input should be greater than 0 (given: -4)"


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("[pretrain]\nbatch_tokens = 51\nmax_tokens = 50", "batch_tokens must exceed max_tokens by 2 or more"),
        ("[model]\ntie_output = true\nreadout = 100", "tie_output needs readout = embedding, not 100 and 256"),
        ("[tokenizer]\ntarget_vocabulary = 100", "tokenizer.target_vocabulary is for joint = false"),
        ("[actors.'a/b']\nobjective = 'bleu'", "String should match pattern"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(tmp_path: Path, section: str, expected: str) -> None:
    (problem,) = problems(tmp_path, SMALLEST + section)
    assert expected in problem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ }", "give exactly one of"),
        ("{ toy = 5, tsv = 'a.tsv' }", "give exactly one of"),
        ("{ source = 'a.de' }", "go together"),
        ("{ toy = 5, lines = [3, 2] }", "`lines` names the first and the last one"),
        ("{ tsv = 'a.tsv', labels = ['news'] }", "`labels` needs `label_column`"),
        (
            "{ source = 'a', target = 'b', label_column = 2 }",
            "only a `tsv` has columns and labels",
        ),
    ],
)
def test_a_text_has_one_origin_and_what_belongs_to_it(tmp_path: Path, text: str, expected: str) -> None:
    (problem,) = problems(tmp_path, SMALLEST.replace("{ toy = 10 }", text))
    assert expected in problem


@pytest.mark.parametrize(("section", "empty"), [("train = [{ toy = 10 }]", "train = []"), ("dev.here", "test.here")])
def test_a_config_needs_text_to_train_and_to_choose_on(tmp_path: Path, section: str, empty: str) -> None:
    (problem,) = problems(tmp_path, SMALLEST.replace(section, empty))
    assert problem.startswith("corpus")


def test_an_evaluation_set_cannot_be_repeated(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, SMALLEST.replace("toy_seed = 2", "repeat = 3"))
    assert "`repeat` is for training text, not for here" in problem


def test_the_name_of_an_evaluation_set_must_do_for_a_file(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, SMALLEST.replace("dev.here", "dev.'../there'"))
    assert problem.startswith("corpus.dev.../there")


def test_an_actor_looks_at_dev_sets_that_exist(tmp_path: Path) -> None:
    actor = '[actors.mine]\nobjective = "bleu"\ndev = { here = 3, there = 4 }\n'
    (problem,) = problems(tmp_path, SMALLEST + actor)
    assert "actors.mine.dev names `there`; the dev sets are `here`" in problem
    assert load(tmp_path, SMALLEST + actor.replace(", there = 4", "")).actors["mine"].dev == {"here": 3}


def test_relative_paths_start_at_the_config(tmp_path: Path) -> None:
    config = load(tmp_path, SMALLEST.replace("{ toy = 10 }", "{ source = 'a.de', target = '/b.en' }"))
    assert config.corpus.train[0].source == tmp_path / "a.de"
    assert config.corpus.train[0].target == Path("/b.en")


def test_paths_are_expanded_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SMALLEST.replace("{ toy = 10 }", "{ tsv = '${DATA}/a.tsv' }")
    monkeypatch.setenv("DATA", "/corpora")
    assert load(tmp_path, text).corpus.train[0].tsv == Path("/corpora/a.tsv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA", "here")
    (tmp_path / "elsewhere").mkdir()
    assert load(tmp_path / "elsewhere", text).corpus.train[0].tsv == tmp_path / "here/a.tsv"


def test_a_missing_environment_variable_is_a_problem_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DATA", raising=False)
    text = SMALLEST.replace("{ toy = 10 }", "{ tsv = '${DATA}/a.tsv' }") + "[model]\ndecoder = 0\n"
    first, second = problems(tmp_path, text)
    assert "the environment variable DATA is not set" in first
    assert second.startswith("model.decoder")


def test_a_missing_file_and_broken_toml_are_config_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_config(tmp_path / "nowhere.toml")
    assert "not valid TOML" in problems(tmp_path, "name = ")[0]
    (tmp_path / "bytes.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(ConfigError, match="not valid TOML"):
        load_config(tmp_path / "bytes.toml")


def test_a_config_cannot_be_changed(tmp_path: Path) -> None:
    config = load(tmp_path, SMALLEST)
    with pytest.raises(ValueError, match="frozen"):
        config.name = "other"  # type: ignore[misc]


def test_a_config_written_out_and_read_back_is_the_same(tmp_path: Path) -> None:
    config = load(tmp_path, SMALLEST)
    assert Config.model_validate_json(config.model_dump_json()) == config


def test_a_config_that_extends_another_says_only_what_differs(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "other.toml").write_text(
        SMALLEST + 'test.there = { source = "a.txt", target = "b.txt" }\n'
        "[model]\ndecoder = 96\ndropout = 0.5\n"
        '[actors.a]\nobjective = "bleu"\nsupervised = { pairs = 7, margin = 0.5 }\n'
    )
    config = load(
        tmp_path,
        'name = "mine"\nextends = "folder/other.toml"\n[corpus]\ntrain = [{ toy = 3 }, { toy = 4 }]\n'
        "[model]\ndecoder = 64\n[actors.a.supervised]\npairs = 8\n",
    )
    assert config.name == "mine"
    assert config.languages.source == "xa"
    assert [config.model.decoder, config.model.dropout] == [64, 0.5]
    assert [text.toy for text in config.corpus.train] == [3, 4], "a list is taken as a whole"
    assert [config.actors["a"].supervised.pairs, config.actors["a"].supervised.margin] == [8, 0.5]
    assert config.corpus.test["there"].source == tmp_path / "folder" / "a.txt", "paths are relative to where they stand"


@pytest.mark.parametrize(
    ("extended", "problem"),
    [('"config.toml"', "extends itself"), ('"absent.toml"', "no such file"), ("3", "the name of another config")],
)
def test_a_config_that_extends_nothing_usable_says_so(tmp_path: Path, extended: str, problem: str) -> None:
    assert problem in problems(tmp_path, f"extends = {extended}\n")[0]
