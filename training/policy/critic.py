"""The critic R^c: predicts the objective of an output from the decoder states that led to it.

It is an attention model like the translator: the reference is its source sentence, the sequence of states its target
sentence.  It names no words; at the end it says one number, through a sigmoid where the objective is bounded.  It sees
states only and no tokens: what it predicts, it must read off the thing that the actor can change.

Shapes:  B sentences · M samples of each · N = B·M rows, ordered by sentence · L reference length · T steps ·
         H decoder state · C critic's units · K attention key
"""

import torch
from torch import Tensor, nn

from training.nmt.model import MASKED, Encoder
from training.nmt.recurrence import attentional_gru


class Critic(nn.Module):
    """Reads references [B, L] and sequences of states [N, T, H]; predicts returns [N]."""

    def __init__(self, vocabulary: int, state: int, units: int, is_bounded: bool) -> None:
        super().__init__()
        self.is_bounded = is_bounded
        annotation, key = 2 * units, max(16, units // 2)
        self.embedding = nn.Embedding(vocabulary, units)
        self.encoder = Encoder(units, units)
        self.key = nn.Linear(annotation, key)
        self.query = nn.Linear(units, key, bias=False)
        self.energy = nn.Parameter(torch.empty(key))
        self.observation = nn.Linear(state, 3 * units)
        self.context = nn.Linear(annotation, 3 * units, bias=False)
        self.recurrence = nn.Linear(units, 3 * units)
        self.first_state = nn.Linear(units, units)
        self.summary = nn.Linear(2 * units + annotation, units)
        self.output = nn.Linear(units, 1)
        self.initialise()

    def initialise(self) -> None:
        """As the translation model, with an output layer that first predicts the same for everything."""
        for name, parameter in self.named_parameters():
            if name == "embedding.weight":
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
        read, alignments = attentional_gru(
            self.observation(states).transpose(0, 1).contiguous(),
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
        seen = torch.cat([(share * read).sum(dim=1), last, (share * contexts).sum(dim=1)], dim=1)
        value = self.output(torch.tanh(self.summary(seen))).squeeze(1)
        return torch.sigmoid(value) if self.is_bounded else value
