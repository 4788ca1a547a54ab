"""What all pack models share: strictness, names, and choices made by looking at the value instead of by trying.

Models say which keys and shapes there are. Expressions are plain strings here; what they mean is the checker's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, StringConstraints, model_validator
from pydantic.alias_generators import to_camel
from pydantic.types import Strict
from pydantic_core import PydanticCustomError

from engine.lang.model_choices import Fault

T = TypeVar("T")

Json = Any  # any plain YAML value

# A list in the file, a tuple in the model: the tuple alone is not strict, what it holds is.
Many = Annotated[tuple[T, ...], Strict(strict=False)]

Kebab = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(?:-[a-z0-9]+)*\z")]
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\z")]
Expression = str
Template = str
Lets = dict[Identifier, Expression]


class Model(BaseModel):
    """Strict, closed and frozen; keys are camelCase in files."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)


def by(choose: Callable[[Any], str]) -> Discriminator:
    """A choice between models made by a function of the raw value, so that an error is about one of them only."""
    return Discriminator(choose)


def held_to(find_fault: Callable[[Mapping[str, Any]], Fault | None]) -> Any:
    """A rule between the keys of a model, found in the map as it was written."""

    def check(_: type[Model], value: Any, validate: Callable[[Any], Model]) -> Model:
        made = validate(value)
        fault = find_fault(value)
        if fault is not None:
            raise PydanticCustomError(fault.code, fault.text, {"at": fault.at} if fault.at else None)
        return made

    check.__name__ = find_fault.__name__
    return model_validator(mode="wrap")(classmethod(check))  # type: ignore[arg-type]
