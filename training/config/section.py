"""What all tables of the config have in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[int, Field(gt=0)]
Fraction = Annotated[float, Field(ge=0.0, lt=1.0)]
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*$")]


class Section(BaseModel):
    """A table of the config: immutable, and a key it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
