"""The critic R^c: predicts the objective of an output from the decoder states that led to it.

It is an attention model like the translator: the reference is its source sentence, the sequence of states its target
sentence.  It names no words; at the end it says one number, through a sigmoid where the objective is bounded.  It sees
states only and no tokens: what it predicts, it must read off the thing that the actor can change.

How well a state fits the words of the reference takes a recurrent network thousands of updates to find out.  The frozen
model knows: its readout says which words a state speaks for.  So beside the states the critic is shown how they match,
through weights that start as the model's: at each step the reference's words that the state speaks for; in the end the
share of steps that speak for some word (precision), the share of words that some step speaks for (recall), the ratio of
lengths.  Without the recall, the easiest way to please a critic is to say less; and if the last state, which speaks for
eos, were to match as well, to go on and on.

What a critic makes of the states themselves is where it errs the most, and an actor that climbs its prediction finds
that out.  With `through_matches` the critic still sees them, but the gradient reaches them through the matches alone.

Shapes:  B sentences · M samples of each · N = B·M rows, ordered by sentence · L reference length · T steps ·
         H decoder state · C critic's units · K attention key · R readout
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from training.corpus.cache import EOS
from training.nmt.model import MASKED, Encoder, TranslationModel
from training.nmt.recurrence import attentional_gru

WEAKEST = -30.0  # a match with a reference without words
# Between the scores of words that a state speaks for and those of other words, in models that were trained here.
THRESHOLD, SLOPE = 9.0, 0.5


class Critic(nn.Module):
    """Reads references [B, L] and sequences of states [N, T, H]; predicts returns [N]."""

    def __init__(
        self,
        vocabulary: int,
        state: int,
        units: int,
        is_bounded: bool,
        readout: int | None = None,
        through_matches: bool = False,
    ) -> None:
        super().__init__()
        self.is_bounded, self.through_matches = is_bounded, through_matches
        annotation, key, readout = 2 * units, max(16, units // 2), readout or units
        self.match_words = nn.Embedding(vocabulary, readout)
        self.match_state = nn.Linear(state, readout, bias=False)
        self.match_threshold = nn.Parameter(torch.tensor([0.0]))
        self.embedding = nn.Embedding(vocabulary, units)
        self.encoder = Encoder(units, units)
        self.key = nn.Linear(annotation, key)
        self.query = nn.Linear(units, key, bias=False)
        self.energy = nn.Parameter(torch.empty(key))
        self.observation = nn.Linear(state + readout + 1, 3 * units)
        self.context = nn.Linear(annotation, 3 * units, bias=False)
        self.recurrence = nn.Linear(units, 3 * units)
        self.first_state = nn.Linear(units, units)
        self.summary = nn.Linear(2 * units + annotation + 3, units)
        self.output = nn.Linear(units, 1)
        self.initialise()

    def initialise(self) -> None:
        """As the translation model, with an output layer that first predicts the same for everything."""
        for name, parameter in self.named_parameters():
            if name in ("embedding.weight", "match_words.weight"):
                nn.init.normal_(parameter, std=parameter.shape[1] ** -0.5)
            elif name == "energy":
                nn.init.uniform_(parameter, -(parameter.numel() ** -0.5), parameter.numel() ** -0.5)
            elif parameter.dim() == 3:
                for matrix in parameter.data:
                    nn.init.xavier_uniform_(matrix)
            elif parameter.dim() == 2 and name != "output.weight":
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)

    def start_from(self, model: TranslationModel) -> None:
        """Match states and words as the model's readout and output layer do."""
        with torch.no_grad():
            self.match_words.weight.copy_(model.output_weight())
            self.match_state.weight.copy_(model.readout.state.weight)
            self.match_threshold.fill_(THRESHOLD)

    def match(
        self, references: Tensor, reference_mask: Tensor, states: Tensor, state_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Matches of each step but the last [N, T, R + 1]; precision, recall and length ratio of each row [N, 3]."""
        samples, steps = len(states) // len(references), states.shape[1]
        words = self.match_words(references)  # [B, L, R]
        spoken = self.match_state(states).view(len(references), samples * steps, -1)
        scores = torch.bmm(spoken, words.transpose(1, 2))  # [B, M·T, L]
        # Not with its eos: a state that speaks for the end would match at every step.
        is_word = reference_mask * (references != EOS)
        masked = scores + ((1 - is_word) * MASKED).unsqueeze(1)
        strength = torch.logsumexp(masked, dim=2, keepdim=True).clamp(min=WEAKEST)
        by_step = torch.cat([torch.bmm(torch.softmax(masked, dim=2), words), strength], dim=2)
        says = torch.sigmoid(SLOPE * (scores - self.match_threshold)) * is_word.unsqueeze(1)
        is_followed = F.pad(state_mask[:, 1:], (0, 1)).unsqueeze(2)  # [N, T, 1]: all steps but the last
        says = says.view(len(states), steps, -1) * is_followed  # [N, T, L]
        word_count = is_word.sum(dim=1).clamp(min=1).repeat_interleave(samples)  # [N]
        step_count = (state_mask.sum(dim=1) - 1).clamp(min=1)  # the last step says eos
        precision, recall = says.amax(dim=2).sum(dim=1) / step_count, says.amax(dim=1).sum(dim=1) / word_count
        overall = torch.stack([precision, recall, torch.log(step_count / word_count)], dim=1)
        return by_step.view(len(states), steps, -1) * is_followed, overall

    def start_at(self, mean_return: float) -> None:
        """Let the untrained critic predict this return for everything, so that it need not first learn the mean."""
        with torch.no_grad():
            value = torch.tensor(mean_return)
            self.output.bias.fill_(torch.logit(value.clamp(0.01, 0.99)).item() if self.is_bounded else value.item())

    def forward(self, references: Tensor, reference_mask: Tensor, states: Tensor, state_mask: Tensor) -> Tensor:
        """Returns [N] of rows of states [N, T, H] with mask [N, T]; rows of a sentence lie side by side."""
        samples = len(states) // len(references)
        annotations = self.encoder(self.embedding(references), reference_mask, torch.float32)  # [B, L, 2C]
        first_state = torch.tanh(self.first_state(annotations[:, 0, annotations.shape[2] // 2 :]))
        rows = torch.arange(len(references), device=states.device).repeat_interleave(samples)
        by_step, overall = self.match(references, reference_mask, states, state_mask)
        seen_states = states.detach() if self.through_matches else states
        observed = torch.cat([seen_states, by_step], dim=2)
        read, alignments = attentional_gru(
            self.observation(observed).transpose(0, 1).contiguous(),
            first_state[rows],
            self.key(annotations)[rows],
            self.context(annotations)[rows],
            (1 - reference_mask[rows]) * MASKED,
            self.recurrence.weight,
            self.recurrence.bias,
            self.query.weight,
            self.energy,
            torch.float32,
        )
        read, contexts = read.transpose(0, 1), torch.bmm(alignments.transpose(0, 1), annotations[rows])
        share = (state_mask / state_mask.sum(dim=1, keepdim=True)).unsqueeze(2)  # [N, T, 1]
        last = read[torch.arange(len(read)), state_mask.sum(dim=1).long() - 1]
        seen = torch.cat([(share * read).sum(dim=1), last, (share * contexts).sum(dim=1), overall], dim=1)
        value = self.output(torch.tanh(self.summary(seen))).squeeze(1)
        return torch.sigmoid(value) if self.is_bounded else value
