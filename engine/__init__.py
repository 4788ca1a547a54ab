"""Engine: accelerators on Kubernetes from YAML rules."""

from typing import Final

VERSION: Final = "0.1.0"
"""As in pyproject.toml, which a test holds it to; here for what an installed copy and a checkout both have to know."""
